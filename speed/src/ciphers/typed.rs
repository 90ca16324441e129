//! Our kernels below the checked layer: they take blocks and check nothing.

use core::hint::black_box;
use core::marker::PhantomData;

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_kernels::aes::{Aes, AesForward};
use lanecrypt_kernels::chacha::{self, ChaCha, Ietf};
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, StreamCore};
use lanecrypt_kernels_legacy::des::{Des, TripleDes, TripleDesKey};
use lanecrypt_kernels_legacy::serpent::{self, Serpent};
use lanecrypt_peers::{Cipher, Crypt, Direction, Failed, cipher};

/// A session for each key, by kernels of `isa`.
pub(crate) fn open(
    algorithm: Algorithm,
    isa: Isa,
    direction: Direction,
    keys: &[&[u8]],
) -> Option<Box<dyn Cipher>> {
    let encrypts = direction == Direction::Encrypt;
    match (algorithm.to_string().as_str(), encrypts) {
        ("aes-128-cbc", true) => sessions::<Mode<Encrypting<AesForward<128>>, 16>>(isa, keys),
        ("aes-128-cbc", false) => sessions::<Mode<Decrypting<Aes<128>>, 16>>(isa, keys),
        ("aes-128-ctr", _) => sessions::<Mode<Counting<AesForward<128>>, 16>>(isa, keys),
        ("serpent-128-cbc", true) => sessions::<Mode<Encrypting<Serpent>, 16>>(isa, keys),
        ("serpent-128-cbc", false) => sessions::<Mode<Decrypting<Serpent>, 16>>(isa, keys),
        ("serpent-128-ctr", _) => sessions::<Mode<Counting<Serpent>, 16>>(isa, keys),
        ("des-cbc", true) => sessions::<Mode<Encrypting<Des>, 8>>(isa, keys),
        ("des-cbc", false) => sessions::<Mode<Decrypting<Des>, 8>>(isa, keys),
        ("3des-cbc", true) => sessions::<Mode<Encrypting<TripleDes>, 8>>(isa, keys),
        ("3des-cbc", false) => sessions::<Mode<Decrypting<TripleDes>, 8>>(isa, keys),
        ("chacha20-ietf", _) => sessions::<ChaCha20>(isa, keys),
        _ => None,
    }
}

fn sessions<C: FromKey>(isa: Isa, keys: &[&[u8]]) -> Option<Box<dyn Cipher>> {
    let sessions: Result<Vec<C>, Failed> = keys.iter().map(|key| C::from_key(isa, key)).collect();
    cipher(sessions.ok()?)
}

/// A cipher that is made from a key.
trait FromKey: Crypt + Send + Sized + 'static {
    fn from_key(isa: Isa, key: &[u8]) -> Result<Self, Failed>;
}

/// A key as the kernels take it.
trait Parse: Sized {
    fn parse(key: &[u8]) -> Result<Self, Failed>;
}

impl<const N: usize> Parse for [u8; N] {
    #[inline]
    fn parse(key: &[u8]) -> Result<Self, Failed> {
        array(key).copied()
    }
}

impl Parse for serpent::Key {
    #[inline]
    fn parse(key: &[u8]) -> Result<Self, Failed> {
        Ok(Self::from(array::<16>(key)?))
    }
}

impl Parse for TripleDesKey {
    #[inline]
    fn parse(key: &[u8]) -> Result<Self, Failed> {
        Ok(Self::from(array::<24>(key)?))
    }
}

impl Parse for chacha::Key {
    #[inline]
    fn parse(key: &[u8]) -> Result<Self, Failed> {
        Ok(Self::from(array::<32>(key)?))
    }
}

#[inline]
fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Failed> {
    bytes.try_into().or(Err(Failed))
}

/// A block cipher in a mode.
trait Apply<const N: usize> {
    type Cipher: BlockEncrypt<N>;

    fn apply(cipher: &Self::Cipher, iv: &mut [u8; N], data: &mut [u8]);
}

/// CBC, forward.
struct Encrypting<C>(PhantomData<C>);
/// CBC, backward.
struct Decrypting<C>(PhantomData<C>);
/// CTR.
struct Counting<C>(PhantomData<C>);

impl<C: BlockEncrypt<N>, const N: usize> Apply<N> for Encrypting<C> {
    type Cipher = C;

    #[inline]
    fn apply(cipher: &C, iv: &mut [u8; N], data: &mut [u8]) {
        cipher.cbc_encrypt(iv, data.as_chunks_mut().0.into());
    }
}

impl<C: BlockCipher<N>, const N: usize> Apply<N> for Decrypting<C> {
    type Cipher = C;

    #[inline]
    fn apply(cipher: &C, iv: &mut [u8; N], data: &mut [u8]) {
        cipher.cbc_decrypt(iv, data.as_chunks_mut().0.into());
    }
}

impl<C: BlockEncrypt<N>, const N: usize> Apply<N> for Counting<C> {
    type Cipher = C;

    #[inline]
    fn apply(cipher: &C, iv: &mut [u8; N], data: &mut [u8]) {
        cipher.ctr(iv, data.into());
    }
}

/// A session of a block cipher in a mode.
struct Mode<M: Apply<N>, const N: usize> {
    cipher: M::Cipher,
    iv: [u8; N],
    isa: Isa,
}

impl<M: Apply<N>, const N: usize> Crypt for Mode<M, N>
where
    <M::Cipher as BlockEncrypt<N>>::Key: Parse,
{
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.iv = *array(iv)?;
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        M::apply(&self.cipher, &mut self.iv, data);
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.cipher = M::Cipher::new(self.isa, &Parse::parse(key)?);
        Ok(())
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        let cipher = M::Cipher::new(self.isa, &Parse::parse(key)?);
        black_box(&mut Self { cipher, iv: *array(iv)?, isa: self.isa });
        Ok(())
    }
}

impl<M: Apply<N> + 'static, const N: usize> FromKey for Mode<M, N>
where
    M::Cipher: Send,
    <M::Cipher as BlockEncrypt<N>>::Key: Parse,
{
    fn from_key(isa: Isa, key: &[u8]) -> Result<Self, Failed> {
        Ok(Self { cipher: M::Cipher::new(isa, &Parse::parse(key)?), iv: [0; N], isa })
    }
}

/// A session of ChaCha20 as RFC 8439 defines it: the key is kept, each nonce makes a core.
struct ChaCha20 {
    key: chacha::Key,
    core: ChaCha<20, Ietf>,
    /// Whether the message cannot be continued.
    ended: bool,
    isa: Isa,
}

impl Crypt for ChaCha20 {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.core = ChaCha::new(self.isa, &self.key, array(iv)?);
        self.ended = false;
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        if self.ended {
            return Err(Failed);
        }
        // The kernel drops the rest of a block.
        self.ended = !data.len().is_multiple_of(64);
        self.core.xor(data.into());
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.key = Parse::parse(key)?;
        Ok(())
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        let mut made = Self::from_key(self.isa, key)?;
        made.start(iv)?;
        black_box(&mut made);
        Ok(())
    }
}

impl FromKey for ChaCha20 {
    fn from_key(isa: Isa, key: &[u8]) -> Result<Self, Failed> {
        let key = Parse::parse(key)?;
        Ok(Self { core: ChaCha::new(isa, &key, &[0; 12]), key, ended: false, isa })
    }
}
