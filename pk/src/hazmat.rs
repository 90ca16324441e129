//! Operations whose random bytes the caller gives: for vectors of standards, not for use.
//!
//! - Two signatures of ECDSA with one nonce reveal the key. The nonce is derived from key, digest
//!   and entropy (RFC 6979), so that no entropy is dangerous by itself, but without any, faults of
//!   the processor are.
//! - Whoever knows the bytes from which a shared secret was encapsulated knows the secret.

use crate::Request;
use crate::mlkem768::{CIPHERTEXT_LENGTH, EncapsulationKey};
use crate::p256::SigningKey;
use crate::request::{Hedge, Work};

/// Signs a digest by ECDSA with P-256. The nonce is that of RFC 6979, section 3.6, with `entropy`
/// as the additional data, or without any.
pub const fn p256_sign_digest<'a>(
    key: &'a SigningKey,
    digest: &[u8; 32],
    entropy: Option<&'a [u8; 32]>,
    signature: &'a mut [u8; 64],
) -> Request<'a> {
    let hedge = Hedge::Given(entropy);
    Request::new(Work::P256Sign { key, digest: *digest, hedge, signature })
}

/// Encapsulates the shared secret of these bytes (FIPS 203, ML-KEM.Encaps_internal).
pub const fn mlkem768_encapsulate<'a>(
    key: &'a EncapsulationKey,
    message: &'a [u8; 32],
    ciphertext: &'a mut [u8; CIPHERTEXT_LENGTH],
    shared: &'a mut [u8; 32],
) -> Request<'a> {
    Request::new(Work::MlKem768Encapsulate { key, message: Some(message), ciphertext, shared })
}
