//! Operations by AWS-LC, one at a time.
//!
//! AWS-LC has more than one answer where this crate has one, so keys and signatures are checked
//! before it sees them. What it fails to do is left to this crate, which returns the right error.

mod keys;
mod raw;

use aws_lc_rs::agreement::{self, UnparsedPublicKey, agree};
use aws_lc_rs::digest;
use aws_lc_rs::kem::{self, ML_KEM_768};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, ParsedPublicKey,
    VerificationAlgorithm,
};

pub(crate) use self::keys::{Agreement, MlKem768, Signer, Verifier};
use crate::library::x25519_result;
use crate::options::Options;
use crate::request::{Hedge, Work};
use crate::{Backend, Error, ed25519, p256};

/// Serves a request, if AWS-LC should and can.
pub(crate) fn serve(work: &mut Work<'_>, options: &Options) -> Option<Result<(), Error>> {
    match options.backend {
        Backend::Own | Backend::Lanes => None,
        Backend::Measured | Backend::AwsLc => run(work, options),
    }
}

fn run(work: &mut Work<'_>, options: &Options) -> Option<Result<(), Error>> {
    match work {
        Work::X25519PublicKey { secret, public } => {
            raw::x25519_public_key(secret.as_bytes(), public);
        }
        Work::X25519SharedSecret { secret, public, shared } => {
            let result = raw::x25519(secret.as_bytes(), public.as_bytes());
            return Some(x25519_result(&result, shared));
        }
        Work::Ed25519Sign { key, message, signature } => {
            let public = key.verifying_key();
            let made = raw::ed25519_sign(message, key.as_bytes(), public.as_bytes())?;
            if options.checks_signatures && !ed25519_verify(public, message, &made) {
                return Some(Err(Error::Fault));
            }
            **signature = made;
        }
        Work::Ed25519Verify { key, message, signature } => {
            return Some(verdict(ed25519_verify(key, message, signature)));
        }
        Work::P256PublicKey { secret, public } => {
            **public = raw::p256_public_key(secret.as_bytes())?;
        }
        Work::P256SharedSecret { secret, public, shared } => {
            let public = UnparsedPublicKey::new(&agreement::ECDH_P256, public.as_sec1_bytes());
            agree(p256_key(secret)?, public, (), |result| {
                **shared = result.try_into().map_err(|_| ())?;
                Ok(())
            })
            .ok()?;
        }
        Work::P256Sign { key, digest, hedge: Hedge::Random, signature } => {
            let pair = key.aws_lc.get(|| {
                let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let public = key.public_key().as_sec1_bytes();
                EcdsaKeyPair::from_private_key_and_public_key(algorithm, key.as_bytes(), public)
            })?;
            let made = pair.sign_digest(&imported(digest)?).ok()?;
            let made = made.as_ref().try_into().ok()?;
            if options.checks_signatures && !p256_verify(key.public_key(), digest, made)? {
                return Some(Err(Error::Fault));
            }
            **signature = *made;
        }
        Work::P256Verify { key, digest, signature } => {
            return Some(verdict(p256_verify(key, digest, signature)?));
        }
        Work::MlKem768Encapsulate { key, message: None, ciphertext, shared } => {
            let key = kem::EncapsulationKey::new(&ML_KEM_768, key.as_bytes()).ok()?;
            let (made, secret) = key.encapsulate().ok()?;
            let made = made.as_ref().try_into().ok()?;
            **shared = secret.as_ref().try_into().ok()?;
            **ciphertext = made;
        }
        Work::MlKem768Decapsulate { key, ciphertext, shared } => {
            let own = key
                .aws_lc
                .get(|| kem::DecapsulationKey::new(&ML_KEM_768, &key.to_expanded()[..]))?;
            let secret = own.decapsulate(ciphertext[..].into()).ok()?;
            **shared = secret.as_ref().try_into().ok()?;
        }
        // AWS-LC draws by itself, and has no keys of seeds.
        Work::P256Sign { hedge: Hedge::Given(_), .. }
        | Work::MlKem768Encapsulate { message: Some(_), .. }
        | Work::MlKem768Generate { .. } => return None,
    }
    Some(Ok(()))
}

fn p256_key(secret: &p256::SecretKey) -> Option<&agreement::PrivateKey> {
    let make = || agreement::PrivateKey::from_private_key(&agreement::ECDH_P256, secret.as_bytes());
    secret.aws_lc.get(make)
}

/// Whether a signature is right.
fn ed25519_verify(key: &ed25519::VerifyingKey, message: &[u8], signature: &[u8; 64]) -> bool {
    !ed25519::has_small_order(signature) && raw::ed25519_verify(message, key.as_bytes(), signature)
}

/// Whether a signature is right.
fn p256_verify(key: &p256::PublicKey, digest: &[u8; 32], signature: &[u8; 64]) -> Option<bool> {
    let algorithm: &'static dyn VerificationAlgorithm = &ECDSA_P256_SHA256_FIXED;
    let parsed = key.aws_lc.get(|| ParsedPublicKey::new(algorithm, key.as_sec1_bytes()))?;
    Some(parsed.verify_digest_sig(&imported(digest)?, signature).is_ok())
}

fn imported(digest: &[u8; 32]) -> Option<digest::Digest> {
    digest::Digest::import_less_safe(digest, &digest::SHA256).ok()
}

fn verdict(is_right: bool) -> Result<(), Error> {
    if is_right { Ok(()) } else { Err(Error::Signature) }
}
