//! A message in pieces.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::{ChaCha20Poly1305, PartialState};
use crate::chacha::Key;
use crate::{Incremental, Isa, Resume};

/// A message in pieces: first its associated data, then its data, in one direction.
///
/// It holds its key; wiped on drop.
pub struct Message {
    cipher: ChaCha20Poly1305,
    state: PartialState,
}

impl Message {
    pub(super) fn new(isa: Isa, key: Key, nonce: &[u8; 12]) -> Self {
        let cipher = ChaCha20Poly1305 { key, isa };
        let state = cipher.empty_state(nonce);
        Self { cipher, state }
    }
}

/// The message holds what it needs of the key.
impl<K> Incremental<K> for Message {
    fn associate(&mut self, _key: &K, aad: &[u8]) {
        self.cipher.associate_more(&mut self.state, aad);
    }

    fn encrypt(&mut self, _key: &K, data: InOutBuf<'_, '_, u8>) {
        self.cipher.seal_more(&mut self.state, data);
    }

    fn decrypt(&mut self, _key: &K, data: InOutBuf<'_, '_, u8>) {
        self.cipher.open_more(&mut self.state, data);
    }

    fn tag(self, _key: &K) -> [u8; 16] {
        self.cipher.tag_of(&self.state)
    }
}

impl ZeroizeOnDrop for Message {}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("isa", &self.cipher.isa).finish_non_exhaustive()
    }
}
