//! Functions of AWS-LC that take keys as bytes, where the crate `aws-lc-rs` would allocate a form
//! of each key first, or compute its public key twice.
#![allow(unsafe_code, reason = "calls of C")]

use core::ptr::{null, null_mut};

use aws_lc_sys::{
    BIGNUM, BN_bin2bn, BN_clear_free, EC_POINT, EC_POINT_free, EC_POINT_mul, EC_POINT_new,
    EC_POINT_point2oct, EC_group_p256, ED25519_sign, ED25519_verify, X25519,
    X25519_public_from_private, point_conversion_form_t,
};
use zeroize::Zeroizing;

pub(super) fn x25519_public_key(secret: &[u8; 32], public: &mut [u8; 32]) {
    // SAFETY: both keys have 32 bytes.
    unsafe { X25519_public_from_private(public.as_mut_ptr(), secret.as_ptr()) };
}

/// The shared secret, which is zero if the public key has small order.
pub(super) fn x25519(secret: &[u8; 32], public: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    let mut shared = Zeroizing::new([0; 32]);
    // SAFETY: all three have 32 bytes. The status says only whether the secret is zero.
    unsafe { X25519(shared.as_mut_ptr(), secret.as_ptr(), public.as_ptr()) };
    shared
}

pub(super) fn ed25519_sign(message: &[u8], seed: &[u8; 32], public: &[u8; 32]) -> Option<[u8; 64]> {
    let mut private = Zeroizing::new([0; 64]);
    private[..32].copy_from_slice(seed);
    private[32..].copy_from_slice(public);
    let mut signature = [0; 64];
    // SAFETY: a private key and a signature have 64 bytes, and the message so many.
    let status = unsafe {
        ED25519_sign(signature.as_mut_ptr(), message.as_ptr(), message.len(), private.as_ptr())
    };
    (status == 1).then_some(signature)
}

/// Whether a signature is right. AWS-LC lets R have a small order.
pub(super) fn ed25519_verify(message: &[u8], public: &[u8; 32], signature: &[u8; 64]) -> bool {
    // SAFETY: a signature has 64 bytes, a public key 32, and the message so many.
    let status = unsafe {
        ED25519_verify(message.as_ptr(), message.len(), signature.as_ptr(), public.as_ptr())
    };
    status == 1
}

/// A number that is wiped and freed on drop.
struct Number(*mut BIGNUM);

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: the number is ours, or null, which is ignored.
        unsafe { BN_clear_free(self.0) };
    }
}

/// A point that is freed on drop.
struct Point(*mut EC_POINT);

impl Drop for Point {
    fn drop(&mut self) {
        // SAFETY: the point is ours, or null, which is ignored.
        unsafe { EC_POINT_free(self.0) };
    }
}

/// The public key of a secret key, 4 and both coordinates; none if there is no memory.
pub(super) fn p256_public_key(secret: &[u8; 32]) -> Option<[u8; 65]> {
    // SAFETY: the group is a constant of the library.
    let group = unsafe { EC_group_p256() };
    // SAFETY: the key has 32 bytes. The number is new.
    let number = Number(unsafe { BN_bin2bn(secret.as_ptr(), secret.len(), null_mut()) });
    // SAFETY: the group is the library's.
    let point = Point(unsafe { EC_POINT_new(group) });
    if number.0.is_null() || point.0.is_null() {
        return None;
    }
    // SAFETY: all are of the library, and of this group. Without a second point, the first number
    // multiplies the base point.
    let status = unsafe { EC_POINT_mul(group, point.0, number.0, null(), null(), null_mut()) };
    if status != 1 {
        return None;
    }
    let mut public = [0; 65];
    let form = point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;
    // SAFETY: the room has so many bytes.
    let written = unsafe {
        EC_POINT_point2oct(group, point.0, form, public.as_mut_ptr(), public.len(), null_mut())
    };
    (written == public.len()).then_some(public)
}
