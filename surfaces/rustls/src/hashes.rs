//! Hash functions, HMAC and HKDF of the suites.
//!
//! A handshake has some thirty HMACs of a block or two. What they cost in other providers is mostly
//! contexts that are allocated and keys that are hashed again; here a key is two states.

use rustls::crypto::hash::{self, HashAlgorithm, Output};
use rustls::crypto::hmac::{self, Tag};
use sha2::{Digest, Sha256, Sha384};
use zeroize::Zeroize as _;

use crate::schedule::Schedule;

/// The functions with one hash function.
pub(crate) struct Functions {
    pub(crate) hash: &'static dyn hash::Hash,
    pub(crate) hkdf: Schedule,
    #[cfg(feature = "tls12")]
    pub(crate) prf: rustls::crypto::tls12::PrfUsingHmac<'static>,
}

impl Functions {
    const fn new<H: Hashing>(of: &'static Of<H>) -> Self {
        Self {
            hash: of,
            hkdf: Schedule::new(of, of),
            #[cfg(feature = "tls12")]
            prf: rustls::crypto::tls12::PrfUsingHmac(of),
        }
    }

    /// Those with the hash function of this name, if we have it.
    pub(crate) fn of(algorithm: HashAlgorithm) -> Option<&'static Self> {
        static SHA256: Functions = Functions::new(&Of::<Sha256>::NEW);
        static SHA384: Functions = Functions::new(&Of::<Sha384>::NEW);
        match algorithm {
            HashAlgorithm::SHA256 => Some(&SHA256),
            HashAlgorithm::SHA384 => Some(&SHA384),
            _ => None,
        }
    }
}

/// A hash function of rustls.
trait Hashing: Digest + Clone + Send + Sync + 'static {
    /// The bytes of a block.
    const BLOCK: usize;
    const ALGORITHM: HashAlgorithm;
}

impl Hashing for Sha256 {
    const BLOCK: usize = 64;
    const ALGORITHM: HashAlgorithm = HashAlgorithm::SHA256;
}

impl Hashing for Sha384 {
    const BLOCK: usize = LONGEST_BLOCK;
    const ALGORITHM: HashAlgorithm = HashAlgorithm::SHA384;
}

struct Of<H>(core::marker::PhantomData<fn() -> H>);

impl<H> Of<H> {
    const NEW: Self = Self(core::marker::PhantomData);
}

impl<H: Hashing> hash::Hash for Of<H> {
    fn start(&self) -> Box<dyn hash::Context> {
        Box::new(Context(H::new()))
    }

    fn hash(&self, data: &[u8]) -> Output {
        Output::new(&H::digest(data))
    }

    fn output_len(&self) -> usize {
        <H as Digest>::output_size()
    }

    fn algorithm(&self) -> HashAlgorithm {
        H::ALGORITHM
    }
}

struct Context<H>(H);

impl<H: Hashing> hash::Context for Context<H> {
    fn fork_finish(&self) -> Output {
        Output::new(&self.0.clone().finalize())
    }

    fn fork(&self) -> Box<dyn hash::Context> {
        Box::new(Self(self.0.clone()))
    }

    fn finish(self: Box<Self>) -> Output {
        Output::new(&self.0.finalize())
    }

    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }
}

impl<H: Hashing> hmac::Hmac for Of<H> {
    fn with_key(&self, key: &[u8]) -> Box<dyn hmac::Key> {
        Box::new(Key::<H>::new(key))
    }

    fn hash_output_len(&self) -> usize {
        <H as Digest>::output_size()
    }
}

/// The longest block, that of SHA-384.
const LONGEST_BLOCK: usize = 128;

/// The states after the padded key. They are wiped on drop.
struct Key<H> {
    inner: H,
    outer: H,
}

impl<H: Hashing> Key<H> {
    fn new(key: &[u8]) -> Self {
        let mut room = [0; LONGEST_BLOCK];
        let block = &mut room[..H::BLOCK];
        if let Some(start) = block.get_mut(..key.len()) {
            start.copy_from_slice(key);
        } else {
            block[..<H as Digest>::output_size()].copy_from_slice(&H::digest(key));
        }
        let mut state = |pad: u8| {
            block.iter_mut().for_each(|byte| *byte ^= pad);
            H::new().chain_update(&*block)
        };
        // The second time, the first padding goes and the second one comes.
        let key = Self { inner: state(0x36), outer: state(0x36 ^ 0x5c) };
        room.zeroize();
        key
    }
}

impl<H: Hashing> hmac::Key for Key<H> {
    fn sign_concat(&self, first: &[u8], middle: &[&[u8]], last: &[u8]) -> Tag {
        let mut inner = self.inner.clone();
        inner.update(first);
        middle.iter().for_each(|part| inner.update(part));
        inner.update(last);
        let mut hash = inner.finalize();
        let mut tag = self.outer.clone().chain_update(&hash).finalize();
        let made = Tag::new(&tag);
        hash.as_mut_slice().zeroize();
        tag.as_mut_slice().zeroize();
        made
    }

    fn tag_len(&self) -> usize {
        <H as Digest>::output_size()
    }
}
