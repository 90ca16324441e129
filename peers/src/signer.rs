//! RSA signatures as the tables measure them, and their loops, written once for all.

use crate::loops::{Addressed, Loops, Messages, Run};
use crate::peer::{Kind, Open, Versioned};

use crate::{Direction, Failed, Peer, SIGNATURES};

mod known;

use known::KNOWN;

/// The numbers of an RSA private key, most significant byte first.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "measuring code makes it, field by field")]
pub struct RsaKey<'a> {
    /// The modulus.
    pub n: &'a [u8],
    /// The public exponent.
    pub e: &'a [u8],
    /// The private exponent.
    pub d: &'a [u8],
    /// p, q, d modulo p - 1, d modulo q - 1 and the inverse of q modulo p, if they are to be used.
    pub crt: Option<[&'a [u8]; 5]>,
}

/// A message, its digest and its signature, under the key of a session.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "measuring code makes it, field by field")]
pub struct Signature<'a> {
    /// The index of the session that has its key.
    pub session: usize,
    /// The message, for APIs that take no digest.
    pub message: &'a [u8],
    /// Its digest by SHA-256.
    pub digest: &'a [u8; 32],
    /// The signature, as long as the modulus: written or checked.
    pub signature: &'a mut [u8],
}

impl Addressed for Signature<'_> {
    #[inline]
    fn session(&self) -> usize {
        self.session
    }
}

/// RSA signatures with PKCS#1 v1.5 and SHA-256, made or checked. A wrong signature is a failed
/// request.
pub trait Signer: for<'m> Messages<Signature<'m>> {}

impl<T: for<'m> Messages<Signature<'m>>> Signer for T {}

/// One key: an API's calls for one signature.
///
/// Every peer implements it, and so can callers for their own.
pub trait Signing {
    /// Signs a message, or its digest.
    ///
    /// # Errors
    ///
    /// [`Failed`] if a call failed.
    fn sign(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed>;

    /// Checks a signature.
    ///
    /// # Errors
    ///
    /// [`Failed`] if it is wrong, or a call failed.
    fn verify(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed>;
}

/// Wraps `sessions`, which differ in their keys only, in the measured loops; `None` without any.
/// [`Direction::Encrypt`] signs, [`Direction::Decrypt`] checks.
#[must_use]
pub fn signer<S: Signing + Send + 'static>(
    direction: Direction,
    sessions: Vec<S>,
) -> Option<Box<dyn Signer>> {
    Some(Box::new(Signatures(Loops::new(direction, sessions)?)))
}

/// The loops, as a type of its own because sessions of other kinds have them, too.
struct Signatures<S>(Loops<S>);

impl<S: Signing + Send> Messages<Signature<'_>> for Signatures<S> {
    fn messages(&mut self, signatures: &mut [Signature<'_>], run: Run<'_>) -> Result<(), Failed> {
        Failed::unless(run.keys.is_none())?;
        let no_key = |_: &mut S, _: &[u8]| Err(Failed);
        match self.0.direction {
            Direction::Encrypt => self.0.each(signatures, run, no_key, S::sign),
            Direction::Decrypt => self.0.each(signatures, run, no_key, S::verify),
        }
    }
}

/// The number of parts that a key has.
const PARTS: usize = 8;

impl Peer<dyn Signer> {
    /// A peer of the library that was `found`, or the hint how to get it. `open` makes a session of
    /// one key.
    pub(crate) fn signer<L: Versioned, S: Signing + Send + 'static>(
        [source, api]: [&'static str; 2],
        found: &Result<L, String>,
        open: impl Fn(&L, Direction, &RsaKey<'_>) -> Result<S, Failed> + Send + Sync + 'static,
    ) -> Self {
        Self::new([source, api, SIGNATURES], found, move |library, direction, parts| {
            let keys = parts.chunks_exact(PARTS).map(|parts| {
                let [n, e, d, crt @ ..] = parts else { return Err(Failed) };
                let crt = <[&[u8]; 5]>::try_from(crt).map_err(|_| Failed)?;
                let crt = (!crt[0].is_empty()).then_some(crt);
                open(library, direction, &RsaKey { n, e, d, crt })
            });
            signer(direction, keys.collect::<Result<_, _>>().ok()?)
        })
    }

    /// A signer with one session for each key; `None` if the peer is missing or refuses a key, as
    /// some do with short keys and with those that do not know their primes, or if there are no
    /// keys. [`Direction::Encrypt`] signs, [`Direction::Decrypt`] checks.
    ///
    /// Any number of threads may call it at the same time.
    #[must_use]
    pub fn with_keys(&self, direction: Direction, keys: &[RsaKey<'_>]) -> Option<Box<dyn Signer>> {
        let mut parts: Vec<&[u8]> = Vec::with_capacity(PARTS * keys.len());
        for key in keys {
            parts.extend([key.n, key.e, key.d]);
            parts.extend(key.crt.unwrap_or_default());
        }
        let Open(open) = &self.open;
        open(direction, &parts)
    }
}

impl Kind for dyn Signer {
    fn fault(peer: &Peer<Self>) -> Option<String> {
        (!works(peer)).then(|| "has no working RSA here".to_owned())
    }
}

/// Whether a signature that is published is made and accepted, and a wrong one is refused.
fn works(peer: &Peer<dyn Signer>) -> bool {
    tried(peer).unwrap_or(false)
}

fn tried(peer: &Peer<dyn Signer>) -> Option<bool> {
    let key = KNOWN.key();
    let mut made = vec![0; key.n.len()];
    let call = |direction, made: &mut [u8]| {
        let (message, digest) = (KNOWN.message, KNOWN.digest);
        let signature = Signature { session: 0, message, digest, signature: made };
        let mut signer = peer.with_keys(direction, &[key])?;
        Some(signer.messages(&mut [signature], Run::of(1)))
    };
    call(Direction::Encrypt, &mut made)?.ok()?;
    let is_right = made == KNOWN.signature;
    call(Direction::Decrypt, &mut made)?.ok()?;
    made[7] ^= 1;
    let forged = call(Direction::Decrypt, &mut made)?;
    Some(is_right && forged.is_err())
}
