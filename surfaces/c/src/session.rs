//! Sessions: an expanded key behind a pointer.

use core::ffi::c_int;

use lanecrypt_engine::{Engine, Session};

use crate::algorithm;
use crate::ffi_args::{Bytes, free, give_object, object};

/// Opens a session that seals and opens messages.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_session_new(
    session: *mut *mut Session,
    algorithm: c_int,
    key: *const u8,
    key_len: usize,
) -> c_int {
    // SAFETY: the same arguments.
    unsafe { lc_session_new_with_tag(session, algorithm, key, key_len, 0) }
}

/// The same with tags of this length; 0 is the usual one.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_session_new_with_tag(
    session: *mut *mut Session,
    algorithm: c_int,
    key: *const u8,
    key_len: usize,
    tag_len: usize,
) -> c_int {
    let make = |key: Bytes| {
        let algorithm = algorithm::of_number(algorithm)?;
        // SAFETY: the caller lends the key for the call.
        let key = unsafe { key.read() };
        let mut session = Engine::new().boxed_session(algorithm, key)?;
        if tag_len != 0 {
            session.set_tag_length(tag_len)?;
        }
        Ok(session)
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(session, Bytes::input(key, key_len), make) }
}

/// Closes a session of any kind.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_session_free(session: *mut Session) {
    // SAFETY: the caller gives the session back.
    unsafe { free(session) };
}

/// The number of its algorithm; 0 if it has a key of signatures or is none.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_session_algorithm(session: *const Session) -> c_int {
    // SAFETY: the caller lends the session.
    let session = unsafe { object(session) };
    session.ok().and_then(Session::algorithm).map_or(0, algorithm::number)
}

/// The length of its tags.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_session_tag_len(session: *const Session) -> usize {
    // SAFETY: the caller lends the session.
    unsafe { object(session) }.map_or(0, Session::tag_length)
}

/// The length of its signatures.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_session_signature_len(session: *const Session) -> usize {
    // SAFETY: the caller lends the session.
    unsafe { object(session) }.map_or(0, Session::signature_length)
}
