//! The expanded key of each algorithm that authenticates, and the nonces that it takes.

use inout::InOutBuf;
pub(super) use lanecrypt_kernels as kernels;
use lanecrypt_kernels::chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::gcm::AesGcm;
use lanecrypt_kernels::{Aead, Isa};

use super::limits::Limits;
use super::tag;
use crate::key_bytes::array;
use crate::{Algorithm, Error, Mode, Primitive};

/// The table of ciphers with authentication: calls the macro `$make` with `$arguments` and a row
/// for each, which has its [`Primitive`] and [`Mode`], its variant, its kernel, and the bytes of
/// the kernel's keys and nonces.
macro_rules! sealing_ciphers {
    ($make:ident! $arguments:tt) => {
        $make! { $arguments
            [Aes128 Gcm] Aes128Gcm: kernels::gcm::AesGcm<128>, 16, 12;
            [Aes192 Gcm] Aes192Gcm: kernels::gcm::AesGcm<192>, 24, 12;
            [Aes256 Gcm] Aes256Gcm: kernels::gcm::AesGcm<256>, 32, 12;
            [ChaCha20 Poly1305] ChaCha20Poly1305:
                kernels::chacha20poly1305::ChaCha20Poly1305, 32, 12;
            [XChaCha20 Poly1305] XChaCha20Poly1305:
                kernels::chacha20poly1305::XChaCha20Poly1305, 32, 24;
        }
    };
}

/// Makes the type and what is done with it.
macro_rules! keyed {
    ({} $([$primitive:ident $mode:ident] $variant:ident:
          $kernel:ty, $key:literal, $nonce:literal;)+) => {
        /// An expanded key; a request finds its kernel by one branch.
        //
        // The head is at the same place in all variants, so that it is found without a look at the
        // tag, and shares a cache line with it: keys begin a line, and requests of many sessions
        // have few to spare.
        #[repr(u8)]
        pub(super) enum Keyed {
            $($variant(Head, $kernel),)+
        }

        impl Keyed {
            /// The place of a key, which has to be set before anything is asked; `keep` makes the
            /// result of it.
            ///
            /// Each arm returns its result by itself: were they joined first, each would be copied.
            #[inline(always)]
            fn empty<T>(isa: Isa, head: Head, keep: impl Fn(Self) -> T) -> Result<T, Error> {
                match (head.algorithm.primitive(), head.algorithm.mode()) {
                    $((Primitive::$primitive, Mode::$mode) => {
                        return Ok(keep(Self::$variant(head, <$kernel>::empty(isa))));
                    })+
                    _ => Err(Error::Unsupported),
                }
            }

            #[inline]
            pub(super) fn head(&self) -> &Head {
                match self {
                    $(Self::$variant(head, _))|+ => head,
                }
            }

            pub(super) fn head_mut(&mut self) -> &mut Head {
                match self {
                    $(Self::$variant(head, _))|+ => head,
                }
            }

            /// Expands a key in the place of the one that is there.
            #[inline]
            pub(super) fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
                match self {
                    $(Self::$variant(_, kernel) => kernel.set_key(array(key)?),)+
                }
                Ok(())
            }
        }
    };
}

sealing_ciphers!(keyed! {});

/// Evaluates an expression for the kernel of a [`Keyed`].
macro_rules! by_key {
    ($keyed:expr, $key:ident => $result:expr) => {
        sealing_ciphers!(by_key_of! { $keyed, $key => $result })
    };
}

/// As [`by_key`], with the rows of the table.
macro_rules! by_key_of {
    ({ $keyed:expr, $found:ident => $result:expr }
     $([$($algorithm:ident)+] $variant:ident: $kernel:ty, $key:literal, $nonce:literal;)+) => {
        match $keyed {
            $(Keyed::$variant(_, $found) => $result,)+
        }
    };
}

pub(super) use {by_key, by_key_of, sealing_ciphers};

/// All about a cipher but its key.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) limits: Limits,
    pub(super) algorithm: Algorithm,
    pub(super) isa: Isa,
    pub(super) tag_length: usize,
}

