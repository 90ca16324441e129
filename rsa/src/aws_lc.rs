//! Signatures by AWS-LC.
//!
//! AWS-LC blinds private operations, with a pair of numbers that it keeps for a key and squares,
//! and renews from time to time. It raises every result to the public exponent, compares, and then
//! removes the blinding by a product modulo n, whose errors reveal nothing
//! (`rsa_default_private_transform` in `crypto/fipsmodule/rsa/rsa_impl.c` of AWS-LC 5.12). It wipes
//! all memory that it frees.

mod cost;
mod keys;
#[cfg(test)]
mod tests;

use arrayvec::ArrayVec;
use aws_lc_rs::digest;
use aws_lc_rs::rsa::{KeyPair, KeyPairComponents, PublicKeyComponents};
use aws_lc_rs::signature::{
    self as aws_lc, ParsedPublicKey, RsaEncoding, RsaParameters, VerificationAlgorithm,
};
use lanecrypt_kernels::montgomery::{has_lanes, has_single};
use lanecrypt_kernels::{Isa, Level};

pub(crate) use self::keys::{Signer, Verifier};
use crate::components::Components;
use crate::hash::Digest;
use crate::numbers::trimmed;
use crate::request::{AT_ONCE, Work};
use crate::{Error, Hash, Padding, PrivateKey, PublicKey, Request};

/// The fewest bits of a key.
const MIN_BITS: usize = 2048;

/// How a digest is signed.
struct Method {
    signs: &'static dyn RsaEncoding,
    verifies: &'static RsaParameters,
    hash: &'static digest::Algorithm,
    /// Its place in a [`Verifier`].
    place: usize,
}

