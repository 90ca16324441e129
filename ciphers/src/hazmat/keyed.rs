//! What the key of each algorithm is expanded to.

use inout::InOutBuf;
use lanecrypt_kernels::aes::{Aes, AesForward};
use lanecrypt_kernels::chacha::{ChaCha, Counter64, Ietf};
#[cfg(feature = "legacy")]
use lanecrypt_kernels::des::{Des, TripleDes, TripleDesKey};
#[cfg(feature = "legacy")]
use lanecrypt_kernels::hc128::Hc128;
use lanecrypt_kernels::salsa::Salsa;
use lanecrypt_kernels::serpent::{self, Serpent};
use lanecrypt_kernels::xts::AesXts;
use lanecrypt_kernels::{BlockEncrypt, Isa, Seek, StreamCore};
use subtle::ConstantTimeEq;
#[cfg(feature = "legacy")]
use zeroize::Zeroizing;

use super::block_modes::sized;
use super::cipher::Cipher;
use crate::{Algorithm, Error, Mode, Primitive};

/// An expanded key, and what it is for. One variant for each mode, so that a request finds its
/// kernel by one branch; counter mode expands for the forward direction only.
pub(super) enum Keyed {
    Aes128Cbc(Aes<128>),
    Aes192Cbc(Aes<192>),
    Aes256Cbc(Aes<256>),
    Aes128Ctr(AesForward<128>),
    Aes192Ctr(AesForward<192>),
    Aes256Ctr(AesForward<256>),
    Aes128Ecb(Aes<128>),
    Aes192Ecb(Aes<192>),
    Aes256Ecb(Aes<256>),
    Aes128Xts(AesXts<128>),
    Aes256Xts(AesXts<256>),
    SerpentCbc(Serpent),
    SerpentCtr(Serpent),
    SerpentEcb(Serpent),
    #[cfg(feature = "legacy")]
    DesCbc(Des),
    #[cfg(feature = "legacy")]
    DesCtr(Des),
    #[cfg(feature = "legacy")]
    DesEcb(Des),
    #[cfg(feature = "legacy")]
    TripleDesCbc(TripleDes),
    #[cfg(feature = "legacy")]
    TripleDesCtr(TripleDes),
    #[cfg(feature = "legacy")]
    TripleDesEcb(TripleDes),
    Stream(StreamKey),
    Null,
}

/// Evaluates the expression of the mode that a [`Keyed`] is for.
macro_rules! by_mode {
    ($keyed:expr, cbc $cbc:ident => $in_cbc:expr, ctr $ctr:ident => $in_ctr:expr,
     ecb $ecb:ident => $in_ecb:expr, stream $stream:ident => $in_stream:expr,
     xts $xts:ident => $in_xts:expr, null => $in_null:expr $(,)?) => {
        match $keyed {
            Keyed::Aes128Cbc($cbc) => $in_cbc,
            Keyed::Aes192Cbc($cbc) => $in_cbc,
            Keyed::Aes256Cbc($cbc) => $in_cbc,
            Keyed::SerpentCbc($cbc) => $in_cbc,
            #[cfg(feature = "legacy")]
            Keyed::DesCbc($cbc) => $in_cbc,
            #[cfg(feature = "legacy")]
            Keyed::TripleDesCbc($cbc) => $in_cbc,
            Keyed::Aes128Ctr($ctr) => $in_ctr,
            Keyed::Aes192Ctr($ctr) => $in_ctr,
            Keyed::Aes256Ctr($ctr) => $in_ctr,
            Keyed::SerpentCtr($ctr) => $in_ctr,
            #[cfg(feature = "legacy")]
            Keyed::DesCtr($ctr) => $in_ctr,
            #[cfg(feature = "legacy")]
            Keyed::TripleDesCtr($ctr) => $in_ctr,
            Keyed::Aes128Ecb($ecb) => $in_ecb,
            Keyed::Aes192Ecb($ecb) => $in_ecb,
            Keyed::Aes256Ecb($ecb) => $in_ecb,
            Keyed::SerpentEcb($ecb) => $in_ecb,
            #[cfg(feature = "legacy")]
            Keyed::DesEcb($ecb) => $in_ecb,
            #[cfg(feature = "legacy")]
            Keyed::TripleDesEcb($ecb) => $in_ecb,
            Keyed::Stream($stream) => $in_stream,
            Keyed::Aes128Xts($xts) => $in_xts,
            Keyed::Aes256Xts($xts) => $in_xts,
            Keyed::Null => $in_null,
        }
    };
}

