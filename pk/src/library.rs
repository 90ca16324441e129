//! Single operations of Curve25519, by the crates of dalek.

use curve25519_dalek::MontgomeryPoint;
use ed25519_dalek as dalek;
use ed25519_dalek::Verifier as _;
use ed25519_dalek::hazmat::raw_sign;
use sha2::Sha512;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::options::Options;
use crate::request::Work;
use crate::{Error, ed25519};

/// Serves a request, if it is one of Curve25519.
pub(crate) fn serve(work: &mut Work<'_>, options: &Options) -> Option<Result<(), Error>> {
    Some(match work {
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
            let public = key.verifying_key();
            let made = raw_sign::<Sha512>(&key.expanded, message, &public.point).to_bytes();
            if options.checks_signatures && ed25519_verify(public, message, &made).is_err() {
                return Some(Err(Error::Fault));
            }
            **signature = made;
            Ok(())
        }
        Work::Ed25519Verify { key, message, signature } => ed25519_verify(key, message, signature),
        _ => return None,
    })
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
