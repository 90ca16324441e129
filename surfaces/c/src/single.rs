//! One message at a time, by a session.

use core::ffi::c_int;

use lanecrypt_engine::{Data, Session};

use crate::code::Code;
use crate::ffi_args::{Bytes, answer, in_place, object};
use crate::nonces::Sequence;

/// Seals a message in place; its last bytes are room for the tag.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_seal(
    session: *const Session,
    nonce: *const u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    packet: *mut u8,
    packet_len: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller lends the bytes for the call.
        let (nonce, aad, packet) =
            unsafe { in_place((nonce, nonce_len), (aad, aad_len), (packet, packet_len)) }?;
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        // As `Cipher::seal` does, which would be one more call.
        let cipher = session.cipher().ok_or(Code::Unsupported)?;
        let at = packet.len().checked_sub(cipher.tag_length());
        let cut = at.and_then(|at| packet.split_at_mut_checked(at));
        let (message, tag) = cut.ok_or(Code::OutputLength)?;
        Ok(cipher.seal_detached(nonce, aad, message, tag)?)
    })
}

/// Opens a packet in place.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_open(
    session: *const Session,
    nonce: *const u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    packet: *mut u8,
    packet_len: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller lends the bytes for the call.
        let (nonce, aad, packet) =
            unsafe { in_place((nonce, nonce_len), (aad, aad_len), (packet, packet_len)) }?;
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        // As `Cipher::open` does, which would be one more call.
        let cipher = session.cipher().ok_or(Code::Unsupported)?;
        let at = packet.len().checked_sub(cipher.tag_length());
        let cut = at.and_then(|at| packet.split_at_mut_checked(at));
        let (message, tag) = cut.ok_or(Code::Authentication)?;
        Ok(cipher.open_detached(nonce, aad, message, tag)?)
    })
}

/// Seals a message in place with the next nonce of a sequence.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_seal_next(
    session: *const Session,
    nonces: *mut Sequence,
    nonce: *mut u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    packet: *mut u8,
    packet_len: usize,
) -> c_int {
    answer(|| {
        let (nonce, aad) = (Bytes::output(nonce, nonce_len)?, Bytes::input(aad, aad_len)?);
        let packet = Bytes::output(packet, packet_len)?;
        packet.apart_from(nonce)?;
        packet.apart_from(aad)?;
        nonce.apart_from(aad)?;
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        // SAFETY: the caller lends the sequence, and uses it in no other thread meanwhile.
        let nonces = unsafe { Sequence::of(nonces) }?;
        // SAFETY: the caller lends the bytes for the call, and nothing overlaps.
        let place = unsafe { nonce.write() };
        // SAFETY: the same.
        let aad = unsafe { aad.read() };
        // SAFETY: the same.
        let packet = unsafe { packet.write() };
        if place.len() != nonces.length() {
            return Err(Code::NonceLength);
        }
        place.copy_from_slice(&nonces.seal(session, aad, packet)?);
        Ok(())
    })
}

/// Seals a message into a packet, which is longer by a tag.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_seal_to(
    session: *const Session,
    nonce: *const u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    message: *const u8,
    message_len: usize,
    packet: *mut u8,
    packet_len: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        let (nonce, aad) = (Bytes::input(nonce, nonce_len)?, Bytes::input(aad, aad_len)?);
        let (from, packet) =
            (Bytes::input(message, message_len)?, Bytes::output(packet, packet_len)?);
        if packet_len.checked_sub(message_len) != Some(session.tag_length()) {
            return Err(wrong_length(session));
        }
        packet.is_same_or_apart(from)?;
        let (to, tag) = packet.split_at(message_len)?;
        // SAFETY: the caller lends the bytes for the call.
        unsafe { crypt::<true>(session, nonce, aad, from, to, tag) }
    })
}

