//! A cipher with an HMAC behind it: encrypt, then MAC.
//!
//! The construction is that of `AEAD_AES_128_CBC_HMAC_SHA_256` (Internet-Draft
//! draft-mcgrew-aead-aes-cbc-hmac-sha2; RFC 7518, section 5.2), without its padding: the code is of
//! the associated data, the nonce, the ciphertext, and the length of the associated data in bits as
//! 64 bits, big-endian. The key is that of the code, then that of the cipher.

pub(super) mod lanes;

use inout::InOutBuf;
use lanecrypt_kernels::aes::{Aes, AesForward};
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, Isa, into_blocks};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::key::Kernel;
use crate::hmac::{self, Code, Hash, Sha1, Sha256, Sha384};
use crate::key_bytes::array;
use crate::mac_key::{MacKey, by_mac};
use crate::{Algorithm, Error, Mac};

/// Bytes that are encrypted before they are hashed. The processor then encrypts the next ones while
/// it hashes these.
const PIECE: usize = 64;

/// A cipher in a mode that encrypts a message from its nonce on.
pub(super) trait Chain: Sized + ZeroizeOnDrop {
    /// Bytes of a key.
    const KEY: usize;
    /// The number of bytes that the length of each piece must be a multiple of.
    const STEP: usize;

    fn empty(isa: Isa) -> Self;
    fn set_key(&mut self, key: &[u8]) -> Result<(), Error>;
    /// The first vector or counter block.
    fn first(nonce: &[u8]) -> Result<[u8; 16], Error>;
    /// Encrypts the next bytes.
    fn encrypt(&self, chain: &mut [u8; 16], data: InOutBuf<'_, '_, u8>);
    /// Decrypts the next bytes.
    fn decrypt(&self, chain: &mut [u8; 16], data: InOutBuf<'_, '_, u8>);
}

/// A mode of AES with keys of so many bits.
macro_rules! chain {
    ($cipher:ident<$bits:literal>, $step:literal, $mode:ident) => {
        impl Chain for $cipher<$bits> {
            const KEY: usize = $bits / 8;
            const STEP: usize = $step;

            fn empty(isa: Isa) -> Self {
                BlockEncrypt::empty(isa)
            }

            fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
                BlockEncrypt::set_key(self, array(key)?);
                Ok(())
            }

            $mode!();
        }
    };
}

/// CBC: the nonce is the initialization vector.
macro_rules! cbc {
    () => {
        #[inline]
        fn first(nonce: &[u8]) -> Result<[u8; 16], Error> {
            nonce.try_into().map_err(|_| Error::NonceLength)
        }

        #[inline]
        fn encrypt(&self, chain: &mut [u8; 16], data: InOutBuf<'_, '_, u8>) {
            self.cbc_encrypt(chain, into_blocks(data).0);
        }

        #[inline]
        fn decrypt(&self, chain: &mut [u8; 16], data: InOutBuf<'_, '_, u8>) {
            self.cbc_decrypt(chain, into_blocks(data).0);
        }
    };
}

/// CTR: the nonce is followed by a counter of 32 bits that begins at 1 (RFC 3686, section 4).
macro_rules! ctr {
    () => {
        #[inline]
        fn first(nonce: &[u8]) -> Result<[u8; 16], Error> {
            let nonce: &[u8; 12] = nonce.try_into().map_err(|_| Error::NonceLength)?;
            let mut block = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
            block[..12].copy_from_slice(nonce);
            Ok(block)
        }

        #[inline]
        fn encrypt(&self, chain: &mut [u8; 16], data: InOutBuf<'_, '_, u8>) {
            self.ctr(chain, data);
        }

        #[inline]
        fn decrypt(&self, chain: &mut [u8; 16], data: InOutBuf<'_, '_, u8>) {
            self.ctr(chain, data);
        }
    };
}

chain!(Aes<128>, 16, cbc);
chain!(Aes<192>, 16, cbc);
chain!(Aes<256>, 16, cbc);
chain!(AesForward<128>, 1, ctr);
chain!(AesForward<256>, 1, ctr);

/// A cipher and a code, each with its key.
pub(super) struct Chained<C> {
    cipher: C,
    mac: MacKey,
}

impl<C: Chain> Kernel for Chained<C> {
    type Message = Message;

    fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let length = key.len().checked_sub(C::KEY).ok_or(Error::KeyLength)?;
        let (mac, cipher) = key.split_at_checked(length).ok_or(Error::KeyLength)?;
        if !self.mac.code().key_lengths().contains(mac.len()) {
            return Err(Error::KeyLength);
        }
        self.cipher.set_key(cipher)?;
        by_mac!(&mut self.mac, key => key.set(mac));
        Ok(())
    }

    #[inline]
    fn seal_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let first = first::<C>(nonce, data.len())?;
        by_mac!(&self.mac, key => seal(&self.cipher, key, first, nonce, aad, data).put(tag));
        Ok(())
    }

    #[inline]
    fn open_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let mut chain = first::<C>(nonce, data.len())?;
        by_mac!(&self.mac, key => code(key, nonce, aad, data.get_in()).compare(tag))?;
        self.cipher.decrypt(&mut chain, data);
        Ok(())
    }

    fn begin_message(&self, nonce: &[u8]) -> Result<Message, Error> {
        let chain = C::first(nonce)?;
        let mut kept = [0; 16];
        kept.iter_mut().zip(nonce).for_each(|(to, from)| *to = *from);
        let code = match &self.mac {
            MacKey::Sha1(key) => RunningCode::Sha1(key.begin()),
            MacKey::Sha256(key) => RunningCode::Sha256(key.begin()),
            MacKey::Sha384(key) => RunningCode::Sha384(key.begin()),
        };
        Ok(Message {
            place: Place { chain, keystream: [0; 16], unused: 0 },
            nonce: kept,
            nonce_length: nonce.len(),
            aad: 0,
            has_data: false,
            code,
        })
    }

    fn associate_next(&self, message: &mut Message, aad: &[u8]) {
        message.aad += aad.len() as u64;
        message.code.update(aad);
    }

    fn encrypt_next(&self, message: &mut Message, mut data: InOutBuf<'_, '_, u8>) {
        message.begin_data();
        self.apply(message, data.reborrow(), C::encrypt);
        message.code.update(data.get_out());
    }

    fn decrypt_next(&self, message: &mut Message, data: InOutBuf<'_, '_, u8>) {
        message.begin_data();
        message.code.update(data.get_in());
        self.apply(message, data, C::decrypt);
    }

    fn finish(&self, message: Message, tag: &mut [u8]) {
        self.end(message).put(tag);
    }

    fn verify(&self, message: Message, tag: &[u8]) -> Result<(), Error> {
        self.end(message).compare(tag)
    }
}

impl<C: Chain> Chained<C> {
    /// A place for a key, which must be set before it is used.
    pub(super) fn empty(isa: Isa, algorithm: Algorithm) -> Self {
        let mac = MacKey::empty(algorithm.mac().unwrap_or(Mac::HmacSha1));
        Self { cipher: C::empty(isa), mac }
    }

    /// Encrypts or decrypts the next bytes of a message. Of a stream, they may end inside of a
    /// block.
    fn apply(
        &self,
        message: &mut Message,
        data: InOutBuf<'_, '_, u8>,
        run: impl Fn(&C, &mut [u8; 16], InOutBuf<'_, '_, u8>),
    ) {
        let Place { chain, keystream, unused } = &mut message.place;
        let (mut first, rest) = split(data, *unused);
        let from = keystream.len() - *unused;
        first.xor_in2out(&keystream[from..from + first.len()]);
        *unused -= first.len();
        let whole = rest.len() / 16 * 16;
        let (blocks, mut last) = rest.split_at(whole);
        run(&self.cipher, chain, blocks);
        if !last.is_empty() {
            keystream.fill(0);
            run(&self.cipher, chain, (&mut keystream[..]).into());
            last.xor_in2out(&keystream[..last.len()]);
            *unused = keystream.len() - last.len();
        }
    }

    fn end(&self, mut message: Message) -> Code {
        message.begin_data();
        let bits = bits(message.aad);
        message.code.update(&bits);
        let Message { code, .. } = message;
        match (&self.mac, code) {
            (MacKey::Sha1(key), RunningCode::Sha1(code)) => key.finish(code),
            (MacKey::Sha256(key), RunningCode::Sha256(code)) => key.finish(code),
            (MacKey::Sha384(key), RunningCode::Sha384(code)) => key.finish(code),
            _ => unreachable!("a message is begun and ended under one key"),
        }
    }
}

