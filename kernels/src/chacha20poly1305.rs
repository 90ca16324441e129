//! ChaCha20-Poly1305 (RFC 8439, section 2.8) and XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03):
//! encryption with authentication, one message a call or in pieces.
//!
//! Block 0 of the keystream is the one-time key of Poly1305; the keystream of the data begins at
//! block 1. Every form makes block 0 and the first blocks of data in one pass, because a block
//! alone takes as long as several side by side.
//!
//! Constant time in key, nonce and data at every level; lengths are public.
//!
//! | level | form |
//! |---|---|
//! | `Portable`, `Ssse3` | the kernels of ChaCha20 and of Poly1305 in turn |
//! | `Avx2`, `Neon` | Poly1305 on words between the rounds of eight blocks of ChaCha20 |
//! | `Avx512` | one pass of ChaCha20 over just enough blocks, then Poly1305 in lanes |

pub(crate) mod aarch64;
mod lanes;
mod message;
mod parts;
mod resumable;
mod two_pass;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::{Aead, Isa, Level, chacha, poly1305};

pub use lanes::{Lane, open_lanes, seal_lanes};
pub use message::Message;
use parts::Kept;
pub use resumable::PartialState;

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = chacha::KERNELS;

/// The most bytes of one message: 2^38 - 64. The block counter has 32 bits, and its first value is
/// used for the key (RFC 8439, section 2.8).
pub const LONGEST: u64 = ((1 << 32) - 1) * 64;

/// The direction: Poly1305 takes the ciphertext, which is the output or the input.
const SEAL: bool = true;
const OPEN: bool = false;

/// ChaCha20-Poly1305: a key of 256 bits, nonces of 96 bits (RFC 8439, section 2.8).
///
/// The key is wiped on drop. Requests only read it, so any number of threads can share it.
//
// The key wipes itself.
pub struct ChaCha20Poly1305 {
    key: chacha::Key,
    isa: Isa,
}

/// XChaCha20-Poly1305: a key of 256 bits, nonces of 192 bits, enough to choose them at random
/// (draft-irtf-cfrg-xchacha-03, section 2).
///
/// Each message costs one more block of ChaCha20, which makes its own key. The key is wiped on
/// drop. Requests only read it, so any number of threads can share it.
pub struct XChaCha20Poly1305 {
    key: chacha::Key,
    isa: Isa,
}

impl Aead for ChaCha20Poly1305 {
    type Key = [u8; 32];
    type Nonce = [u8; 12];

    const LONGEST: u64 = LONGEST;
    const LEVELS: &'static [&'static [Level]] = &[KERNELS, chacha::KERNELS, poly1305::KERNELS];

    type Message = Message;

    #[inline]
    fn empty(isa: Isa) -> Self {
        Self { key: chacha::Key::from(&[0; 32]), isa }
    }

    #[inline]
    fn set_key(&mut self, key: &[u8; 32]) {
        self.key = chacha::Key::from(key);
    }

    #[inline]
    fn isa(&self) -> Isa {
        self.isa
    }

    #[inline]
    fn seal(&self, nonce: &[u8; 12], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16] {
        run(self.isa, &self.key, nonce, aad, data, SEAL, None)
    }

    #[inline]
    fn open(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        _tag: &[u8; 16],
    ) -> [u8; 16] {
        run(self.isa, &self.key, nonce, aad, data, OPEN, None)
    }

    #[inline]
    fn begin(&self, nonce: &[u8]) -> Option<Message> {
        let key = chacha::Key { words: self.key.words };
        Some(Message::new(self.isa, key, nonce.try_into().ok()?))
    }
}

impl Aead for XChaCha20Poly1305 {
    type Key = [u8; 32];
    type Nonce = [u8; 24];

    const LONGEST: u64 = LONGEST;
    const LEVELS: &'static [&'static [Level]] = &[KERNELS, chacha::KERNELS, poly1305::KERNELS];

    type Message = Message;

    #[inline]
    fn empty(isa: Isa) -> Self {
        Self { key: chacha::Key::from(&[0; 32]), isa }
    }

    #[inline]
    fn set_key(&mut self, key: &[u8; 32]) {
        self.key = chacha::Key::from(key);
    }

    #[inline]
    fn isa(&self) -> Isa {
        self.isa
    }

    #[inline(never)]
    fn seal(&self, nonce: &[u8; 24], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16] {
        let (key, nonce) = self.of_message(nonce);
        run(self.isa, &key, &nonce, aad, data, SEAL, None)
    }

    #[inline(always)]
    fn open(
        &self,
        nonce: &[u8; 24],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        _tag: &[u8; 16],
    ) -> [u8; 16] {
        self.opened(nonce, aad, data)
    }

    #[inline]
    fn begin(&self, nonce: &[u8]) -> Option<Message> {
        let (key, nonce) = self.of_message(nonce.try_into().ok()?);
        Some(Message::new(self.isa, key, &nonce))
    }
}

impl XChaCha20Poly1305 {
    /// [`open`](Aead::open), out of line.
    #[inline(never)]
    fn opened(&self, nonce: &[u8; 24], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16] {
        let (key, nonce) = self.of_message(nonce);
        run(self.isa, &key, &nonce, aad, data, OPEN, None)
    }

    /// The key and the nonce of a message under ChaCha20-Poly1305: the front of the nonce goes
    /// into the key, four zeros take its place.
    #[inline]
    fn of_message(&self, nonce: &[u8; 24]) -> (chacha::Key, [u8; 12]) {
        let (front, nonce) = divided(nonce);
        (chacha::hchacha20(self.isa, &self.key, front), nonce)
    }
}

/// The front of a nonce of 24 bytes, and the nonce that is made of the rest.
#[inline]
fn divided(nonce: &[u8; 24]) -> (&[u8; 16], [u8; 12]) {
    let &[ref front @ .., a, b, c, d, e, f, g, h] = nonce;
    (front, [0, 0, 0, 0, a, b, c, d, e, f, g, h])
}

/// Every kernel takes `isa`, because the one in turn needs it.
///
/// The direction is a variable here and in the kernels: as a constant it would double their code,
/// and they branch on it a few times a message.
#[inline(never)]
fn run(
    isa: Isa,
    key: &chacha::Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
    keep: Option<&mut Kept>,
) -> [u8; 16] {
    by_isa!(crate::chacha20poly1305, isa, run(isa, key, nonce, aad, data, direction, keep):
        Avx512, Avx2, Neon, _ => two_pass)
}

impl ZeroizeOnDrop for ChaCha20Poly1305 {}

impl ZeroizeOnDrop for XChaCha20Poly1305 {}

impl fmt::Debug for ChaCha20Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChaCha20Poly1305").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl fmt::Debug for XChaCha20Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XChaCha20Poly1305").field("isa", &self.isa).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::assert_best;

    /// In turn, the last dispatch is that of ChaCha20: such short messages need no other.
    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [0; 50];
        assert_best(KERNELS, |isa| {
            let cipher = ChaCha20Poly1305::new(isa, &[1; 32]);
            let _tag = cipher.seal(&[2; 12], &[3], (&mut data[..]).into());
        });
        assert_best(KERNELS, |isa| {
            let cipher = XChaCha20Poly1305::new(isa, &[1; 32]);
            let _tag = cipher.open(&[2; 24], &[3], (&mut data[..]).into(), &[0; 16]);
        });
    }
}
