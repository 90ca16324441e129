//! AES with AES-NI.

use crate::Level;
pub(crate) use crate::aes::registers128::*;

pub(crate) const NEEDS: Level = Level::AesNi;