/// The first vector or counter block of a message of so many bytes.
#[inline]
fn first<C: Chain>(nonce: &[u8], length: usize) -> Result<[u8; 16], Error> {
    if !length.is_multiple_of(C::STEP) {
        return Err(Error::DataLength);
    }
    C::first(nonce)
}

/// The length of associated data in bits, as it is authenticated.
#[inline]
fn bits(bytes: u64) -> [u8; 8] {
    bytes.wrapping_mul(8).to_be_bytes()
}

/// At most `most` bytes, and the rest.
fn split<'i, 'o>(
    data: InOutBuf<'i, 'o, u8>,
    most: usize,
) -> (InOutBuf<'i, 'o, u8>, InOutBuf<'i, 'o, u8>) {
    let at = most.min(data.len());
    data.split_at(at)
}

/// Encrypts a message and hashes it, piece by piece: the processor encrypts a piece while it hashes
/// the one before.
#[inline(never)]
fn seal<C: Chain, H: Hash<BLOCK>, const BLOCK: usize>(
    cipher: &C,
    key: &hmac::Key<H, BLOCK>,
    mut chain: [u8; 16],
    nonce: &[u8],
    aad: &[u8],
    mut data: InOutBuf<'_, '_, u8>,
) -> Code {
    let mut message = begun(key, nonce, aad);
    let (mut encrypted, mut hashed) = (0, 0);
    while encrypted < data.len() {
        let (_, rest) = data.reborrow().split_at(encrypted);
        let (piece, _) = split(rest, PIECE.max(BLOCK));
        encrypted += piece.len();
        cipher.encrypt(&mut chain, piece);
        // Up to the end of a block, so that nothing is copied into one but its beginning.
        let mut ready = encrypted - hashed;
        if encrypted < data.len() {
            let first = message.to_whole_block();
            if ready < first {
                continue;
            }
            ready = first + (ready - first) / BLOCK * BLOCK;
        }
        message.update(&data.get_out()[hashed..hashed + ready]);
        hashed += ready;
    }
    message.update(&bits(aad.len() as u64));
    key.finish(message)
}

/// The code of a whole message.
#[inline(never)]
fn code<H: Hash<BLOCK>, const BLOCK: usize>(
    key: &hmac::Key<H, BLOCK>,
    nonce: &[u8],
    aad: &[u8],
    ciphertext: &[u8],
) -> Code {
    let mut message = begun(key, nonce, aad);
    message.update(ciphertext);
    message.update(&bits(aad.len() as u64));
    key.finish(message)
}

/// A message of which all is hashed that stands before the ciphertext.
#[inline]
fn begun<H: Hash<BLOCK>, const BLOCK: usize>(
    key: &hmac::Key<H, BLOCK>,
    nonce: &[u8],
    aad: &[u8],
) -> hmac::Message<H, BLOCK> {
    let mut message = key.begin();
    message.update(aad);
    message.update(nonce);
    message
}

/// A message that comes in pieces.
pub(super) struct Message {
    place: Place,
    /// The nonce, until the first data.
    nonce: [u8; 16],
    nonce_length: usize,
    /// Bytes of associated data.
    aad: u64,
    has_data: bool,
    code: RunningCode,
}

impl Message {
    /// After this no associated data may come.
    fn begin_data(&mut self) {
        if !self.has_data {
            self.has_data = true;
            self.code.update(&self.nonce[..self.nonce_length]);
        }
    }
}

/// The position in a message.
struct Place {
    /// The next vector or counter block.
    chain: [u8; 16],
    /// A block of the keystream, of which the last `unused` bytes are still to be used; of streams.
    keystream: [u8; 16],
    unused: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.chain.zeroize();
        self.keystream.zeroize();
    }
}

impl ZeroizeOnDrop for Message {}

/// The code of a message on its way.
enum RunningCode {
    Sha1(hmac::Message<Sha1, 64>),
    Sha256(hmac::Message<Sha256, 64>),
    Sha384(hmac::Message<Sha384, 128>),
}

impl RunningCode {
    fn update(&mut self, data: &[u8]) {
        match self {
            Self::Sha1(message) => message.update(data),
            Self::Sha256(message) => message.update(data),
            Self::Sha384(message) => message.update(data),
        }
    }
}

impl<C: Chain> ZeroizeOnDrop for Chained<C> {}
