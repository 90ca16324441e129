//! The crates `aes`, `cbc`, `ctr`, `serpent`, `des` and `chacha20`, used as in a program that keeps
//! a key and sets an IV for each message.

use core::mem;
use core::ptr::NonNull;

use aes::Aes128;
use cbc::{Decryptor, Encryptor};
use chacha20::ChaCha20;
use cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, InnerIvInit, Iv, Key, KeyInit, KeyIvInit, SetIvState, StreamCipher,
    StreamCipherCoreWrapper,
};
use ctr::{CtrCore, flavors::Ctr128BE};
use des::{Des, TdesEde3};
use serpent::Serpent;

use crate::{Cipher, Crypt, Direction, Failed, Peer};

// A crate's version cannot be asked for, so they stand here; tests/peers/crate_versions.rs holds
// them to the lock file.
const AES_CBC: &str = "aes 0.9.4, cbc 0.2.1";
const AES_CTR: &str = "aes 0.9.4, ctr 0.10.1";
const SERPENT_CBC: &str = "serpent 0.6.0, cbc 0.2.1";
const SERPENT_CTR: &str = "serpent 0.6.0, ctr 0.10.1";
const DES_CBC: &str = "des 0.9.0, cbc 0.2.1";
const CHACHA: &str = "chacha20 0.10.2";

pub(super) fn all() -> Vec<Peer<dyn Cipher>> {
    vec![
        cbc::<Aes128>("aes-128-cbc", AES_CBC),
        peer("aes-128-ctr", AES_CTR, |_, key| Counter::<Aes128>::new(key)),
        cbc::<Serpent>("serpent-128-cbc", SERPENT_CBC),
        peer("serpent-128-ctr", SERPENT_CTR, |_, key| Counter::<Serpent>::new(key)),
        cbc::<Des>("des-cbc", DES_CBC),
        cbc::<TdesEde3>("3des-cbc", DES_CBC),
        peer("chacha20-ietf", CHACHA, |_, key| Stream::<ChaCha20>::new(key)),
    ]
}

fn peer<C: Crypt + Send + 'static>(
    algorithm: &'static str,
    versions: &'static str,
    open: impl Fn(Direction, &[u8]) -> Result<C, Failed> + Send + Sync + 'static,
) -> Peer<dyn Cipher> {
    let names = ["rustcrypto", "crate", algorithm];
    Peer::keyed(names, &Ok(versions), move |_, direction, key| open(direction, key))
}

fn cbc<C>(algorithm: &'static str, versions: &'static str) -> Peer<dyn Cipher>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit + Send + 'static,
{
    peer(algorithm, versions, |direction, key| Chain::<C>::new(direction, key))
}

#[inline]
fn schedule<C: KeyInit>(key: &[u8]) -> Result<C, Failed> {
    let key: &Key<C> = key.try_into().map_err(|_| Failed)?;
    Ok(C::new(key))
}

/// CBC in one direction. The direction is checked at every call; the processor predicts the branch.
pub(super) enum Chain<C: BlockCipherEncrypt + BlockCipherDecrypt> {
    Encrypt(Encryptor<C>),
    Decrypt(Decryptor<C>),
}

impl<C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit> Chain<C> {
    pub(super) fn new(direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        Self::with_iv(direction, key, &Array::default())
    }

    #[inline]
    fn with_iv(
        direction: Direction,
        key: &[u8],
        iv: &Array<u8, C::BlockSize>,
    ) -> Result<Self, Failed> {
        let cipher = schedule::<C>(key)?;
        Ok(match direction {
            Direction::Encrypt => Self::Encrypt(Encryptor::inner_iv_init(cipher, iv)),
            Direction::Decrypt => Self::Decrypt(Decryptor::inner_iv_init(cipher, iv)),
        })
    }

    const fn direction(&self) -> Direction {
        match self {
            Self::Encrypt(_) => Direction::Encrypt,
            Self::Decrypt(_) => Direction::Decrypt,
        }
    }
}