pub(super) use by_mode;

impl Cipher {
    /// Expands `key`, whose length is right. The value is moved once, to the caller, from the stack
    /// right below it.
    //
    // A call of its own, so that its caller can clear that.
    #[inline(never)]
    pub(super) fn expand(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        let mut place = Self::empty(isa, algorithm);
        if let Ok(cipher) = &mut place
            && let Err(error) = cipher.rekey(key)
        {
            place = Err(error);
        }
        place
    }

    /// The place of a key, which has to be set before anything is asked.
    ///
    /// Each arm returns its result by itself: were they joined first, each would be copied. A call of
    /// its own, so that those who set keys are not as deep in the stack as this is.
    #[inline(never)]
    pub(super) fn empty(isa: Isa, algorithm: Algorithm) -> Result<Self, Error> {
        macro_rules! keyed {
            ($variant:ident, $cipher:ty) => {
                return Ok(Self { algorithm, keyed: Keyed::$variant(<$cipher>::empty(isa)) })
            };
        }
        match (algorithm.primitive(), algorithm.mode()) {
            (Primitive::Aes128, Mode::Cbc) => keyed!(Aes128Cbc, Aes<128>),
            (Primitive::Aes192, Mode::Cbc) => keyed!(Aes192Cbc, Aes<192>),
            (Primitive::Aes256, Mode::Cbc) => keyed!(Aes256Cbc, Aes<256>),
            (Primitive::Aes128, Mode::Ctr) => keyed!(Aes128Ctr, AesForward<128>),
            (Primitive::Aes192, Mode::Ctr) => keyed!(Aes192Ctr, AesForward<192>),
            (Primitive::Aes256, Mode::Ctr) => keyed!(Aes256Ctr, AesForward<256>),
            (Primitive::Aes128, Mode::Ecb) => keyed!(Aes128Ecb, Aes<128>),
            (Primitive::Aes192, Mode::Ecb) => keyed!(Aes192Ecb, Aes<192>),
            (Primitive::Aes256, Mode::Ecb) => keyed!(Aes256Ecb, Aes<256>),
            (Primitive::Aes128, Mode::Xts) => keyed!(Aes128Xts, AesXts<128>),
            (Primitive::Aes256, Mode::Xts) => keyed!(Aes256Xts, AesXts<256>),
            (Primitive::Serpent128 | Primitive::Serpent192 | Primitive::Serpent256, mode) => {
                match mode {
                    Mode::Cbc => keyed!(SerpentCbc, Serpent),
                    Mode::Ctr => keyed!(SerpentCtr, Serpent),
                    Mode::Ecb => keyed!(SerpentEcb, Serpent),
                    _ => Err(Error::Unsupported),
                }
            }
            #[cfg(feature = "legacy")]
            (Primitive::Des, Mode::Cbc) => keyed!(DesCbc, Des),
            #[cfg(feature = "legacy")]
            (Primitive::Des, Mode::Ctr) => keyed!(DesCtr, Des),
            #[cfg(feature = "legacy")]
            (Primitive::Des, Mode::Ecb) => keyed!(DesEcb, Des),
            #[cfg(feature = "legacy")]
            (Primitive::TripleDes, Mode::Cbc) => keyed!(TripleDesCbc, TripleDes),
            #[cfg(feature = "legacy")]
            (Primitive::TripleDes, Mode::Ctr) => keyed!(TripleDesCtr, TripleDes),
            #[cfg(feature = "legacy")]
            (Primitive::TripleDes, Mode::Ecb) => keyed!(TripleDesEcb, TripleDes),
            (Primitive::Null, _) => Ok(Self { algorithm, keyed: Keyed::Null }),
            _ => Ok(Self { algorithm, keyed: Keyed::Stream(StreamKey::empty(isa, algorithm)?) }),
        }
    }
}

