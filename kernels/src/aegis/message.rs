//! A message in pieces. Constant time in key and data.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::{Aegis, OPEN, SEAL, State, keystream, portable, rate};
use crate::isa::Mode;
use crate::{Incremental, Isa, wipe};

/// A message in progress: its state, its lengths, the incomplete step.
///
/// It holds secrets and wipes them on drop. Plaintext that a program reads before it has compared
/// the tag may be forged.
//
// The state wipes itself.
pub struct Message<const KEY: usize> {
    state: State<KEY>,
    /// The part of a step of associated data or plaintext that is still to be taken.
    part: [u8; 32],
    /// Bytes so far.
    aad: u64,
    data: u64,
}

impl<const KEY: usize> Message<KEY> {
    pub(super) fn new(isa: Isa, key: &[u8; KEY], nonce: &[u8; KEY]) -> Self {
        let mut message = Self { state: State::EMPTY, part: [0; 32], aad: 0, data: 0 };
        let state = &mut message.state;
        best!(isa, begin(key, nonce, state));
        message
    }

    fn crypt<const MODE: bool>(&mut self, isa: Isa, data: InOutBuf<'_, '_, u8>) {
        if data.is_empty() {
            return;
        }
        if self.data == 0 {
            self.absorb(isa, begun::<KEY>(self.aad));
        }
        let at = begun::<KEY>(self.data);
        self.data += data.len() as u64;
        let mut data = data;
        if at > 0 {
            let length = data.len().min(rate(KEY) - at);
            let (now, rest) = data.split_at(length);
            data = rest;
            self.crypt_part::<MODE>(at, now);
            if at + length < rate(KEY) {
                return;
            }
            self.absorb(isa, rate(KEY));
        }
        let whole = data.len() / rate(KEY) * rate(KEY);
        let (whole, rest) = data.split_at(whole);
        if !whole.is_empty() {
            let (state, mode) = (&mut self.state, Mode::<MODE>);
            best!(isa, crypt(state, whole, mode));
        }
        if !rest.is_empty() {
            self.crypt_part::<MODE>(0, rest);
        }
    }

    /// Bytes from `at` on of the incomplete step, and none past its end: the state gives the same
    /// keystream until it takes them.
    fn crypt_part<const MODE: bool>(&mut self, at: usize, mut data: InOutBuf<'_, '_, u8>) {
        let mut stream =
            keystream::<KEY, _>(self.state.0.map(u128::from_ne_bytes)).map(u128::to_ne_bytes);
        let places = at..at + data.len();
        if MODE == SEAL {
            self.part[places.clone()].copy_from_slice(data.get_in());
        }
        data.xor_in2out(&stream.as_flattened()[places.clone()]);
        if MODE != SEAL {
            self.part[places].copy_from_slice(data.get_out());
        }
        wipe::memory(stream.as_flattened_mut());
    }

    /// Takes the first bytes of the incomplete step; none is no step.
    fn absorb(&mut self, isa: Isa, length: usize) {
        if length > 0 {
            let (state, part) = (&mut self.state, &self.part[..length]);
            best!(isa, absorb(state, part));
        }
    }

    fn wipe(&mut self) {
        wipe::memory(self.state.0.as_flattened_mut());
        wipe::memory(&mut self.part);
    }
}

/// Bytes of the incomplete step.
#[inline]
fn begun<const KEY: usize>(bytes: u64) -> usize {
    usize::from((bytes % rate(KEY) as u64).to_le_bytes()[0])
}

impl<const KEY: usize> Incremental<Aegis<KEY>> for Message<KEY> {
    fn associate(&mut self, key: &Aegis<KEY>, aad: &[u8]) {
        let isa = key.isa;
        debug_assert!(self.data == 0, "associated data come before data");
        let at = begun::<KEY>(self.aad);
        self.aad += aad.len() as u64;
        let mut aad = aad;
        if at > 0 {
            let (now, rest) = aad.split_at(aad.len().min(rate(KEY) - at));
            aad = rest;
            self.part[at..at + now.len()].copy_from_slice(now);
            if at + now.len() < rate(KEY) {
                return;
            }
            self.absorb(isa, rate(KEY));
        }
        let (whole, rest) = aad.split_at(aad.len() / rate(KEY) * rate(KEY));
        if !whole.is_empty() {
            let state = &mut self.state;
            best!(isa, absorb(state, whole));
        }
        self.part[..rest.len()].copy_from_slice(rest);
    }

    fn encrypt(&mut self, key: &Aegis<KEY>, data: InOutBuf<'_, '_, u8>) {
        self.crypt::<SEAL>(key.isa, data);
    }

    fn decrypt(&mut self, key: &Aegis<KEY>, data: InOutBuf<'_, '_, u8>) {
        self.crypt::<OPEN>(key.isa, data);
    }

    fn tag(mut self, key: &Aegis<KEY>) -> [u8; 16] {
        let isa = key.isa;
        // If there are no data yet, only associated data can be incomplete.
        self.absorb(isa, begun::<KEY>(if self.data == 0 { self.aad } else { self.data }));
        let (state, aad, data) = (&self.state, 8 * self.aad, 8 * self.data);
        best!(isa, tag(state, aad, data))
    }
}

impl<const KEY: usize> Drop for Message<KEY> {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl<const KEY: usize> ZeroizeOnDrop for Message<KEY> {}

impl<const KEY: usize> fmt::Debug for Message<KEY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Message");
        f.field("aad", &self.aad).field("data", &self.data).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aegis::Aegis128L;
    use crate::{Aead, Incremental};

    #[test]
    fn nothing_is_left_but_lengths() {
        let cipher = Aegis128L::new(Isa::PORTABLE, &[1; 16]);
        let mut message = cipher.begin(&[2; 16]).expect("a nonce");
        message.associate(&cipher, &[3; 5]);
        message.encrypt(&cipher, (&mut [4; 40][..]).into());
        assert!(message.state.0 != [[0; 16]; 8] && message.part != [0; 32]);
        message.wipe();
        assert_eq!((message.state.0, message.part), ([[0; 16]; 8], [0; 32]));
    }
}
