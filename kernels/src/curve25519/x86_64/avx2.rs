//! Four jobs side by side, with products of 32 bits.

use crate::Level;
use crate::curve25519::digits::Schedule;
use crate::curve25519::edwards::{self, Point, base_multiply};
use crate::curve25519::field::limbs25::Limbs25;
use crate::curve25519::{Digits, Numbers, ladder, load, load_digits, store};
use crate::words::Words;
use crate::words::x86_64::Four;

pub(crate) const NEEDS: Level = Level::Avx2;

type Field = Limbs25<Four>;

#[target_feature(enable = "avx2")]
pub(crate) fn shared_secrets(secrets: &Numbers, points: &Numbers) -> Numbers {
    store(ladder::shared_secrets::<Field>(load(secrets), load(points)))
}

#[target_feature(enable = "avx2")]
pub(crate) fn public_keys(digits: &Digits) -> Numbers {
    store(ladder::public_keys(multiply_base(digits)))
}

#[target_feature(enable = "avx2")]
pub(crate) fn base_points(digits: &Digits) -> Numbers {
    store(multiply_base(digits).encode())
}

#[target_feature(enable = "avx2")]
pub(crate) fn verify(keys: &Numbers, points: &Numbers, schedule: &Schedule) -> [u64; 8] {
    edwards::verify::<Field>(load(keys), load(points), schedule).store()
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn multiply_base(digits: &Digits) -> Point<Field> {
    base_multiply(load_digits(digits))
}
