//! One job at a time, in plain Rust: the specification.

use super::digits::Schedule;
use super::edwards::{self, Point, base_multiply};
use super::field::limbs51::Limbs51;
use super::{Digits, Numbers, ladder, load, load_digits, store};
use crate::words::Words;

type Field = Limbs51<u64>;

pub(super) fn shared_secrets(secrets: &Numbers, points: &Numbers) -> Numbers {
    store(ladder::shared_secrets::<Field>(load(secrets), load(points)))
}

pub(super) fn public_keys(digits: &Digits) -> Numbers {
    store(ladder::public_keys(multiply_base(digits)))
}

pub(super) fn base_points(digits: &Digits) -> Numbers {
    store(multiply_base(digits).encode())
}

pub(super) fn verify(keys: &Numbers, points: &Numbers, schedule: &Schedule) -> [u64; 8] {
    edwards::verify::<Field>(load(keys), load(points), schedule).store()
}

#[inline(never)]
fn multiply_base(digits: &Digits) -> Point<Field> {
    base_multiply(load_digits(digits))
}
