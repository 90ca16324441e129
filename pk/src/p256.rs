//! P-256 (SP 800-186): ECDSA signatures (FIPS 186-5) and ECDH (SP 800-56A).
//!
//! Keys of signatures and those of key exchange are different types, so that no key does both.

mod public_key;
mod secret_key;
mod signature;
mod signing_key;

pub use public_key::PublicKey;
pub use secret_key::SecretKey;
pub use signature::{MAX_DER_LENGTH, signature_from_der, signature_to_der};
pub use signing_key::SigningKey;