impl<C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit> Crypt for Chain<C> {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        let iv = array::<C>(iv)?;
        match self {
            Self::Encrypt(mode) => mode.set_iv(iv),
            Self::Decrypt(mode) => mode.set_iv(iv),
        }
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        let (blocks, []) = Array::slice_as_chunks_mut(data) else { return Err(Failed) };
        match self {
            Self::Encrypt(mode) => mode.encrypt_blocks(blocks),
            Self::Decrypt(mode) => mode.decrypt_blocks(blocks),
        }
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        *self = Self::new(self.direction(), key)?;
        Ok(())
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        core::hint::black_box(Self::with_iv(self.direction(), key, array::<C>(iv)?)?);
        Ok(())
    }
}

#[inline]
fn array<C: BlockSizeUser>(iv: &[u8]) -> Result<&Array<u8, C::BlockSize>, Failed> {
    iv.try_into().map_err(|_| Failed)
}

/// Counter mode with a 128-bit big-endian counter.
struct Counter<C>
where
    C: BlockCipherEncrypt<BlockSize = cipher::consts::U16> + 'static,
{
    /// The message, if one has begun; it borrows the cipher.
    message: Option<StreamCipherCoreWrapper<CtrCore<&'static C, Ctr128BE>>>,
    cipher: Pinned<C>,
}

impl<C> Counter<C>
where
    C: BlockCipherEncrypt<BlockSize = cipher::consts::U16> + KeyInit + 'static,
{
    fn new(key: &[u8]) -> Result<Self, Failed> {
        let cipher = Pinned::new(schedule::<C>(key)?);
        Ok(Self { message: None, cipher })
    }
}

impl<C> Crypt for Counter<C>
where
    C: BlockCipherEncrypt<BlockSize = cipher::consts::U16> + KeyInit + 'static,
{
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        let iv = array::<C>(iv)?;
        // SAFETY: the message is the only place for this reference; it goes before the cipher is
        // replaced or freed (`key`, and the order of the fields).
        let cipher = unsafe { self.cipher.borrow() };
        let core = CtrCore::inner_iv_init(cipher, iv);
        self.message = Some(StreamCipherCoreWrapper::from_core(core));
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        let message = self.message.as_mut().ok_or(Failed)?;
        message.try_apply_keystream(data).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        let cipher = schedule::<C>(key)?;
        self.message = None;
        self.cipher.replace(cipher);
        Ok(())
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        let cipher = schedule::<C>(key)?;
        let core = CtrCore::<C, Ctr128BE>::inner_iv_init(cipher, array::<C>(iv)?);
        core::hint::black_box(StreamCipherCoreWrapper::from_core(core));
        Ok(())
    }
}

/// A value at an address that does not change when its owner moves, so that a field beside it can
/// borrow it.
struct Pinned<T>(NonNull<T>);

impl<T> Pinned<T> {
    fn new(value: T) -> Self {
        Self(NonNull::from(Box::leak(Box::new(value))))
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// The reference is not used any more when the value is replaced or dropped.
    #[inline]
    unsafe fn borrow(&self) -> &'static T {
        // SAFETY: the value exists until `drop`, and the caller guarantees the rest.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    fn replace(&mut self, value: T) {
        // SAFETY: callers of `borrow` have guaranteed that they do not use it any more.
        let place = unsafe { self.0.as_mut() };
        drop(mem::replace(place, value));
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // SAFETY: `new` took the pointer from a box, and the value is not used any more.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

// SAFETY: it owns its value, as a box does; the borrower moves along with it.
unsafe impl<T: Send + Sync> Send for Pinned<T> {}

/// A stream cipher that has no schedule: a message is a new cipher.
struct Stream<C: KeyIvInit> {
    message: Option<C>,
    key: Key<C>,
}

impl<C: KeyIvInit> Stream<C> {
    fn new(key: &[u8]) -> Result<Self, Failed> {
        let key: &Key<C> = key.try_into().map_err(|_| Failed)?;
        Ok(Self { message: None, key: key.clone() })
    }
}

impl<C: KeyIvInit + StreamCipher> Crypt for Stream<C> {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        let iv: &Iv<C> = iv.try_into().map_err(|_| Failed)?;
        self.message = Some(C::new(&self.key, iv));
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        let message = self.message.as_mut().ok_or(Failed)?;
        message.try_apply_keystream(data).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.message = None;
        self.key = key.try_into().map_err(|_| Failed)?;
        Ok(())
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        core::hint::black_box(C::new_from_slices(key, iv).map_err(|_| Failed)?);
        Ok(())
    }
}
