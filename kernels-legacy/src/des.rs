//! DES (FIPS 46-3) and triple DES (NIST SP 800-67), for data that still need them.
//!
//! A key of 56 bits can be searched for, and blocks of 64 bits repeat after some gigabytes under
//! one key: new designs take AES.
//!
//! Whether a request is constant time depends on its kind and length. CBC encryption works on one
//! block after the other, by tables: NOT constant time in key and data. That is why this module
//! needs the feature `legacy`. ECB, CBC decryption and counter mode also use tables for fewer than
//! 20 blocks (fewer than 3 at `Avx512`). Longer requests use a kernel that is constant time for all
//! their blocks. Portable code bitslices 64 blocks at a time, `Avx2` 256; `Avx512` keeps a byte of
//! each of 64 blocks in a register and looks S-boxes up there. An incomplete last group costs as
//! much as a whole one. The key schedule is constant time at every level.
//!
//! Parity bits of keys are ignored; weak keys are keys as any other.

mod lanes;
mod modes;
mod portable;
mod scalar;
mod schedule;
mod sliced;
mod spec;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, Isa, Level, wipe};
use zeroize::ZeroizeOnDrop;

use self::modes::Request;
use self::schedule::KEYS;

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => { by_isa!(crate::des, $($call)+: Avx512, Avx2, _ => portable) };
}

/// The levels that have a kernel of their own for many blocks, lowest first; others run the next
/// one below.
pub const KERNELS: &[Level] = best!(levels);

/// DES with its key of 8 bytes, eight bits of which are parity and ignored.
///
/// The key schedule, 144 bytes, is wiped on drop. Constant time only for requests of many blocks,
/// see the [module](self).
pub struct Des {
    keys: [[u64; KEYS]; 1],
    isa: Isa,
}

/// Triple DES: encryption under the first key, decryption under the second, encryption under the
/// third.
///
/// The key schedules, 432 bytes, are wiped on drop. Constant time only for requests of many
/// blocks, see the [module](self).
pub struct TripleDes {
    keys: [[u64; KEYS]; 3],
    isa: Isa,
}

/// A key of triple DES: three keys of DES, or two of which the first is used twice. Wiped on drop.
pub struct TripleDesKey([[u8; 8]; 3]);

impl From<&[u8; 24]> for TripleDesKey {
    fn from(key: &[u8; 24]) -> Self {
        let mut keys = [[0; 8]; 3];
        keys.as_flattened_mut().copy_from_slice(key);
        Self(keys)
    }
}

impl From<&[u8; 16]> for TripleDesKey {
    fn from(key: &[u8; 16]) -> Self {
        let mut keys = [[0; 8]; 3];
        keys.as_flattened_mut()[..16].copy_from_slice(key);
        keys[2] = keys[0];
        Self(keys)
    }
}

impl Drop for TripleDesKey {
    fn drop(&mut self) {
        wipe::memory(self.0.as_flattened_mut());
    }
}

impl ZeroizeOnDrop for TripleDesKey {}

impl fmt::Debug for TripleDesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TripleDesKey").finish_non_exhaustive()
    }
}

