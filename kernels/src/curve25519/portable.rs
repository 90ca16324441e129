//! One job at a time, in plain Rust: the specification.

use super::field::limbs51::Limbs51;
use super::{Digits, Numbers, ladder, load, load_digits, store};

type Field = Limbs51<u64>;

pub(super) fn shared_secrets(secrets: &Numbers, points: &Numbers) -> Numbers {
    store(ladder::shared_secrets::<Field>(load(secrets), load(points)))
}

pub(super) fn public_keys(digits: &Digits) -> Numbers {
    store(ladder::public_keys::<Field>(load_digits(digits)))
}
