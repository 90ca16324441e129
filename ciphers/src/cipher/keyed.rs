//! What all ciphers with authentication do, on an expanded key of any type.
//!
//! [`Keyed`] is implemented by the key of any algorithm, which finds its kernel by a branch, and by
//! each kernel that has a type of its own. Public methods are in `methods.rs`.

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, wipe};

use super::kernel::{Kernel, Running, Single};
use super::limits::Limits;
use crate::{Algorithm, Buffers, Error};

/// An expanded key: facts about its algorithm, and whole messages.
pub(super) trait Keyed: Sized {
    /// A message that comes in pieces.
    type Running<'k>: Running
    where
        Self: 'k;

    fn algorithm(&self) -> Algorithm;

    fn tag_length(&self) -> usize;

    /// The usual length of nonces.
    fn nonce_length(&self) -> usize;

    /// The number of bytes of which the length of data must be a multiple.
    fn granularity(&self) -> usize;

    /// Checks how many bytes of associated data and of data a message has.
    fn admit(&self, aad: u64, data: u64) -> Result<(), Error>;

    /// Encrypts a message whose lengths are right, except perhaps that of the nonce.
    fn seal_whole(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error>;

    /// Decrypts such a message, or answers [`Error::Authentication`].
    fn open_whole(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error>;

    /// Begins a message that comes in pieces, or answers [`Error::Unsupported`].
    fn run(&self, nonce: &[u8]) -> Result<Self::Running<'_>, Error>;

    // Inlined: otherwise the arguments would be stored in parts and read as a whole, and kernels
    // would stall on the stores.
    #[inline(always)]
    fn seal_detached<'i, 'o>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let data = data.in_out();
        self.admit_whole(aad.len(), data.len(), tag.len())?;
        self.seal_whole(nonce, aad, data, tag)
    }

    #[inline(always)]
    fn open_detached<'i, 'o>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let mut data = data.in_out();
        self.admit_whole(aad.len(), data.len(), tag.len())?;
        let verdict = self.open_whole(nonce, aad, data.reborrow(), tag);
        if verdict == Err(Error::Authentication) {
            wipe::memory(data.get_out());
        }
        verdict
    }

    /// Checks the lengths of a message.
    #[inline]
    fn admit_whole(&self, aad: usize, data: usize, tag: usize) -> Result<(), Error> {
        if tag != self.tag_length() {
            return Err(Error::TagLength);
        }
        self.admit(aad as u64, data as u64)
    }
}

/// A kernel with a type of its own: all lengths are constants, so nothing of the table of
/// algorithms is in a program, and no check that is always true.
pub(super) trait Fixed: Kernel {
    const ALGORITHM: Algorithm;
    /// The only length of nonces.
    const NONCE: usize = Self::ALGORITHM.nonce_length();
    /// The only length of tags.
    const TAG: usize = Self::ALGORITHM.tag_length();
    /// The longest messages.
    const LIMITS: Limits = match Limits::new(Self::ALGORITHM, Self::TAG) {
        Ok(limits) => limits,
        Err(_) => panic!("the usual length of tags"),
    };

    /// Whether the set-up of a key uses little stack.
    #[inline]
    fn is_set_shallowly(isa: Isa) -> bool {
        const { Self::ALGORITHM.shallow_from() }.is_some_and(|level| isa.has(level))
    }
}

impl<K: Fixed> Keyed for K {
    type Running<'k>
        = Single<'k, K>
    where
        K: 'k;

    #[inline]
    fn algorithm(&self) -> Algorithm {
        K::ALGORITHM
    }

    #[inline]
    fn tag_length(&self) -> usize {
        K::TAG
    }

    #[inline]
    fn nonce_length(&self) -> usize {
        K::NONCE
    }

    #[inline]
    fn granularity(&self) -> usize {
        const { K::ALGORITHM.granularity() }
    }

    #[inline]
    fn admit(&self, aad: u64, data: u64) -> Result<(), Error> {
        K::LIMITS.admit(aad, data)
    }

    #[inline(always)]
    fn seal_whole(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        usual::<K>(nonce)?;
        self.seal_message(nonce, aad, data, tag)
    }

    #[inline(always)]
    fn open_whole(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        usual::<K>(nonce)?;
        self.open_message(nonce, aad, data, tag)
    }

    #[inline]
    fn run(&self, nonce: &[u8]) -> Result<Single<'_, K>, Error> {
        usual::<K>(nonce)?;
        Ok(Single { kernel: self, message: self.begin_message(nonce)? })
    }
}

/// Refuses other nonces. What kernels do with these is then no part of the program.
#[inline(always)]
fn usual<K: Fixed>(nonce: &[u8]) -> Result<(), Error> {
    if nonce.len() == K::NONCE { Ok(()) } else { Err(Error::NonceLength) }
}