impl Head {
    /// The place of a key of `algorithm`, as [`Keyed::empty`] makes it.
    #[inline(always)]
    pub(super) fn empty<T>(
        isa: Isa,
        algorithm: Algorithm,
        keep: impl Fn(Keyed) -> T,
    ) -> Result<T, Error> {
        let tag_length = 16;
        let limits = Limits::new(algorithm, tag_length)?;
        Keyed::empty(isa, Self { limits, algorithm, isa, tag_length }, keep)
    }
}

/// A kernel that is asked with a nonce of any length, and that writes or compares the tag itself: a
/// tag that came back inside of a `Result` would be copied in pieces, which takes as long as half
/// of a short message.
pub(super) trait Nonced<const KEY: usize, const NONCE: usize>: Aead<KEY, NONCE> {
    /// As [`Aead::seal`], with a tag of as many bytes as there is room for.
    #[inline(always)]
    fn seal_under(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        match nonce.try_into() {
            Ok(nonce) => {
                tag::put(&self.seal(nonce, aad, data), tag);
                Ok(())
            }
            Err(_) => self.seal_under_other(nonce, aad, data, tag),
        }
    }

    /// As [`Aead::open`], or [`Error::Authentication`] if the tag is not how the right one begins.
    #[inline(always)]
    fn open_under(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        match nonce.try_into() {
            Ok(nonce) => tag::compare(&self.open(nonce, aad, data), tag),
            Err(_) => self.open_under_other(nonce, aad, data, tag),
        }
    }

    /// As [`Aead::begin`].
    #[inline]
    fn begin_under(&self, nonce: &[u8]) -> Result<Self::Message, Error> {
        match nonce.try_into() {
            Ok(nonce) => Ok(self.begin(nonce)),
            Err(_) => self.begin_under_other(nonce),
        }
    }

    /// Takes a nonce that does not have the usual length, or refuses it, as here.
    #[cold]
    fn seal_under_other(
        &self,
        _nonce: &[u8],
        _aad: &[u8],
        _data: InOutBuf<'_, '_, u8>,
        _tag: &mut [u8],
    ) -> Result<(), Error> {
        Err(Error::NonceLength)
    }

    /// As [`seal_under_other`](Self::seal_under_other).
    #[cold]
    fn open_under_other(
        &self,
        _nonce: &[u8],
        _aad: &[u8],
        _data: InOutBuf<'_, '_, u8>,
        _tag: &[u8],
    ) -> Result<(), Error> {
        Err(Error::NonceLength)
    }

    /// As [`seal_under_other`](Self::seal_under_other).
    #[cold]
    fn begin_under_other(&self, _nonce: &[u8]) -> Result<Self::Message, Error> {
        Err(Error::NonceLength)
    }
}

impl Nonced<32, 12> for ChaCha20Poly1305 {}
impl Nonced<32, 24> for XChaCha20Poly1305 {}

/// GCM hashes nonces of other lengths to a counter block.
macro_rules! hashes_nonces {
    ($kernel:ty, $key:literal) => {
        impl Nonced<$key, 12> for $kernel {
            #[cold]
            #[inline(never)]
            fn seal_under_other(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &mut [u8],
            ) -> Result<(), Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                tag::put(&self.seal_from(&self.counter_block(nonce), aad, data), tag);
                Ok(())
            }

            #[cold]
            #[inline(never)]
            fn open_under_other(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8],
            ) -> Result<(), Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                tag::compare(&self.open_from(&self.counter_block(nonce), aad, data), tag)
            }

            #[cold]
            #[inline(never)]
            fn begin_under_other(&self, nonce: &[u8]) -> Result<Self::Message, Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                Ok(self.begin_from(&self.counter_block(nonce)))
            }
        }
    };
}

hashes_nonces!(AesGcm<128>, 16);
hashes_nonces!(AesGcm<192>, 24);
hashes_nonces!(AesGcm<256>, 32);
