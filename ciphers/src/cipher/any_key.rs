//! The key of any algorithm: a branch finds the kernel.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels as kernels;
use lanecrypt_kernels::{Aead, Isa};

use super::chained::Chained;
use super::key::{Facts, Kernel, Key};
use crate::table::algorithms;
use crate::{Algorithm, Error, KeyError, Mode, Primitive};

/// The fields of a cipher besides its key.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) facts: Facts,
    pub(super) isa: Isa,
}

/// Makes the types from the rows of algorithms that authenticate.
macro_rules! any_key {
    ({}
     aead { $($(#[doc = $doc:literal])+ $constant:ident = $number:literal $name:literal
              $primitive:ident $mode:ident [$($openssl:literal)*]
              $typed:ident: $kernel:ty $(, $lanes:ident)?;)+ }
     chained { $($cipher:ident $chain:ident, $variant:ident: $chained:ty { $($row:tt)+ })+ }
     $($others:tt)*) => {
        /// An expanded key of any algorithm that authenticates; a request finds its kernel by one
        /// branch.
        //
        // The head has the same offset in all variants, so that reading it does not depend on the
        // tag. Head and tag share a cache line with the start of the key: with many sessions,
        // requests have few cache lines to spare.
        #[repr(u8)]
        pub(super) enum Variants {
            $($typed(Head, $kernel),)+
            $($variant(Head, Chained<$chained>),)+
        }

        /// A message in pieces under a key of any algorithm.
        pub(super) enum AnyMessage {
            $($typed(<$kernel as Aead>::Message),)+
            $($variant(super::chained::Message),)+
        }

        impl Variants {
            /// A key that must be set before it is used. `keep` turns it into the result.
            ///
            /// Each arm returns its own result: if the arms were joined first, each result would be
            /// copied.
            #[inline(always)]
            pub(super) fn empty<T>(
                isa: Isa,
                algorithm: Algorithm,
                keep: impl Fn(Self) -> T,
            ) -> Result<T, KeyError> {
                let facts =
                    Facts::of(algorithm).map_err(|reason| KeyError::new(algorithm, reason))?;
                let head = Head { facts, isa };
                match (algorithm.primitive(), algorithm.mode()) {
                    $((Primitive::$primitive, Mode::$mode) => {
                        return Ok(keep(Self::$typed(head, Aead::empty(isa))));
                    })+
                    $((Primitive::$cipher, Mode::$chain) => {
                        return Ok(keep(Self::$variant(head, Chained::empty(isa, algorithm))));
                    })+
                    _ => Err(KeyError::new(algorithm, Error::Unsupported)),
                }
            }

            #[inline]
            pub(super) fn head(&self) -> &Head {
                match self {
                    $(Self::$typed(head, _))|+ $(| Self::$variant(head, _))+ => head,
                }
            }

            pub(super) fn head_mut(&mut self) -> &mut Head {
                match self {
                    $(Self::$typed(head, _))|+ $(| Self::$variant(head, _))+ => head,
                }
            }
        }

        /// Evaluates an expression for the kernel of a key.
        macro_rules! by_kernel {
            ($any:expr, $key:ident => $result:expr) => {
                match $any {
                    $(Variants::$typed(_, $key) => $result,)+
                    $(Variants::$variant(_, $key) => $result,)+
                }
            };
        }

        /// Begins a message. Each arm returns its own result.
        macro_rules! begin {
            ($any:expr, $nonce:expr) => {
                match &$any {
                    $(Variants::$typed(_, key) => match key.begin_message($nonce) {
                        Ok(message) => return Ok(AnyMessage::$typed(message)),
                        Err(error) => return Err(error),
                    },)+
                    $(Variants::$variant(_, key) => match key.begin_message($nonce) {
                        Ok(message) => return Ok(AnyMessage::$variant(message)),
                        Err(error) => return Err(error),
                    },)+
                }
            };
        }

        /// Evaluates an expression for the kernel of a key, and a message under it.
        macro_rules! by_message {
            ($any:expr, $sent:expr, $key:ident, $message:ident => $result:expr) => {
                match ($any, $sent) {
                    $((Variants::$typed(_, $key), AnyMessage::$typed($message)) => $result,)+
                    $((Variants::$variant(_, $key), AnyMessage::$variant($message)) => $result,)+
                    _ => unreachable!("a message stays under its key"),
                }
            };
        }
    };
}

algorithms!(any_key! {});

/// An expanded key of any algorithm that authenticates.
pub struct AnyKey(pub(super) Variants);

impl fmt::Debug for AnyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyKey").finish_non_exhaustive()
    }
}

impl Kernel for AnyKey {
    type Message = AnyMessage;

    #[inline]
    fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        by_kernel!(&mut self.0, own => Kernel::set_key(own, key))
    }

    #[inline(always)]
    fn seal_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        by_kernel!(&self.0, key => key.seal_message(nonce, aad, data, tag))
    }

    #[inline(always)]
    fn open_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        by_kernel!(&self.0, key => key.open_message(nonce, aad, data, tag))
    }

    // Each arm returns its own result, and nothing is inlined: otherwise the message would be
    // copied, and copies of its state stay in what is moved later.
    #[inline(never)]
    fn begin_message(&self, nonce: &[u8]) -> Result<AnyMessage, Error> {
        begin!(self.0, nonce)
    }

    #[inline]
    fn associate_next(&self, message: &mut AnyMessage, aad: &[u8]) {
        by_message!(&self.0, message, key, message => key.associate_next(message, aad));
    }

    #[inline]
    fn encrypt_next(&self, message: &mut AnyMessage, data: InOutBuf<'_, '_, u8>) {
        by_message!(&self.0, message, key, message => key.encrypt_next(message, data));
    }

    #[inline]
    fn decrypt_next(&self, message: &mut AnyMessage, data: InOutBuf<'_, '_, u8>) {
        by_message!(&self.0, message, key, message => key.decrypt_next(message, data));
    }

    #[inline]
    fn finish(&self, message: AnyMessage, tag: &mut [u8]) {
        by_message!(&self.0, message, key, message => key.finish(message, tag));
    }

    #[inline]
    fn verify(&self, message: AnyMessage, tag: &[u8]) -> Result<(), Error> {
        by_message!(&self.0, message, key, message => key.verify(message, tag))
    }
}

impl Key for AnyKey {
    #[inline(always)]
    fn facts(&self) -> &Facts {
        &self.0.head().facts
    }
}
