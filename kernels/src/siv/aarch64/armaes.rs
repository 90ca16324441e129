//! SIV with the AES instructions of ARMv8.

use crate::Level;
pub(crate) use crate::siv::registers128::*;

pub(crate) const NEEDS: Level = Level::ArmAes;