/// The key of a stream cipher that makes a new state for each nonce.
pub(super) enum StreamKey {
    ChaCha8Djb(Kept<ChaCha<8, Counter64>>),
    ChaCha12Djb(Kept<ChaCha<12, Counter64>>),
    ChaCha20Djb(Kept<ChaCha<20, Counter64>>),
    ChaCha8Ietf(Kept<ChaCha<8, Ietf>>),
    ChaCha12Ietf(Kept<ChaCha<12, Ietf>>),
    ChaCha20Ietf(Kept<ChaCha<20, Ietf>>),
    Salsa8(Kept<Salsa<8>>),
    Salsa12(Kept<Salsa<12>>),
    Salsa20(Kept<Salsa<20>>),
    #[cfg(feature = "legacy")]
    Hc128(Zeroizing<[u8; 16]>, Isa),
}

impl StreamKey {
    fn empty(isa: Isa, algorithm: Algorithm) -> Result<Self, Error> {
        Ok(match (algorithm.primitive(), algorithm.mode()) {
            (Primitive::ChaCha8, Mode::Djb) => Self::ChaCha8Djb(Kept::empty(isa)),
            (Primitive::ChaCha12, Mode::Djb) => Self::ChaCha12Djb(Kept::empty(isa)),
            (Primitive::ChaCha20, Mode::Djb) => Self::ChaCha20Djb(Kept::empty(isa)),
            (Primitive::ChaCha8, Mode::Ietf) => Self::ChaCha8Ietf(Kept::empty(isa)),
            (Primitive::ChaCha12, Mode::Ietf) => Self::ChaCha12Ietf(Kept::empty(isa)),
            (Primitive::ChaCha20, Mode::Ietf) => Self::ChaCha20Ietf(Kept::empty(isa)),
            (Primitive::Salsa8, Mode::Stream) => Self::Salsa8(Kept::empty(isa)),
            (Primitive::Salsa12, Mode::Stream) => Self::Salsa12(Kept::empty(isa)),
            (Primitive::Salsa20, Mode::Stream) => Self::Salsa20(Kept::empty(isa)),
            #[cfg(feature = "legacy")]
            (Primitive::Hc128, Mode::Stream) => Self::Hc128(Zeroizing::new([0; 16]), isa),
            // ARC4 has no nonce: every message under its key would have the same keystream.
            _ => return Err(Error::Unsupported),
        })
    }

    /// XORs the keystream of `nonce` into `data`.
    pub(super) fn message(&self, nonce: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        match self {
            Self::ChaCha8Djb(kept) => kept.message(nonce, data),
            Self::ChaCha12Djb(kept) => kept.message(nonce, data),
            Self::ChaCha20Djb(kept) => kept.message(nonce, data),
            Self::ChaCha8Ietf(kept) => kept.message(nonce, data),
            Self::ChaCha12Ietf(kept) => kept.message(nonce, data),
            Self::ChaCha20Ietf(kept) => kept.message(nonce, data),
            Self::Salsa8(kept) => kept.message(nonce, data),
            Self::Salsa12(kept) => kept.message(nonce, data),
            Self::Salsa20(kept) => kept.message(nonce, data),
            #[cfg(feature = "legacy")]
            Self::Hc128(key, isa) => hc128(*isa, key, nonce, data),
        }
    }
}

/// The parsed key of the stream core `C`, which wipes itself.
pub(super) struct Kept<C: StreamCore> {
    pub(super) key: C::Key,
    pub(super) isa: Isa,
}

