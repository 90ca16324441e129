//! One job at a time, in plain Rust: the specification.

use super::field::limbs51::Limbs51;
use super::{Numbers, ladder, load, store};

type Field = Limbs51<u64>;

pub(super) fn shared_secrets(secrets: &Numbers, points: &Numbers) -> Numbers {
    store(ladder::shared_secrets::<Field>(load(secrets), load(points)))
}
