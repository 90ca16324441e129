//! Serpent in plain Rust, one block at a time, and its key schedule: the specification of the
//! other kernels. Constant time in key and data.
//!
//! A block is four words, read in little-endian order; bit `i` of the four is the input of the
//! `i`-th of 32 equal S-boxes, so that a few operations on whole words compute them all.

mod inverse;

use inout::InOutBuf;
use lanecrypt_kernels::wipe;

use self::inverse::{i0, i1, i2, i3, i4, i5, i6, i7};
use super::{bytes, words};

/// 33 round keys from a padded key (section 4 of the submission), all except the first and the last
/// in the form of [`linear`]. They are written in place: a copy would have to be wiped.
pub(super) fn expand(key: &[u32; 8], keys: &mut [[u32; 4]; 33]) {
    const PHI: u32 = 0x9e37_79b9;
    let mut words = [0; 8 + 132];
    words[..8].copy_from_slice(key);
    for (number, i) in (0..).zip(8..140) {
        // The last word comes last: the next step waits only for it.
        let others = words[i - 8] ^ words[i - 5] ^ words[i - 3] ^ PHI ^ number;
        words[i] = (others ^ words[i - 1]).rotate_left(11);
    }
    keys.copy_from_slice(words[8..].as_chunks().0);
    wipe::words(&mut words);

    let (parts, last) = keys.as_chunks_mut::<8>();
    for [k0, k1, k2, k3, k4, k5, k6, k7] in parts {
        *k0 = s3(*k0);
        *k1 = s2(*k1);
        *k2 = s1(*k2);
        *k3 = s0(*k3);
        *k4 = s7(*k4);
        *k5 = s6(*k5);
        *k6 = s5(*k6);
        *k7 = s4(*k7);
    }
    for key in last {
        *key = s3(*key);
    }
    for key in &mut keys[1..32] {
        *key = before_linear(*key);
    }
}

/// The words that [`linear`] adds on the way, so that the round key is added to its result.
#[inline]
fn before_linear([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    [
        a.rotate_right(5) ^ b ^ d,
        b.rotate_right(1),
        c.rotate_right(22) ^ d ^ (b << 7),
        d.rotate_right(7),
    ]
}

pub(super) fn encrypt(keys: &[[u32; 4]; 33], blocks: InOutBuf<'_, '_, [u8; 16]>) {
    for mut block in blocks {
        let mut x = [words(block.get_in())];
        encrypt_rounds(keys, &mut x);
        *block.get_out() = bytes(x[0]);
    }
}

pub(super) fn decrypt(keys: &[[u32; 4]; 33], blocks: InOutBuf<'_, '_, [u8; 16]>) {
    for mut block in blocks {
        let mut x = [words(block.get_in())];
        decrypt_rounds(keys, &mut x);
        *block.get_out() = bytes(x[0]);
    }
}

pub(super) fn cbc_encrypt(
    keys: &[[u32; 4]; 33],
    iv: &mut [u8; 16],
    blocks: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut last = [words(iv)];
    for mut block in blocks {
        last = [mix(words(block.get_in()), &last[0])];
        encrypt_rounds(keys, &mut last);
        *block.get_out() = bytes(last[0]);
    }
    *iv = bytes(last[0]);
}

pub(super) fn cbc_decrypt(
    keys: &[[u32; 4]; 33],
    iv: &mut [u8; 16],
    blocks: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut last = words(iv);
    for mut block in blocks {
        let cipher = words(block.get_in());
        let mut x = [cipher];
        decrypt_rounds(keys, &mut x);
        *block.get_out() = bytes(mix(x[0], &last));
        last = cipher;
    }
    *iv = bytes(last);
}

pub(super) fn xor_stream(keys: &[[u32; 4]; 33], counter: &[u8; 16], data: InOutBuf<'_, '_, u8>) {
    ctr::<true>(keys, counter, data);
}

pub(super) fn write_stream(keys: &[[u32; 4]; 33], counter: &[u8; 16], out: &mut [u8]) {
    ctr::<false>(keys, counter, out.into());
}

/// Writes keystream, or if `XOR` adds it to the input. The last word of the counter does not wrap
/// within the request.
#[inline]
fn ctr<const XOR: bool>(keys: &[[u32; 4]; 33], counter: &[u8; 16], data: InOutBuf<'_, '_, u8>) {
    let mut data = data;
    let [a, b, c, d] = words(counter);
    let mut number = d.swap_bytes();
    while !data.is_empty() {
        let mut x = [[a, b, c, number.swap_bytes()]];
        encrypt_rounds(keys, &mut x);
        number = number.wrapping_add(1);
        let stream = bytes(x[0]);
        let len = data.len().min(16);
        let (mut part, rest) = data.split_at(len);
        if XOR {
            part.xor_in2out(&stream[..len]);
        } else {
            part.get_out().copy_from_slice(&stream[..len]);
        }
        data = rest;
    }
}

boxes!(u32);
encryption!(inline(always), u32);
decryption!(inline(always), u32);

/// The linear transformation. It also adds the next round key, in the form of [`expand`], at places
/// where nothing waits for the sum; brackets show the dependencies.
#[inline]
fn linear([a, b, c, d]: [u32; 4], key: &[u32; 4]) -> [u32; 4] {
    let a = a.rotate_left(13);
    let c = c.rotate_left(3);
    let b = ((b ^ key[1]) ^ c) ^ a;
    let d = ((c ^ key[3]) ^ (a << 3)) ^ d;
    let b = b.rotate_left(1);
    let d = d.rotate_left(7);
    let a = ((a ^ key[0]) ^ b) ^ d;
    let c = ((c ^ key[2]) ^ (b << 7)) ^ d;
    [a.rotate_left(5), b, c.rotate_left(22), d]
}

/// The inverse of [`linear`], with the key of the round before it added.
#[inline]
fn unlinear([a, b, c, d]: [u32; 4], key: &[u32; 4]) -> [u32; 4] {
    let a = a.rotate_right(5) ^ (b ^ d ^ key[0]);
    let c = c.rotate_right(22) ^ ((b << 7) ^ key[2]) ^ d;
    let b = ((b.rotate_right(1) ^ key[1]) ^ a) ^ c;
    let d = ((d.rotate_right(7) ^ key[3]) ^ (a << 3)) ^ c;
    [a.rotate_right(13), b, c.rotate_right(3), d]
}

#[inline]
fn splat(word: u32) -> u32 {
    word
}

#[inline]
fn xor(a: u32, b: u32) -> u32 {
    a ^ b
}

#[inline]
fn and(a: u32, b: u32) -> u32 {
    a & b
}

#[inline]
fn and_not(a: u32, b: u32) -> u32 {
    a & !b
}

#[inline]
fn or(a: u32, b: u32) -> u32 {
    a | b
}

#[inline]
fn not(a: u32) -> u32 {
    !a
}

tables!(Portable, i32::cast_unsigned, u32::cast_signed);
