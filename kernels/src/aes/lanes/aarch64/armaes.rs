//! CBC encryption of many messages with the AES instructions of ARMv8.

use crate::Level;
pub(crate) use crate::aes::lanes::registers128::*;

pub(crate) const NEEDS: Level = Level::ArmAes;