/// Opens a packet into a message, which is shorter by a tag.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_open_to(
    session: *const Session,
    nonce: *const u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    packet: *const u8,
    packet_len: usize,
    message: *mut u8,
    message_len: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        let (nonce, aad) = (Bytes::input(nonce, nonce_len)?, Bytes::input(aad, aad_len)?);
        let (packet, to) =
            (Bytes::input(packet, packet_len)?, Bytes::output(message, message_len)?);
        if packet_len.checked_sub(message_len) != Some(session.tag_length()) {
            return Err(wrong_length(session));
        }
        to.is_same_or_apart(packet)?;
        let (from, tag) = packet.split_at(message_len)?;
        // SAFETY: the caller lends the bytes for the call.
        unsafe { crypt::<false>(session, nonce, aad, from, to, tag) }
    })
}

/// Encrypts a message and writes its tag somewhere else.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_seal_detached(
    session: *const Session,
    nonce: *const u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    from: *const u8,
    to: *mut u8,
    len: usize,
    tag: *mut u8,
    tag_len: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        let (nonce, aad) = (Bytes::input(nonce, nonce_len)?, Bytes::input(aad, aad_len)?);
        let (from, to) = (Bytes::input(from, len)?, Bytes::output(to, len)?);
        let tag = Bytes::output(tag, tag_len)?;
        // SAFETY: the caller lends the bytes for the call.
        unsafe { crypt::<true>(session, nonce, aad, from, to, tag) }
    })
}

/// Decrypts a message if its tag, which stands somewhere else, is right.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_open_detached(
    session: *const Session,
    nonce: *const u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    from: *const u8,
    to: *mut u8,
    len: usize,
    tag: *const u8,
    tag_len: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        let (nonce, aad) = (Bytes::input(nonce, nonce_len)?, Bytes::input(aad, aad_len)?);
        let (from, to) = (Bytes::input(from, len)?, Bytes::output(to, len)?);
        let tag = Bytes::input(tag, tag_len)?;
        // SAFETY: the caller lends the bytes for the call.
        unsafe { crypt::<false>(session, nonce, aad, from, to, tag) }
    })
}

/// The error of a packet and a message whose lengths do not differ by a tag.
#[cold]
fn wrong_length(session: &Session) -> Code {
    if session.cipher().is_some() { Code::OutputLength } else { Code::Unsupported }
}

/// Seals or opens from one place to another, or in place.
///
/// # Safety
///
/// The bytes are lent for the call. Whether they overlap is checked here.
#[inline(always)]
unsafe fn crypt<const SEAL: bool>(
    session: &Session,
    nonce: Bytes,
    aad: Bytes,
    from: Bytes,
    to: Bytes,
    tag: Bytes,
) -> Result<(), Code> {
    if SEAL {
        tag.apart_from(nonce)?;
        tag.apart_from(aad)?;
        tag.apart_from(from)?;
    }
    to.apart_from(tag)?;
    to.apart_from(nonce)?;
    to.apart_from(aad)?;
    // SAFETY: the caller lends the bytes, and what is written overlaps nothing else.
    let nonce = unsafe { nonce.read() };
    // SAFETY: the same.
    let aad = unsafe { aad.read() };
    // SAFETY: the same.
    let data = unsafe { data(from, to) }?;
    let outcome = if SEAL {
        // SAFETY: the same.
        session.seal_detached(nonce, aad, data, unsafe { tag.write() })
    } else {
        // SAFETY: the same.
        session.open_detached(nonce, aad, data, unsafe { tag.read() })
    };
    Ok(outcome?)
}

/// Data in place or from one place to another, of one length.
///
/// # Safety
///
/// The bytes are lent for the call, and `to` overlaps nothing else that is in use but perhaps
/// `from`.
#[inline(always)]
pub(crate) unsafe fn data<'a>(from: Bytes, to: Bytes) -> Result<Data<'a>, Code> {
    let in_place = to.is_same_or_apart(from)?;
    // SAFETY: the caller lends the bytes. If some of them were in `from`, all are, and only this
    // slice is made of them.
    let written = unsafe { to.write() };
    if in_place {
        return Ok(Data::from(written));
    }
    // SAFETY: the caller lends the bytes, and none of them are in `to`.
    let read = unsafe { from.read() };
    Ok(Data::from((read, written)))
}
