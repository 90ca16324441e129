//! Ciphers with authentication.

use aead::array::AssocArraySize;
use aead::consts::U16;
use aead::inout::InOutBuf;
use aead::{AeadCore, AeadInOut, Key, KeyInit, KeySizeUser, Nonce, Tag, TagPosition};

use crate::AeadCipher;
use crate::cipher::SingleKey;

impl<K: SingleKey<Key: AssocArraySize>> KeySizeUser for AeadCipher<K> {
    type KeySize = <K::Key as AssocArraySize>::Size;
}

impl<K: SingleKey<Key: AssocArraySize>> KeyInit for AeadCipher<K>
where
    for<'k> &'k K::Key: From<&'k Key<Self>>,
{
    #[inline]
    fn new(key: &Key<Self>) -> Self {
        Self::new(key.into())
    }
}

impl<K: SingleKey<Nonce: AssocArraySize>> AeadCore for AeadCipher<K> {
    type NonceSize = <K::Nonce as AssocArraySize>::Size;
    type TagSize = U16;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

/// A refused message has been wiped.
impl<K: SingleKey<Nonce: AssocArraySize>> AeadInOut for AeadCipher<K> {
    #[inline]
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<Tag<Self>> {
        let mut tag = Tag::<Self>::default();
        match self.seal_detached(nonce, associated_data, buffer, &mut tag) {
            Ok(()) => Ok(tag),
            Err(_) => Err(aead::Error),
        }
    }

    #[inline]
    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> aead::Result<()> {
        let opened = self.open_detached(nonce, associated_data, buffer, tag);
        opened.map_err(|_| aead::Error)
    }
}