impl<C: StreamCore> Kept<C>
where
    C::Key: for<'a> From<&'a [u8; 16]> + for<'a> From<&'a [u8; 32]>,
{
    fn empty(isa: Isa) -> Self {
        Self { key: (&[0; 32]).into(), isa }
    }

    pub(super) fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.key = either(key)?;
        Ok(())
    }
}

impl<C: Seek> Kept<C> {
    #[inline]
    fn message<const N: usize>(&self, iv: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), Error>
    where
        C: StreamCore<Nonce = [u8; N]>,
    {
        let (block, nonce) = block_and_nonce(iv)?;
        let mut core = C::new(self.isa, &self.key, nonce);
        core.seek(block);
        message(core, data)
    }
}

/// The block that data begin at, and the nonce: block 0 where `iv` is the nonce alone; else it has
/// 16 bytes, of which the first are the block's number, little-endian.
#[inline]
pub(super) fn block_and_nonce<const N: usize>(iv: &[u8]) -> Result<(u64, &[u8; N]), Error> {
    const { assert!(N == 8 || N == 12) };
    if let Ok(nonce) = iv.try_into() {
        return Ok((0, nonce));
    }
    let whole: &[u8; 16] = sized(iv)?;
    let (_, nonce) = whole.split_last_chunk().expect("asserted: less than 16 bytes");
    let [a, b, c, d, e, f, g, h, ..] = *whole;
    let block = match N {
        12 => u32::from_le_bytes([a, b, c, d]).into(),
        _ => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
    };
    Ok((block, nonce))
}

/// A message under HC-128. Not inlined: the other ciphers need no room on the stack for its tables.
#[cfg(feature = "legacy")]
#[inline(never)]
fn hc128(isa: Isa, key: &[u8; 16], nonce: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
    message(Hc128::new(isa, key, sized(nonce)?), data)
}

/// XORs the keystream of a fresh core into `data`.
#[inline]
fn message<C: StreamCore>(mut core: C, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
    if data.len().div_ceil(C::BLOCK) as u64 > core.remaining() {
        return Err(Error::KeystreamExhausted);
    }
    core.xor(data);
    Ok(())
}

/// The key as an array of the length that the kernel takes.
#[inline]
pub(super) fn bytes<const N: usize>(key: &[u8]) -> Result<&[u8; N], Error> {
    key.try_into().map_err(|_| Error::KeyLength)
}

/// The key of XTS, whose halves must differ (FIPS 140-3 Implementation Guidance, C.I): with one key
/// for data and tweaks, who chooses what is encrypted learns masks. Compared in constant time.
pub(super) fn two_halves<const N: usize>(key: &[u8]) -> Result<&[u8; N], Error> {
    let key = bytes(key)?;
    let (data, tweak) = key.split_at(N / 2);
    if data.ct_eq(tweak).into() { Err(Error::WeakKey) } else { Ok(key) }
}

/// The key of a cipher that takes two lengths.
pub(super) fn either<K>(key: &[u8]) -> Result<K, Error>
where
    K: for<'a> From<&'a [u8; 16]> + for<'a> From<&'a [u8; 32]>,
{
    Ok(match key.len() {
        16 => bytes::<16>(key)?.into(),
        _ => bytes::<32>(key)?.into(),
    })
}

pub(super) fn serpent_key(key: &[u8]) -> Result<serpent::Key, Error> {
    Ok(match key.len() {
        16 => bytes::<16>(key)?.into(),
        24 => bytes::<24>(key)?.into(),
        _ => bytes::<32>(key)?.into(),
    })
}

#[cfg(feature = "legacy")]
pub(super) fn triple_des_key(key: &[u8]) -> Result<TripleDesKey, Error> {
    Ok(match key.len() {
        16 => bytes::<16>(key)?.into(),
        _ => bytes::<24>(key)?.into(),
    })
}
