//! Digits of 52 bits, with the multiplications of that width (IFMA): eight exponentiations side by
//! side.

mod lanes;
mod multiply;
mod turned;

pub(super) use self::lanes::{powers, public_powers};
use super::Lanes;
use super::digits::BLOCK;
use crate::Level;

pub(super) const NEEDS: Level = Level::Avx512;

/// Adjacent digits of eight numbers, lowest first.
type Block = [Lanes; BLOCK];
