//! CBC encryption of many messages with AES-NI.

use crate::Level;
pub(crate) use crate::aes::lanes::registers128::*;

pub(crate) const NEEDS: Level = Level::AesNi;
