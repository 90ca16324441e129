//! AES: published values, and every kernel against an independent implementation.

mod differential;
mod published;
mod reference;
mod stream_core;

use lanecrypt_testing::numbers::Numbers;

/// A counter block a few blocks before a carry into some part of it, or anywhere.
fn counter(numbers: &mut Numbers) -> [u8; 16] {
    let any = u128::from_be_bytes(numbers.array());
    let near = numbers.below(700) as u128;
    let counter = match numbers.below(8) {
        0 => (any >> 32 << 32).wrapping_sub(near),
        1 => (any >> 64 << 64).wrapping_sub(near),
        2 => 0_u128.wrapping_sub(near),
        3 => (any >> 8 << 8).wrapping_sub(near % 40),
        4 => any >> 8 << 8,
        5 => (any >> 64 << 64).wrapping_sub(near % 10),
        _ => any,
    };
    counter.to_be_bytes()
}
