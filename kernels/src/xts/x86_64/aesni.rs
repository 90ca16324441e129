//! XTS with AES-NI.

use crate::Level;
pub(crate) use crate::xts::registers128::*;

pub(crate) const NEEDS: Level = Level::AesNi;
