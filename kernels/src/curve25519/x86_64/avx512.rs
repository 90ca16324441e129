//! Eight jobs side by side, with products of 52 bits (IFMA).

use crate::Level;
use crate::curve25519::digits::Schedule;
use crate::curve25519::edwards::{self, Point, base_multiply};
use crate::curve25519::field::limbs51::Limbs51;
use crate::curve25519::{Digits, Numbers, ladder, load, load_digits, store};
use crate::words::Words;
use crate::words::x86_64::Eight;

pub(crate) const NEEDS: Level = Level::Avx512;

type Field = Limbs51<Eight>;

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn shared_secrets(secrets: &Numbers, points: &Numbers) -> Numbers {
    store(ladder::shared_secrets::<Field>(load(secrets), load(points)))
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn public_keys(digits: &Digits) -> Numbers {
    store(ladder::public_keys(multiply_base(digits)))
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn base_points(digits: &Digits) -> Numbers {
    store(multiply_base(digits).encode())
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn verify(keys: &Numbers, points: &Numbers, schedule: &Schedule) -> [u64; 8] {
    edwards::verify::<Field>(load(keys), load(points), schedule).store()
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_base(digits: &Digits) -> Point<Field> {
    base_multiply(load_digits(digits))
}
