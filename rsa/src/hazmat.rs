//! Operations on plain numbers, and signatures whose salt the caller gives: correct, but not secure
//! by themselves.
//!
//! - Without a padding, signatures can be made of others: the product of two signatures is the
//!   signature of the product.
//! - The private operation also decrypts. A caller that decrypts must not reveal anything about the
//!   padding of what comes out, not even by the time that it takes.
//! - Signatures of PSS with repeated salts have a weaker proof of security.
//!
//! Private operations are blinded and checked for faults like all others.

use crate::hash::Digest;
use crate::request::Work;
use crate::{Padding, PrivateKey, PublicKey, Request};

/// The private operation: `input` to the power of d modulo n (RFC 8017, RSASP1 and RSADP). Both
/// have the length of the modulus.
///
/// Errors of its outcome ([`crate::Error`]): `InputLength`, `OutputLength`, `OutOfRange` if the
/// input is not less than the modulus, `Entropy`, `Fault`.
pub fn raw_private<'a>(key: &'a PrivateKey, input: &'a [u8], output: &'a mut [u8]) -> Request<'a> {
    Request::new(Work::RawPrivate { key, input, output })
}

/// The public operation: `input` to the power of e modulo n (RFC 8017, RSAVP1 and RSAEP). Both have
/// the length of the modulus.
///
/// Errors of its outcome ([`crate::Error`]): `InputLength`, `OutputLength`, `OutOfRange` if the
/// input is not less than the modulus.
pub const fn raw_public<'a>(
    key: &'a PublicKey,
    input: &'a [u8],
    output: &'a mut [u8],
) -> Request<'a> {
    Request::new(Work::RawPublic { key, input, output })
}

/// Signs a message; with PSS, `salt` is the salt, whatever its length.
pub fn sign_with_salt<'a>(
    key: &'a PrivateKey,
    padding: Padding,
    message: &[u8],
    salt: &'a [u8],
    signature: &'a mut [u8],
) -> Request<'a> {
    let digest: Option<Digest> = Some(padding.hash().digest(&[message]));
    Request::new(Work::Sign { key, padding, digest, salt: Some(salt), signature })
}
