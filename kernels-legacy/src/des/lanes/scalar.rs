//! Two messages at a time, by tables: NOT constant time.
//!
//! A round mostly waits for the tables; a second message fills the gaps.

use lanecrypt_kernels::opaque;

use super::super::scalar::{self, Halves, add};
use super::super::schedule::KEYS;
use super::Times;
use super::slots::InProgress;

/// Encrypts the rest of messages.
pub(super) fn in_pairs<'a, 'b: 'a, C, const N: usize>(
    messages: impl Iterator<Item = InProgress<'a, 'b, C>>,
) where
    C: Times<N> + 'b,
{
    let mut messages = messages;
    let Some(mut one) = messages.next() else { return };
    for mut other in messages {
        let len = one.left().min(other.left());
        pair::<C, N>(&mut one, &mut other, len);
        if one.left() == 0 {
            one = other;
        }
    }
    let (keys, mut chain, len) = (one.keys(), one.chain(), one.left());
    scalar::cbc_encrypt(keys, &mut chain, one.take(len));
}

/// Encrypts `len` blocks of each.
fn pair<C: Times<N>, const N: usize>(
    one: &mut InProgress<'_, '_, C>,
    other: &mut InProgress<'_, '_, C>,
    len: usize,
) {
    let keys = [one.keys(), other.keys()];
    let mut a = Halves::of(one.chain());
    let mut b = Halves::of(other.chain());
    for (mut one, mut other) in one.take(len).into_iter().zip(other.take(len)) {
        (a, b) = rounds(a.plus(*one.get_in()), b.plus(*other.get_in()), keys);
        *one.get_out() = a.block();
        *other.get_out() = b.block();
    }
}

/// All rounds of two blocks.
#[inline(always)]
fn rounds<const N: usize>(
    one: Halves,
    other: Halves,
    [keys, other_keys]: [&[[u64; KEYS]; N]; 2],
) -> (Halves, Halves) {
    let (mut one, mut other) = (one, other);
    for (keys, other_keys) in keys.iter().zip(other_keys) {
        let (mut a, mut c) = (one.right ^ keys[0], one.left);
        let (mut b, mut d) = (other.right ^ other_keys[0], other.left);
        for i in (1..KEYS - 1).step_by(2) {
            c = add(opaque::word(c ^ keys[i]), a);
            d = add(opaque::word(d ^ other_keys[i]), b);
            a = add(opaque::word(a ^ keys[i + 1]), c);
            b = add(opaque::word(b ^ other_keys[i + 1]), d);
        }
        one = Halves { left: a, right: c ^ keys[KEYS - 1] };
        other = Halves { left: b, right: d ^ other_keys[KEYS - 1] };
    }
    (one, other)
}