impl Method {
    /// None if AWS-LC has no such method.
    fn of(padding: Padding) -> Option<Self> {
        let (signs, verifies, place): (&'static dyn RsaEncoding, _, _) =
            match (padding.hash(), padding.is_usual_pss()?) {
                (Hash::SHA256, false) => {
                    (&aws_lc::RSA_PKCS1_SHA256, &aws_lc::RSA_PKCS1_2048_8192_SHA256, 0)
                }
                (Hash::SHA384, false) => {
                    (&aws_lc::RSA_PKCS1_SHA384, &aws_lc::RSA_PKCS1_2048_8192_SHA384, 1)
                }
                (Hash::SHA512, false) => {
                    (&aws_lc::RSA_PKCS1_SHA512, &aws_lc::RSA_PKCS1_2048_8192_SHA512, 2)
                }
                (Hash::SHA256, true) => {
                    (&aws_lc::RSA_PSS_SHA256, &aws_lc::RSA_PSS_2048_8192_SHA256, 3)
                }
                (Hash::SHA384, true) => {
                    (&aws_lc::RSA_PSS_SHA384, &aws_lc::RSA_PSS_2048_8192_SHA384, 4)
                }
                (Hash::SHA512, true) => {
                    (&aws_lc::RSA_PSS_SHA512, &aws_lc::RSA_PSS_2048_8192_SHA512, 5)
                }
                #[cfg(feature = "legacy")]
                (Hash::LEGACY_SHA1, _) => return None,
            };
        let hash = [&digest::SHA256, &digest::SHA384, &digest::SHA512][place % 3];
        Some(Self { signs, verifies, hash, place })
    }

    fn digest(&self, digest: &Digest) -> Option<digest::Digest> {
        digest::Digest::import_less_safe(digest.bytes(), self.hash).ok()
    }
}

impl Signer {
    /// Signs, unless AWS-LC fails; then nothing is written.
    fn sign(
        &self,
        key: &PrivateKey,
        padding: Padding,
        digest: &Digest,
        signature: &mut [u8],
    ) -> Option<()> {
        let method = Method::of(padding)?;
        let pair = self.pair.get_or_init(|| key.with_components(pair)).as_ref()?;
        pair.sign_digest(method.signs, &method.digest(digest)?, signature).ok()
    }
}

fn pair(components: &Components<'_>) -> Option<Box<KeyPair>> {
    let Components { n, e, d, crt } = components;
    let crt = crt.as_ref()?;
    let pair = KeyPair::from_components(&KeyPairComponents {
        public_key: PublicKeyComponents { n: trimmed(n), e: trimmed(e) },
        d: *d,
        p: crt.p,
        q: crt.q,
        dP: crt.dp,
        dQ: crt.dq,
        qInv: crt.qinv,
    });
    pair.ok().map(Box::new)
}

impl Verifier {
    /// Whether a signature is right; none if AWS-LC does not take the key.
    fn verify(
        &self,
        key: &PublicKey,
        padding: Padding,
        digest: &Digest,
        signature: &[u8],
    ) -> Option<bool> {
        let method = Method::of(padding)?;
        let parsed = self.0[method.place].get_or_init(|| {
            let algorithm: &'static dyn VerificationAlgorithm = method.verifies;
            ParsedPublicKey::new(algorithm, key.to_pkcs1_der()).ok().map(Box::new)
        });
        let digest = method.digest(digest)?;
        Some(parsed.as_ref()?.verify_digest_sig(&digest, signature).is_ok())
    }
}

/// Signs a digest by this crate. Whether it could.
pub(crate) type SignsHere = fn(&PrivateKey, Padding, &[u8], &mut [u8]) -> bool;

/// Serves the requests of a batch that AWS-LC can serve, or only those that cost less by it than by
/// this function. What it refuses is left as it is.
pub(crate) fn serve(batch: &mut [Request<'_>], only_cheaper: Option<SignsHere>) {
    let chosen: ArrayVec<usize, AT_ONCE> = match only_cheaper {
        Some(own) => cheaper(batch, own),
        None => (0..batch.len()).filter(|&i| takes(&batch[i])).collect(),
    };
    for i in chosen {
        let request = &mut batch[i];
        match &mut request.work {
            Work::Sign { key, padding, digest: Some(digest), signature, .. } => {
                let made = key.aws_lc.sign(key, *padding, digest, signature);
                request.outcome = made.map(Ok);
            }
            Work::Verify { key, padding, digest: Some(digest), signature } => {
                let right = key.aws_lc.verify(key, *padding, digest, signature);
                request.outcome =
                    right.map(|right| if right { Ok(()) } else { Err(Error::Signature) });
            }
            _ => {}
        }
    }
}

/// Whether AWS-LC can serve a request, which has to be one without an error in it.
fn takes(request: &Request<'_>) -> bool {
    let (padding, digest, length) = match &request.work {
        Work::Sign { key, padding, digest, salt: None, signature } if key.has_primes() => {
            (padding, digest, signature.len())
        }
        Work::Verify { padding, digest, signature, .. } => (padding, digest, signature.len()),
        _ => return false,
    };
    let key = request.public_key();
    let is_whole = digest.as_ref().is_some_and(|d| d.bytes().len() == padding.hash().length());
    request.outcome.is_none()
        && is_whole
        && length == key.signature_length()
        && takes_key(key, *padding)
}

/// Whether AWS-LC takes signatures of a key, with this padding.
pub(crate) fn takes_key(key: &PublicKey, padding: Padding) -> bool {
    takes_size(key.bits()) && Method::of(padding).is_some()
}

/// Whether AWS-LC takes keys of so many bits.
pub(crate) fn takes_size(bits: usize) -> bool {
    (MIN_BITS..=crate::MAX_BITS).contains(&bits)
}

/// The requests that cost less by AWS-LC: all that it takes where this crate only has its portable
/// kernel, and otherwise the signatures that do not fill lanes, if it makes them faster.
fn cheaper(batch: &[Request<'_>], own: SignsHere) -> ArrayVec<usize, AT_ONCE> {
    let mut chosen = ArrayVec::new();
    let mut sizes = ArrayVec::<_, AT_ONCE>::new();
    for (i, request) in batch.iter().enumerate() {
        let modulus = request.public_key().modulus();
        if !has_single(modulus.isa()) {
            if takes(request) {
                chosen.push(i);
            }
        } else if let Some(bits) = contested_size(request)
            && !sizes.contains(&bits)
        {
            sizes.push(bits);
            let same = (i..batch.len()).filter(|&at| contested_size(&batch[at]) == Some(bits));
            let count = same.clone().count();
            let rest = if has_lanes(modulus.isa()) { cost::rest(count) } else { count };
            let taken = same.filter(|&at| takes(&batch[at])).take(rest);
            chosen.extend(taken.filter(|&at| pays(&batch[at], bits, own)));
        }
    }
    chosen
}

/// Whether AWS-LC makes a signature faster, and its form of the key is there or should be by now.
fn pays(request: &Request<'_>, bits: usize, own: SignsHere) -> bool {
    let Work::Sign { key, padding, digest: Some(digest), .. } = &request.work else { return false };
    let mut signature = vec![0; key.signature_length()];
    let mut again = signature.clone();
    key.aws_lc.pays()
        && cost::is_faster(
            bits,
            || own(key, *padding, digest.bytes(), &mut signature),
            || key.aws_lc.sign(key, *padding, digest, &mut again).is_some(),
        )
}

/// The bits of the key of a request to sign that AWS-LC may make faster. It shares lanes with those
/// of the same size.
fn contested_size(request: &Request<'_>) -> Option<usize> {
    let key = request.private_key().filter(|_| request.outcome.is_none())?;
    let (primes, bits) = (key.primes()?, key.public_key().bits());
    let is_contested = may_be_faster(primes.p.isa(), bits)
        && [&primes.p, &primes.q].iter().all(|prime| 2 * prime.bits() == bits);
    is_contested.then_some(bits)
}

/// Whether AWS-LC may make a single signature by a key of so many bits faster than this crate.
pub(crate) fn may_be_faster(isa: Isa, bits: usize) -> bool {
    match has_single(isa) {
        true => (isa.has(Level::Avx512) || isa.has(Level::Neon)) && cost::has_kernel(bits),
        false => takes_size(bits),
    }
}
