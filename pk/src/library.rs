//! Operations by crates in Rust, one at a time.

use ::p256::NonZeroScalar;
use ::p256::elliptic_curve::point::AffineCoordinates as _;
use curve25519_dalek::MontgomeryPoint;
use ecdsa::hazmat::{sign_prehashed_rfc6979, verify_prehashed};
use ed25519_dalek as dalek;
use ed25519_dalek::Verifier as _;
use ed25519_dalek::hazmat::raw_sign;
use ml_kem::kem::{Decapsulate as _, TryKeyInit as _};
use sha2::{Sha256, Sha512};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::mlkem768::DecapsulationKey;
use crate::options::Options;
use crate::request::{Hedge, Work};
use crate::secret::random;
use crate::{Error, ed25519};

/// Serves one request.
pub(crate) fn serve(work: &mut Work<'_>, options: &Options) -> Result<(), Error> {
    match work {
        Work::X25519PublicKey { secret, public } => {
            **public = MontgomeryPoint::mul_base_clamped(*secret.as_bytes()).to_bytes();
            Ok(())
        }
        Work::X25519SharedSecret { secret, public, shared } => {
            let point = MontgomeryPoint(*public.as_bytes());
            let result = Zeroizing::new(point.mul_clamped(*secret.as_bytes()));
            x25519_result(result.as_bytes(), shared)
        }
        Work::Ed25519Sign { key, message, signature } => {
            let public = &key.verifying_key().point;
            let made = raw_sign::<Sha512>(&key.expanded, message, public).to_bytes();
            if options.checks_signatures {
                ed25519_verify(key.verifying_key(), message, &made).map_err(|_| Error::Fault)?;
            }
            **signature = made;
            Ok(())
        }
        Work::Ed25519Verify { key, message, signature } => ed25519_verify(key, message, signature),
        Work::P256PublicKey { secret, public } => {
            let point = ::p256::PublicKey::from_secret_scalar(&*scalar(secret.as_bytes()));
            public.copy_from_slice(::p256::Sec1Point::from(&point).as_bytes());
            Ok(())
        }
        Work::P256SharedSecret { secret, public, shared } => {
            let scalar = scalar(secret.as_bytes());
            let point = Zeroizing::new((public.point.to_projective() * **scalar).to_affine());
            shared.copy_from_slice(&point.x());
            Ok(())
        }
        Work::P256Sign { key, digest, hedge, signature } => {
            let entropy;
            let hedge: &[u8] = match hedge {
                Hedge::Random => {
                    entropy = random::<32>()?;
                    &*entropy
                }
                Hedge::Given(None) => &[],
                Hedge::Given(Some(entropy)) => *entropy,
            };
            let scalar = scalar(key.as_bytes());
            let (made, _) = sign_prehashed_rfc6979::<_, Sha256>(&scalar, digest, hedge);
            if options.checks_signatures {
                let public = key.public_key().point.to_projective();
                verify_prehashed(&public, digest, &made).map_err(|_| Error::Fault)?;
            }
            signature.copy_from_slice(&made.to_bytes());
            Ok(())
        }
        Work::P256Verify { key, digest, signature } => {
            let signature = ::p256::ecdsa::Signature::from_slice(*signature);
            signature
                .and_then(|signature| {
                    verify_prehashed(&key.point.to_projective(), digest, &signature)
                })
                .map_err(|_| Error::Signature)
        }
        Work::MlKem768Generate { key } => {
            **key = Some(DecapsulationKey::of(random()?));
            Ok(())
        }
        Work::MlKem768Encapsulate { key, message, ciphertext, shared } => {
            let drawn;
            let message = match message {
                Some(message) => *message,
                None => {
                    drawn = random()?;
                    &*drawn
                }
            };
            let key = ml_kem::EncapsulationKey768::new_from_slice(key.as_bytes());
            let key = key.expect("it has been checked");
            let (made, secret) = key.encapsulate_deterministic(&(*message).into());
            let secret = Zeroizing::new(secret);
            ciphertext.copy_from_slice(&made);
            shared.copy_from_slice(&*secret);
            Ok(())
        }
        Work::MlKem768Decapsulate { key, ciphertext, shared } => {
            let secret = Zeroizing::new(key.expanded.decapsulate(&(**ciphertext).into()));
            shared.copy_from_slice(&*secret);
            Ok(())
        }
    }
}

/// Writes a shared secret, unless it is zero.
pub(crate) fn x25519_result(result: &[u8; 32], shared: &mut [u8; 32]) -> Result<(), Error> {
    if result.ct_eq(&[0; 32]).into() {
        return Err(Error::SmallOrder);
    }
    *shared = *result;
    Ok(())
}

/// Without the cofactor; the encodings of R are compared, so that R need not be decoded.
fn ed25519_verify(
    key: &ed25519::VerifyingKey,
    message: &[u8],
    signature: &[u8; 64],
) -> Result<(), Error> {
    if ed25519::has_small_order(signature) {
        return Err(Error::Signature);
    }
    let signature = dalek::Signature::from_bytes(signature);
    key.point.verify(message, &signature).map_err(|_| Error::Signature)
}

/// The scalar of a key.
fn scalar(bytes: &[u8; 32]) -> Zeroizing<NonZeroScalar> {
    let scalar = NonZeroScalar::from_repr((*bytes).into());
    Zeroizing::new(scalar.into_option().expect("keys are in range"))
}
