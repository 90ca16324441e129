//! RSA signatures of AWS-LC, by the plain functions that it shares with OpenSSL and BoringSSL: they
//! take keys of 512 bits, and keys without their primes.

use core::ffi::{c_int, c_uint};
use core::ptr::{self, NonNull};

use aws_lc_rs::awslc_version;
use aws_lc_sys::{
    BIGNUM, BN_bin2bn, BN_clear_free, RSA, RSA_free, RSA_new_private_key,
    RSA_new_private_key_no_crt, RSA_new_public_key, RSA_sign, RSA_size, RSA_verify,
};

use crate::{Direction, Failed, Peer, RsaKey, Signature, Signer, Signing};

/// `NID_sha256`.
const SHA256: c_int = 672;

pub(super) fn signer(names: [&'static str; 2]) -> Peer<dyn Signer> {
    Peer::signer(names, &Ok(awslc_version()), |_, direction, key| Plain::new(direction, key))
}

/// A number of the library, wiped and freed on drop.
struct Number(NonNull<BIGNUM>);

impl Number {
    fn new(bytes: &[u8]) -> Result<Self, Failed> {
        // SAFETY: there are so many bytes; null asks for a new number.
        let number = unsafe { BN_bin2bn(bytes.as_ptr(), bytes.len(), ptr::null_mut()) };
        NonNull::new(number).map(Self).ok_or(Failed)
    }

    const fn as_ptr(&self) -> *const BIGNUM {
        self.0.as_ptr()
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: the library made it, and there is no other owner.
        unsafe { BN_clear_free(self.0.as_ptr()) };
    }
}

/// A key.
struct Plain {
    key: NonNull<RSA>,
    /// The length of the modulus in bytes.
    length: usize,
}

impl Plain {
    fn new(direction: Direction, key: &RsaKey<'_>) -> Result<Self, Failed> {
        let (n, e, d) = (Number::new(key.n)?, Number::new(key.e)?, Number::new(key.d)?);
        let made = match (direction, key.crt) {
            (Direction::Decrypt, _) => {
                // SAFETY: both are numbers of the library, which copies them.
                unsafe { RSA_new_public_key(n.as_ptr(), e.as_ptr()) }
            }
            (Direction::Encrypt, None) => {
                // SAFETY: all are numbers of the library, which copies them.
                unsafe { RSA_new_private_key_no_crt(n.as_ptr(), e.as_ptr(), d.as_ptr()) }
            }
            (Direction::Encrypt, Some([p, q, dp, dq, qinv])) => {
                let (p, q) = (Number::new(p)?, Number::new(q)?);
                let (dp, dq, qinv) = (Number::new(dp)?, Number::new(dq)?, Number::new(qinv)?);
                // SAFETY: all are numbers of the library, which copies them.
                unsafe {
                    RSA_new_private_key(
                        n.as_ptr(),
                        e.as_ptr(),
                        d.as_ptr(),
                        p.as_ptr(),
                        q.as_ptr(),
                        dp.as_ptr(),
                        dq.as_ptr(),
                        qinv.as_ptr(),
                    )
                }
            }
        };
        let key = NonNull::new(made).ok_or(Failed)?;
        // SAFETY: the key was just made.
        let length = unsafe { RSA_size(key.as_ptr()) } as usize;
        Ok(Self { key, length })
    }
}

impl Signing for Plain {
    #[inline]
    fn sign(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { digest, signature, .. } = signature;
        Failed::unless(signature.len() == self.length)?;
        let mut length: c_uint = 0;
        // SAFETY: a key of the library, which writes as many bytes as the modulus has.
        let status = unsafe {
            RSA_sign(
                SHA256,
                digest.as_ptr(),
                digest.len(),
                signature.as_mut_ptr(),
                &raw mut length,
                self.key.as_ptr(),
            )
        };
        Failed::unless(status == 1 && length as usize == signature.len())
    }

    #[inline]
    fn verify(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { digest, signature, .. } = signature;
        // SAFETY: a key of the library, which reads the digest and so many bytes of the signature.
        let status = unsafe {
            RSA_verify(
                SHA256,
                digest.as_ptr(),
                digest.len(),
                signature.as_ptr(),
                signature.len(),
                self.key.as_ptr(),
            )
        };
        Failed::unless(status == 1)
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        // SAFETY: the library made it, and there is no other owner.
        unsafe { RSA_free(self.key.as_ptr()) };
    }
}

// SAFETY: a key belongs to no thread; it is only used through `&mut`.
unsafe impl Send for Plain {}
