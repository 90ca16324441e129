//! The key of any algorithm as one of all: a branch finds the kernel.

use inout::InOutBuf;

use super::aead_key::{AeadKey, Chained, kernels, sealing_ciphers};
use super::kernel::{Kernel, Running, Single};
use super::keyed::Keyed;
use crate::{Algorithm, Error};

/// Evaluates an expression for the kernel of an [`AeadKey`].
macro_rules! by_key {
    ($expanded:expr, $key:ident => $result:expr) => {
        sealing_ciphers!(by_key_of! { $expanded, $key => $result })
    };
}

/// Same as [`by_key`], with the rows of the table.
macro_rules! by_key_of {
    ({ $keyed:expr, $found:ident => $result:expr }
     $([$($algorithm:ident)+] $variant:ident: $kernel:ty;)+) => {
        match $keyed {
            $(AeadKey::$variant(_, $found) => $result,)+
        }
    };
}

impl Keyed for AeadKey {
    type Running<'k> = AnyRunning<'k>;

    #[inline]
    fn algorithm(&self) -> Algorithm {
        self.head().algorithm
    }

    #[inline]
    fn tag_length(&self) -> usize {
        self.head().tag_length
    }

    #[inline]
    fn nonce_length(&self) -> usize {
        self.head().algorithm.nonce_length()
    }

    #[inline]
    fn granularity(&self) -> usize {
        self.head().algorithm.granularity()
    }

    #[inline]
    fn admit(&self, aad: u64, data: u64) -> Result<(), Error> {
        self.head().limits.admit(aad, data)
    }

    #[inline(always)]
    fn seal_whole(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        by_key!(self, key => key.seal_message(nonce, aad, data, tag))
    }

    #[inline(always)]
    fn open_whole(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        by_key!(self, key => key.open_message(nonce, aad, data, tag))
    }

    #[inline(always)]
    fn run(&self, nonce: &[u8]) -> Result<AnyRunning<'_>, Error> {
        AnyRunning::new(self, nonce)
    }
}

/// Makes the type, and the code that chooses between its variants.
macro_rules! running {
    ({} $([$($algorithm:ident)+] $variant:ident: $kernel:ty;)+) => {
        /// A message in pieces under a key of any algorithm.
        pub(super) enum AnyRunning<'k> {
            $($variant(Single<'k, $kernel>),)+
        }

        impl<'k> AnyRunning<'k> {
            /// Each arm returns its own result, and nothing is inlined: otherwise the message would
            /// be copied, and copies of its state stay in what is moved later.
            #[inline(never)]
            fn new(keyed: &'k AeadKey, nonce: &[u8]) -> Result<Self, Error> {
                match keyed {
                    $(AeadKey::$variant(_, kernel) => {
                        return match kernel.begin_message(nonce) {
                            Ok(message) => Ok(Self::$variant(Single { kernel, message })),
                            Err(error) => Err(error),
                        };
                    })+
                }
            }
        }
    };
}

sealing_ciphers!(running! {});

/// Evaluates an expression for the message of an [`AnyRunning`].
macro_rules! by_running {
    ($running:expr, $message:ident => $result:expr) => {
        sealing_ciphers!(by_running_of! { $running, $message => $result })
    };
}

/// Same as [`by_running`], with the rows of the table.
macro_rules! by_running_of {
    ({ $running:expr, $message:ident => $result:expr }
     $([$($algorithm:ident)+] $variant:ident: $kernel:ty;)+) => {
        match $running {
            $(AnyRunning::$variant($message) => $result,)+
        }
    };
}

impl Running for AnyRunning<'_> {
    fn associate(&mut self, aad: &[u8]) {
        by_running!(self, message => message.associate(aad));
    }

    fn encrypt(&mut self, data: InOutBuf<'_, '_, u8>) {
        by_running!(self, message => message.encrypt(data));
    }

    fn decrypt(&mut self, data: InOutBuf<'_, '_, u8>) {
        by_running!(self, message => message.decrypt(data));
    }

    fn finish(self, tag: &mut [u8]) {
        by_running!(self, message => message.finish(tag));
    }

    fn verify(self, tag: &[u8]) -> Result<(), Error> {
        by_running!(self, message => message.verify(tag))
    }
}
