//! The numbers of a private key.

use core::fmt;

/// The numbers of a private key, most significant byte first; zeros may precede them.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a private key has no other numbers")]
pub struct Components<'a> {
    /// The modulus.
    pub n: &'a [u8],
    /// The public exponent.
    pub e: &'a [u8],
    /// The private exponent.
    pub d: &'a [u8],
    /// The primes and what belongs to them, if they are known.
    pub crt: Option<CrtComponents<'a>>,
}

/// The primes of a private key, and what signatures by the Chinese remainder theorem need (RFC
/// 8017, section 3.2). Either prime may be the greater one.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a private key has no other numbers")]
pub struct CrtComponents<'a> {
    /// One prime.
    pub p: &'a [u8],
    /// The other prime.
    pub q: &'a [u8],
    /// d modulo p - 1.
    pub dp: &'a [u8],
    /// d modulo q - 1.
    pub dq: &'a [u8],
    /// The inverse of q modulo p.
    pub qinv: &'a [u8],
}

impl fmt::Debug for Components<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Components").finish_non_exhaustive()
    }
}

impl fmt::Debug for CrtComponents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrtComponents").finish_non_exhaustive()
    }
}
