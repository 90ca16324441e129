//! Sequences of nonces that do not repeat.

use core::ffi::c_int;

use lanecrypt_engine::{Error, Nonce, NonceSequence, Nonces, RandomNonces, Session};
use lanecrypt_random::Rng;

use crate::algorithm;
use crate::code::Code;
use crate::ffi_args::{Bytes, answer, free, give_object, object_mut};

/// A sequence of any kind.
pub(crate) enum Sequence {
    Counted(Nonces),
    Random(RandomNonces<Rng>),
}

impl Sequence {
    /// The sequence behind a pointer.
    ///
    /// # Safety
    ///
    /// As for [`object_mut`].
    #[inline(always)]
    pub(crate) unsafe fn of<'a>(pointer: *mut Self) -> Result<&'a mut Self, Code> {
        // SAFETY: the caller vouches for it.
        unsafe { object_mut(pointer) }
    }

    /// The number of bytes of each nonce.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Counted(nonces) => nonces.nonce_length(),
            Self::Random(nonces) => nonces.nonce_length(),
        }
    }

    /// Seals a packet in place with the next nonce, which it returns.
    #[inline]
    pub(crate) fn seal(
        &mut self,
        session: &Session,
        aad: &[u8],
        packet: &mut [u8],
    ) -> Result<Nonce, Error> {
        match self {
            Self::Counted(nonces) => session.seal_next(nonces, aad, packet),
            Self::Random(nonces) => session.seal_next(nonces, aad, packet),
        }
    }

    /// The next nonce.
    fn fresh(&mut self) -> Result<Nonce, Error> {
        match self {
            Self::Counted(nonces) => nonces.fresh(),
            Self::Random(nonces) => nonces.fresh(),
        }
    }
}

/// How a counted sequence is laid out.
type Layout = fn(lanecrypt_engine::Algorithm, &[u8]) -> Result<Nonces, Error>;

/// Makes a counted sequence.
///
/// # Safety
///
/// The caller lends the place and the bytes.
unsafe fn counted(
    place: *mut *mut Sequence,
    layout: Layout,
    algorithm: c_int,
    bytes: *const u8,
    len: usize,
    first: u64,
) -> c_int {
    let make = |bytes: Bytes| {
        let algorithm = algorithm::of_number(algorithm)?;
        // SAFETY: the caller lends the bytes for the call.
        let bytes = unsafe { bytes.read() };
        let nonces = layout(algorithm, bytes)?.starting_at(first);
        Ok(Box::new(Sequence::Counted(nonces)))
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(place, Bytes::input(bytes, len), make) }
}

/// Nonces of a fixed field and a counter.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_nonces_counter(
    nonces: *mut *mut Sequence,
    algorithm: c_int,
    fixed: *const u8,
    fixed_len: usize,
    first: u64,
) -> c_int {
    // SAFETY: the same arguments.
    unsafe { counted(nonces, Nonces::counter, algorithm, fixed, fixed_len, first) }
}

/// Nonces of TLS 1.3 and QUIC.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_nonces_masked(
    nonces: *mut *mut Sequence,
    algorithm: c_int,
    iv: *const u8,
    iv_len: usize,
    first: u64,
) -> c_int {
    // SAFETY: the same arguments.
    unsafe { counted(nonces, Nonces::masked, algorithm, iv, iv_len, first) }
}

/// Nonces of a fixed field, a counter and a flag.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_nonces_flagged(
    nonces: *mut *mut Sequence,
    algorithm: c_int,
    fixed: *const u8,
    fixed_len: usize,
    first: u64,
) -> c_int {
    // SAFETY: the same arguments.
    unsafe { counted(nonces, Nonces::flagged, algorithm, fixed, fixed_len, first) }
}

/// Random nonces.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_nonces_random(
    nonces: *mut *mut Sequence,
    algorithm: c_int,
    used: u64,
) -> c_int {
    let make = |_| {
        let sequence =
            RandomNonces::new(algorithm::of_number(algorithm)?, lanecrypt_random::rng())?;
        Ok(Box::new(Sequence::Random(sequence.already_used(used))))
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(nonces, Ok(Bytes::NONE), make) }
}

/// The next nonce.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_nonces_next(
    nonces: *mut Sequence,
    nonce: *mut u8,
    nonce_len: usize,
) -> c_int {
    // SAFETY: the same arguments.
    unsafe { next(nonces, nonce, nonce_len, Sequence::fresh) }
}

/// The next nonce with this flag.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_nonces_next_flagged(
    nonces: *mut Sequence,
    flag: u8,
    nonce: *mut u8,
    nonce_len: usize,
) -> c_int {
    let flagged = |nonces: &mut Sequence| match nonces {
        Sequence::Counted(nonces) => nonces.fresh_flagged(flag),
        Sequence::Random(_) => Err(Error::Unsupported),
    };
    // SAFETY: the same arguments.
    unsafe { next(nonces, nonce, nonce_len, flagged) }
}

/// Writes a nonce that `draw` takes from the sequence.
///
/// # Safety
///
/// The caller lends the sequence and the bytes.
unsafe fn next(
    nonces: *mut Sequence,
    nonce: *mut u8,
    nonce_len: usize,
    draw: impl FnOnce(&mut Sequence) -> Result<Nonce, Error>,
) -> c_int {
    answer(|| {
        let place = Bytes::output(nonce, nonce_len)?;
        // SAFETY: the caller lends the sequence, and uses it in no other thread meanwhile.
        let nonces = unsafe { Sequence::of(nonces) }?;
        if nonce_len != nonces.length() {
            return Err(Code::NonceLength);
        }
        // SAFETY: the caller lends the bytes for the call.
        unsafe { place.write() }.copy_from_slice(&draw(nonces)?);
        Ok(())
    })
}

/// Ends a sequence.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_nonces_free(nonces: *mut Sequence) {
    // SAFETY: the caller gives the sequence back.
    unsafe { free(nonces) };
}
