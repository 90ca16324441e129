//! The rows of old ciphers, and what only these need.

use alloc::boxed::Box;

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, StreamCore};
pub(super) use lanecrypt_kernels_legacy::DEPTH;
use lanecrypt_kernels_legacy::arc4::{self, Arc4};
use lanecrypt_kernels_legacy::des::TripleDesKey;
use lanecrypt_kernels_legacy::hc128::Hc128;
use lanecrypt_kernels_legacy::salsa::{self, Salsa};
use lanecrypt_kernels_legacy::serpent;
use zeroize::Zeroizing;

use super::StreamCipher;
use super::block_modes::sized;
use super::stream_cipher::message;
use super::table::SideBySide;
use crate::Error;
use crate::key_bytes::{FromBytes, array};

/// Calls the macro `$make` with `$arguments` and all rows.
///
/// - `unseekable`: the primitive of a stream that does not number its blocks; its variant; its
///   stream core.
/// - `hc128`: the variant of HC-128, the one of these that has a nonce.
macro_rules! raw_ciphers {
    ($make:ident! $arguments:tt) => {
        $crate::hazmat::table::with_rows! { $make! $arguments
            blocks {
                [Serpent128 Serpent192 Serpent256] SerpentCbc SerpentCtr SerpentEcb:
                    lanecrypt_kernels_legacy::serpent::Serpent,
                    lanecrypt_kernels_legacy::serpent::Serpent,
                    kernels::Ctr<lanecrypt_kernels_legacy::serpent::Serpent, 16>;
                [Des] DesCbc DesCtr DesEcb:
                    lanecrypt_kernels_legacy::des::Des,
                    lanecrypt_kernels_legacy::des::Des,
                    kernels::Ctr<lanecrypt_kernels_legacy::des::Des, 8>;
                [TripleDes] TripleDesCbc TripleDesCtr TripleDesEcb:
                    lanecrypt_kernels_legacy::des::TripleDes,
                    lanecrypt_kernels_legacy::des::TripleDes,
                    kernels::Ctr<lanecrypt_kernels_legacy::des::TripleDes, 8>;
            }
            streams {
                [Salsa8 Stream] Salsa8: lanecrypt_kernels_legacy::salsa::Salsa<8>;
                [Salsa12 Stream] Salsa12: lanecrypt_kernels_legacy::salsa::Salsa<12>;
                [Salsa20 Stream] Salsa20: lanecrypt_kernels_legacy::salsa::Salsa<20>;
            }
            unseekable {
                [Arc4] Arc4: lanecrypt_kernels_legacy::arc4::Arc4;
                [Hc128] Hc128: lanecrypt_kernels_legacy::hc128::Hc128;
            }
            hc128 { Hc128 }
        }
    };
}

pub(super) use raw_ciphers;

/// A stream that does not number its blocks. Boxed, because its tables would make every stream
/// kilobytes larger.
pub(super) type Boxed<C> = Box<StreamCipher<C>>;

/// A stream core that is made from bytes, whose key and nonce have the right lengths.
pub(super) trait Unseekable: StreamCore {
    fn open(isa: Isa, key: &[u8], nonce: &[u8]) -> Result<Boxed<Self>, Error>;
}

impl Unseekable for Arc4 {
    fn open(isa: Isa, key: &[u8], _: &[u8]) -> Result<Boxed<Self>, Error> {
        let key = arc4::Key::try_from(key).map_err(|_| Error::KeyLength)?;
        Ok(Box::new(StreamCipher::new(isa, &key, &())))
    }
}

impl Unseekable for Hc128 {
    fn open(isa: Isa, key: &[u8], nonce: &[u8]) -> Result<Boxed<Self>, Error> {
        Ok(Box::new(StreamCipher::new(isa, array(key)?, sized(nonce)?)))
    }
}

/// The key of HC-128.
pub(super) struct Hc128Key {
    key: Zeroizing<[u8; 16]>,
    isa: Isa,
}

impl Hc128Key {
    pub(super) fn empty(isa: Isa) -> Self {
        Self { key: Zeroizing::new([0; 16]), isa }
    }

    pub(super) fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        *self.key = *array(key)?;
        Ok(())
    }

    /// XORs the keystream of `nonce` into `data`. Not inlined, so that the other ciphers need no
    /// stack for the tables.
    #[inline(never)]
    pub(super) fn message(&self, nonce: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        message(Hc128::new(self.isa, &self.key, sized(nonce)?), data)
    }

    /// The stream of `nonce`, which begins at block 0.
    pub(super) fn stream(&self, nonce: &[u8], first: u64) -> Result<Boxed<Hc128>, Error> {
        let nonce = sized(nonce)?;
        if first != 0 {
            return Err(Error::Unsupported);
        }
        Ok(Box::new(StreamCipher::<Hc128>::new(self.isa, &self.key, nonce)))
    }
}

// Not inlined, like the next one, so that AES needs no stack for the parsed keys.
impl FromBytes for serpent::Key {
    #[inline(never)]
    fn from_bytes<R>(bytes: &[u8], then: impl FnOnce(&Self) -> R) -> Result<R, Error> {
        let key = match bytes.len() {
            16 => array::<16>(bytes)?.into(),
            24 => array::<24>(bytes)?.into(),
            _ => array::<32>(bytes)?.into(),
        };
        Ok(then(&key))
    }
}

impl FromBytes for TripleDesKey {
    #[inline(never)]
    fn from_bytes<R>(bytes: &[u8], then: impl FnOnce(&Self) -> R) -> Result<R, Error> {
        let key = match bytes.len() {
            16 => array::<16>(bytes)?.into(),
            _ => array::<24>(bytes)?.into(),
        };
        Ok(then(&key))
    }
}

impl<const ROUNDS: usize> SideBySide for Salsa<ROUNDS> {
    type Lane<'a> = salsa::Lane<'a>;

    #[inline(always)]
    fn lane<'a>(
        key: &'a salsa::Key,
        nonce: &[u8; 8],
        block: u64,
        data: InOutBuf<'a, 'a, u8>,
    ) -> salsa::Lane<'a> {
        salsa::Lane::new(key, nonce, block, data)
    }

    #[inline(always)]
    fn xor_lanes(isa: Isa, lanes: &mut [salsa::Lane<'_>]) {
        salsa::xor_lanes::<ROUNDS>(isa, lanes);
    }
}
