//! Raw sessions: ciphers that do not authenticate.

use core::ffi::c_int;

use lanecrypt_engine::{Engine, Session};
use lanecrypt_kernels::wipe;

use crate::algorithm;
use crate::code::Code;
use crate::ffi_args::{Bytes, answer, give_object, object};
use crate::single::data;

/// Opens a session of an algorithm that does not authenticate.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_hazmat_session_new(
    session: *mut *mut Session,
    algorithm: c_int,
    key: *const u8,
    key_len: usize,
) -> c_int {
    let make = |key: Bytes| {
        let algorithm = algorithm::of_number(algorithm)?;
        // SAFETY: the caller lends the key for the call.
        let key = unsafe { key.read() };
        Ok(Engine::new().boxed_raw_session(algorithm, key)?)
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(session, Bytes::input(key, key_len), make) }
}

/// Encrypts one whole message.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_hazmat_encrypt(
    session: *const Session,
    iv: *const u8,
    iv_len: usize,
    from: *const u8,
    to: *mut u8,
    len: usize,
) -> c_int {
    // SAFETY: the same arguments.
    answer(|| unsafe { crypt::<true>(session, iv, iv_len, from, to, len) })
}

/// Decrypts one whole message.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_hazmat_decrypt(
    session: *const Session,
    iv: *const u8,
    iv_len: usize,
    from: *const u8,
    to: *mut u8,
    len: usize,
) -> c_int {
    // SAFETY: the same arguments.
    answer(|| unsafe { crypt::<false>(session, iv, iv_len, from, to, len) })
}

/// # Safety
///
/// The caller lends the session and the bytes.
#[inline(always)]
unsafe fn crypt<const ENCRYPT: bool>(
    session: *const Session,
    iv: *const u8,
    iv_len: usize,
    from: *const u8,
    to: *mut u8,
    len: usize,
) -> Result<(), Code> {
    let iv = Bytes::input(iv, iv_len)?;
    let (from, to) = (Bytes::input(from, len)?, Bytes::output(to, len)?);
    to.apart_from(iv)?;
    // SAFETY: the caller lends the session.
    let session = unsafe { object(session) }?;
    // SAFETY: the caller lends the bytes for the call, and what is written overlaps nothing else.
    let iv = unsafe { iv.read() };
    // SAFETY: the same.
    let data = unsafe { data(from, to) }?;
    let outcome = if ENCRYPT { session.encrypt(iv, data) } else { session.decrypt(iv, data) };
    Ok(outcome?)
}

/// Wipes what calls have left on the stack and in registers.
#[unsafe(no_mangle)]
extern "C" fn lc_hazmat_burn_stack() {
    // The algorithms that have numbers reach no deeper.
    wipe::stack::<{ wipe::DEPTH }>();
    wipe::registers();
}