/// Everything except the expansion of keys. Each cipher has one instance in this crate, not in the
/// crate that uses it, so that programs get the code that was compiled and measured here.
macro_rules! block_cipher {
    ($cipher:ident, $key:ty, $expand:expr) => {
        impl $cipher {
            fn request(&self, back: bool) -> Request<'_> {
                Request { isa: self.isa, keys: &self.keys, back }
            }
        }

        impl BlockEncrypt<8> for $cipher {
            type Key = $key;

            #[inline]
            fn empty(isa: Isa) -> Self {
                Self { keys: [[0; KEYS]; _], isa }
            }

            #[inline]
            fn set_key(&mut self, key: &Self::Key) {
                $expand(self.isa, key, &mut self.keys);
            }

            fn encrypt(&self, blocks: InOutBuf<'_, '_, [u8; 8]>) {
                self.request(false).ecb(blocks);
            }

            fn cbc_encrypt(&self, iv: &mut [u8; 8], blocks: InOutBuf<'_, '_, [u8; 8]>) {
                scalar::cbc_encrypt(&self.keys, iv, blocks);
            }

            fn ctr(&self, counter: &mut [u8; 8], data: InOutBuf<'_, '_, u8>) {
                self.request(false).ctr(counter, data);
            }

            fn ctr_keystream(&self, counter: &mut [u8; 8], out: &mut [u8]) {
                self.request(false).ctr(counter, out);
            }
        }

        impl BlockCipher<8> for $cipher {
            fn decrypt(&self, blocks: InOutBuf<'_, '_, [u8; 8]>) {
                self.request(true).ecb(blocks);
            }

            fn cbc_decrypt(&self, iv: &mut [u8; 8], blocks: InOutBuf<'_, '_, [u8; 8]>) {
                self.request(true).cbc_decrypt(iv, blocks);
            }
        }

        impl Drop for $cipher {
            #[inline]
            fn drop(&mut self) {
                wipe::words(self.keys.as_flattened_mut());
            }
        }

        impl ZeroizeOnDrop for $cipher {}

        impl fmt::Debug for $cipher {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = stringify!($cipher);
                f.debug_struct(name).field("isa", &self.isa).finish_non_exhaustive()
            }
        }
    };
}

block_cipher!(Des, [u8; 8], expand_one);
block_cipher!(TripleDes, TripleDesKey, expand_three);

/// The schedule of DES. A separate call, so that callers need no room for it on their stack.
#[inline(never)]
fn expand_one(isa: Isa, key: &[u8; 8], [keys]: &mut [[u64; KEYS]; 1]) {
    *keys = expand(isa, key);
}

/// The schedules of triple DES, the second one backwards.
fn expand_three(isa: Isa, key: &TripleDesKey, keys: &mut [[u64; KEYS]; 3]) {
    for (key, keys) in key.0.iter().zip(&mut *keys) {
        expand_one(isa, key, core::array::from_mut(keys));
    }
    keys[1].reverse();
}

#[inline]
fn expand(isa: Isa, key: &[u8; 8]) -> [u64; KEYS] {
    by_isa!(crate::des, isa, expand(key): Avx512, Avx2, _ => schedule)
}

/// The fewest blocks that are worth a group of their own: one by one, as many take as long as the
/// group.
fn smallest(isa: Isa) -> usize {
    if isa.has(Level::Avx512) && Level::Avx512.is_built() { 3 } else { 20 }
}

/// Encrypts, or decrypts if `back`, groups of 64 blocks, each block by itself.
fn crypt(isa: Isa, keys: &[[u64; KEYS]], back: bool, groups: &mut [[[u8; 8]; 64]]) {
    best!(isa, crypt(keys, back, groups));
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanecrypt_kernels::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut blocks = [[0; 8]; 80];
        let (mut iv, key) = ([0; 8], TripleDesKey::from(&[1; 24]));
        let one = |isa| {
            let des = Des::new(isa, &[1; 8]);
            forget();
            des
        };
        let three = |isa| {
            let des = TripleDes::new(isa, &key);
            forget();
            des
        };
        assert_best(KERNELS, |isa| one(isa).encrypt((&mut blocks[..]).into()));
        assert_best(KERNELS, |isa| one(isa).decrypt((&mut blocks[..]).into()));
        assert_best(KERNELS, |isa| three(isa).encrypt((&mut blocks[..]).into()));
        assert_best(KERNELS, |isa| three(isa).cbc_decrypt(&mut iv, (&mut blocks[..]).into()));
        let bytes = blocks.as_flattened_mut();
        assert_best(KERNELS, |isa| three(isa).ctr(&mut iv, (&mut bytes[..]).into()));
        assert_best(KERNELS, |isa| one(isa).ctr_keystream(&mut iv, bytes));
        assert_best(KERNELS, |isa| drop(Des::new(isa, &[1; 8])));
    }
}
