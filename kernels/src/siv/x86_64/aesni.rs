//! SIV with AES-NI.

use crate::Level;
pub(crate) use crate::siv::registers128::*;

pub(crate) const NEEDS: Level = Level::AesNi;
