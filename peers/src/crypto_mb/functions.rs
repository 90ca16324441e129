//! The functions of crypto_mb, with the types of its headers. Arrays have eight pointers, of which
//! null ones are lanes without work; a status has four bits for each lane.

use crate::library::Open;

/// Eight places to write bytes to.
pub(super) type Out = *const *mut u8;
/// Eight places to read bytes from.
pub(super) type In = *const *const u8;
/// Eight numbers of four words, the lowest first, to write.
pub(super) type OutWords = *const *mut u64;
/// Eight such numbers to read.
pub(super) type InWords = *const *const u64;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal: fn($($of:ty),*);)+) => {
        /// The functions.
        pub(super) struct Functions {
            $($(#[$doc])* pub(super) $name: unsafe extern "C" fn($($of),*) -> u32,)+
        }

        impl Functions {
            pub(super) fn find(library: &Open) -> Result<Self, String> {
                Ok(Self {
                    // SAFETY: the types are those of the headers; the library stays open beside
                    // them.
                    $($name: unsafe { library.symbol($symbol) }?,)+
                })
            }
        }
    };
}

functions! {
    /// Public keys, private keys.
    x25519_public_key = c"mbx_x25519_public_key_mb8": fn(Out, In);
    /// Secrets, private keys, public keys.
    x25519 = c"mbx_x25519_mb8": fn(Out, In, In);
    /// Both halves of signatures, messages and their lengths, seeds, public keys.
    ed25519_sign = c"mbx_ed25519_sign_mb8": fn(Out, Out, In, *const u32, In, In);
    /// Both halves of signatures, messages and their lengths, public keys.
    ed25519_verify = c"mbx_ed25519_verify_mb8": fn(In, In, In, *const u32, In);
    /// Coordinates, of which null is the third for affine ones, private keys, no buffer.
    p256_public_key = c"mbx_nistp256_ecpublic_key_mb8":
        fn(OutWords, OutWords, OutWords, InWords, *mut u8);
    /// Secrets, private keys, coordinates as before, no buffer.
    p256_ecdh = c"mbx_nistp256_ecdh_mb8":
        fn(Out, InWords, InWords, InWords, InWords, *mut u8);
    /// Both halves of signatures, digests, nonces, private keys, no buffer.
    p256_sign = c"mbx_nistp256_ecdsa_sign_mb8": fn(Out, Out, In, InWords, InWords, *mut u8);
    /// Both halves of signatures, digests, coordinates as before, no buffer.
    p256_verify = c"mbx_nistp256_ecdsa_verify_mb8":
        fn(In, In, In, InWords, InWords, InWords, *mut u8);
}
