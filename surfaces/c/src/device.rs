//! The client of a daemon that keeps keys.

use core::ffi::{c_char, c_int};
use core::ptr;
use std::ffi::OsStr;

use lanecrypt_device::{
    Client, Completion as Completed, ConnectError, Error, Message, RejectReason, Session,
};
use lanecrypt_engine::{Operation, RsaKey};

use crate::code::Code;
use crate::ffi_args::{
    Bytes, caught, checked, free, give, give_nothing, give_object, in_place, object, object_mut,
    text,
};
use crate::{algorithm, operation, signatures};

/// A connection, and the sessions that C knows by number, from 1 on.
pub(crate) struct Device {
    client: Client<Lent>,
    sessions: Vec<Option<Session>>,
}

/// The buffer of a message in flight. C lends it until its completion.
struct Lent {
    bytes: Bytes,
    /// As C gave it, also if there are no bytes.
    place: *mut u8,
    length: usize,
}

impl AsMut<[u8]> for Lent {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: C lends the bytes until the completion, which takes this value apart, and this is
        // the only slice that is made of them.
        unsafe { self.bytes.write() }
    }
}

/// What has become of a message in flight.
#[repr(C)]
pub(crate) struct Completion {
    pub(crate) user: u64,
    pub(crate) buffer: *mut u8,
    pub(crate) len: usize,
    pub(crate) outcome: c_int,
}

impl From<Error> for Code {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(error) => error.into(),
            Error::Denied(refusal) => refusal.into(),
            Error::UnknownSession => Self::NoSession,
            Error::NotAllowed => Self::NotAllowed,
            Error::TooLong => Self::TooLong,
            Error::Full => Self::Full,
            Error::Disconnected => Self::Disconnected,
            Error::Forked => Self::Forked,
            Error::Entropy => Self::Entropy,
            Error::MakesNonces => Self::NotAllowed,
            Error::KeyRemoved => Self::Denied,
            Error::ShuttingDown => Self::Disconnected,
            Error::Malformed => Self::Version,
            _ => Self::Internal,
        }
    }
}

impl From<RejectReason> for Code {
    fn from(refusal: RejectReason) -> Self {
        match refusal {
            RejectReason::Version { .. } | RejectReason::Malformed => Self::Version,
            RejectReason::User(_) => Self::Forbidden,
            RejectReason::Algorithm => Self::UnknownAlgorithm,
            RejectReason::KeyLength => Self::KeyLength,
            RejectReason::WeakKey => Self::WeakKey,
            RejectReason::Key => Self::KeyNumbers,
            RejectReason::Session => Self::NoSession,
            RejectReason::Entropy => Self::Entropy,
            _ => Self::Denied,
        }
    }
}

impl From<ConnectError> for Code {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::PathTooLong(_) => Self::TooLong,
            ConnectError::NoSocket(_) | ConnectError::NoDaemon(_) => Self::NoDaemon,
            ConnectError::Forbidden(_) => Self::Forbidden,
            ConnectError::NotADaemon(_) => Self::Version,
            ConnectError::Refused(refusal) => refusal.into(),
            _ => Self::System,
        }
    }
}

impl Device {
    /// The session with this number.
    fn session(&self, number: u32) -> Result<Session, Code> {
        let index = (number as usize).checked_sub(1);
        let found = index.and_then(|index| self.sessions.get(index).copied().flatten());
        found.ok_or(Code::NoSession)
    }

    /// Gives a session a number, the lowest that is free.
    fn number(&mut self, session: Session) -> u32 {
        let free = self.sessions.iter().position(Option::is_none);
        let index = free.unwrap_or_else(|| {
            self.sessions.push(None);
            self.sessions.len() - 1
        });
        self.sessions[index] = Some(session);
        // The daemon has as many sessions of a client as 32 bits count.
        u32::try_from(index + 1).unwrap_or(0)
    }
}

/// Connects to a daemon.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_connect(device: *mut *mut Device, path: *const c_char) -> c_int {
    let is_usual = path.is_null();
    let path = if is_usual {
        Ok(Bytes::NONE)
    } else {
        // SAFETY: the caller lends the string for the call.
        unsafe { text(path) }
    };
    let make = |path: Bytes| {
        let client = if is_usual {
            Client::connect(lanecrypt_device::default_path())
        } else {
            // SAFETY: the same.
            Client::connect(of_bytes(unsafe { path.read() }))
        };
        Ok(Box::new(Device { client: client?, sessions: Vec::new() }))
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(device, path, make) }
}

/// A path of Linux is bytes.
fn of_bytes(path: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(path)
}

/// Ends a connection.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_free(device: *mut Device) {
    // SAFETY: the caller gives the connection back.
    unsafe { free(device) };
}

/// Runs a call that needs the connection.
///
/// # Safety
///
/// The caller lends the connection, and uses it in no other thread meanwhile.
unsafe fn with(device: *mut Device, run: impl FnOnce(&mut Device) -> Result<(), Code>) -> c_int {
    // SAFETY: the caller vouches for it.
    caught(|| run(unsafe { object_mut(device) }?))
}

/// Opens a session by the input and writes its number, or 0 with an error.
///
/// # Safety
///
/// As for [`with`]; the caller lends the place of the number, too.
unsafe fn open(
    device: *mut Device,
    session: *mut u32,
    input: Result<Bytes, Code>,
    open: impl FnOnce(&mut Client<Lent>, Bytes) -> Result<Session, Code>,
) -> c_int {
    // SAFETY: the caller vouches for it.
    if let Err(code) = unsafe { give_nothing(session, 0, input) } {
        return code.number();
    }
    let open = |device: &mut Device| {
        let opened = open(&mut device.client, input?)?;
        // SAFETY: the same place.
        unsafe { give(session, device.number(opened)) }
    };
    // SAFETY: the caller vouches for it.
    unsafe { with(device, open) }
}

/// Opens a session with this key.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_session_new(
    device: *mut Device,
    session: *mut u32,
    algorithm: c_int,
    key: *const u8,
    key_len: usize,
) -> c_int {
    let opened = |client: &mut Client<Lent>, key: Bytes| {
        // SAFETY: the caller lends the key for the call.
        let key = unsafe { key.read() };
        Ok(client.session(algorithm::of_number(algorithm)?, key)?)
    };
    // SAFETY: the same arguments.
    unsafe { open(device, session, Bytes::input(key, key_len), opened) }
}

/// Opens a session with a key that the daemon makes.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_session_generated(
    device: *mut Device,
    session: *mut u32,
    algorithm: c_int,
) -> c_int {
    let opened = |client: &mut Client<Lent>, _| {
        Ok(client.generated_session(algorithm::of_number(algorithm)?)?)
    };
    // SAFETY: the same arguments.
    unsafe { open(device, session, Ok(Bytes::NONE), opened) }
}

/// Opens a session with a key that the daemon has under a name.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_session_named(
    device: *mut Device,
    session: *mut u32,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller lends the string for the call.
    let name = unsafe { text(name) };
    let opened = |client: &mut Client<Lent>, name: Bytes| {
        // SAFETY: the same.
        let name = core::str::from_utf8(unsafe { name.read() }).map_err(|_| Code::Denied)?;
        Ok(client.named_session(name)?)
    };
    // SAFETY: the same arguments.
    unsafe { open(device, session, name, opened) }
}

/// Opens a session with an RSA key.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_rsa_session_new(
    device: *mut Device,
    session: *mut u32,
    algorithm: c_int,
    key: *const u8,
    key_len: usize,
) -> c_int {
    let opened = |client: &mut Client<Lent>, key: Bytes| {
        let padding = signatures::of_number(algorithm)?.padding()?;
        // SAFETY: the caller lends the key for the call.
        let key = unsafe { key.read() };
        Ok(client.rsa_session(RsaKey::from_pem_or_der(key)?, padding)?)
    };
    // SAFETY: the same arguments.
    unsafe { open(device, session, Bytes::input(key, key_len), opened) }
}

/// Closes a session.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_session_free(device: *mut Device, session: u32) -> c_int {
    let close = |device: &mut Device| {
        let closed = device.session(session)?;
        device.client.close(closed)?;
        device.sessions[session as usize - 1] = None;
        Ok(())
    };
    // SAFETY: the same arguments.
    unsafe { with(device, close) }
}

/// The length of its tags.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_session_tag_len(device: *const Device, session: u32) -> usize {
    // SAFETY: the caller lends the connection.
    let device = unsafe { object(device) };
    device.and_then(|device| device.session(session)).map_or(0, Session::tag_length)
}

/// The length of its signatures.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_session_signature_len(device: *const Device, session: u32) -> usize {
    // SAFETY: the caller lends the connection.
    let device = unsafe { object(device) };
    device.and_then(|device| device.session(session)).map_or(0, Session::signature_length)
}

/// Fills memory with random bytes of the daemon's.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_random(device: *mut Device, out: *mut u8, len: usize) -> c_int {
    let fill = |device: &mut Device| {
        let out = Bytes::output(out, len)?;
        // SAFETY: the caller lends the bytes for the call.
        Ok(device.client.fill(unsafe { out.write() })?)
    };
    // SAFETY: the same arguments.
    unsafe { with(device, fill) }
}

/// Seals a message in place; its last bytes are room for the tag.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_seal(
    device: *mut Device,
    session: u32,
    nonce: *const u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    packet: *mut u8,
    packet_len: usize,
) -> c_int {
    let seal = |device: &mut Device| {
        // SAFETY: the caller lends the bytes for the call.
        let (nonce, aad, packet) =
            unsafe { in_place((nonce, nonce_len), (aad, aad_len), (packet, packet_len)) }?;
        let session = device.session(session)?;
        Ok(device.client.seal(session, nonce, aad, packet)?)
    };
    // SAFETY: the same arguments.
    unsafe { with(device, seal) }
}

/// Seals a message in place, with a nonce that the daemon makes.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_seal_next(
    device: *mut Device,
    session: u32,
    nonce: *mut u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    packet: *mut u8,
    packet_len: usize,
) -> c_int {
    let seal = |device: &mut Device| {
        let room = Bytes::output(nonce, nonce_len)?;
        Bytes::output(packet, packet_len)?.apart_from(room)?;
        // SAFETY: the caller lends the bytes for the call.
        let (_, aad, packet) =
            unsafe { in_place((ptr::null(), 0), (aad, aad_len), (packet, packet_len)) }?;
        let session = device.session(session)?;
        if nonce_len != session.nonce_length() {
            return Err(Code::NonceLength);
        }
        let made = device.client.seal_next(session, aad, packet)?;
        // SAFETY: the same; the packet does not overlap it, and `aad` is not used again.
        unsafe { room.write() }.copy_from_slice(&made);
        Ok(())
    };
    // SAFETY: the same arguments.
    unsafe { with(device, seal) }
}

/// Opens a packet in place.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_open(
    device: *mut Device,
    session: u32,
    nonce: *const u8,
    nonce_len: usize,
    aad: *const u8,
    aad_len: usize,
    packet: *mut u8,
    packet_len: usize,
) -> c_int {
    let open = |device: &mut Device| {
        // SAFETY: the caller lends the bytes for the call.
        let (nonce, aad, packet) =
            unsafe { in_place((nonce, nonce_len), (aad, aad_len), (packet, packet_len)) }?;
        let session = device.session(session)?;
        device.client.open(session, nonce, aad, packet)?;
        Ok(())
    };
    // SAFETY: the same arguments.
    unsafe { with(device, open) }
}

/// Signs a message.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_sign(
    device: *mut Device,
    session: u32,
    message: *const u8,
    message_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> c_int {
    let sign = |device: &mut Device| {
        let message = Bytes::input(message, message_len)?;
        let signature = Bytes::output(signature, signature_len)?;
        signature.apart_from(message)?;
        let session = device.session(session)?;
        // SAFETY: the caller lends the bytes for the call, and they do not overlap.
        let message = unsafe { message.read() };
        // SAFETY: the same.
        Ok(device.client.sign(session, message, unsafe { signature.write() })?)
    };
    // SAFETY: the same arguments.
    unsafe { with(device, sign) }
}

/// Checks the signature of a message.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_verify(
    device: *mut Device,
    session: u32,
    message: *const u8,
    message_len: usize,
    signature: *const u8,
    signature_len: usize,
) -> c_int {
    let verify = |device: &mut Device| {
        let message = Bytes::input(message, message_len)?;
        let signature = Bytes::input(signature, signature_len)?;
        let session = device.session(session)?;
        // SAFETY: the caller lends the bytes for the call.
        let message = unsafe { message.read() };
        // SAFETY: the same.
        Ok(device.client.verify(session, message, unsafe { signature.read() })?)
    };
    // SAFETY: the same arguments.
    unsafe { with(device, verify) }
}

/// Submits a message, whose buffer is lent until its completion.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_submit(
    device: *mut Device,
    session: u32,
    operation: c_int,
    nonce: *const u8,
    nonce_len: usize,
    buffer: *mut u8,
    len: usize,
    header_len: usize,
    user: u64,
) -> c_int {
    let submit = |device: &mut Device| {
        let operation: Operation = operation::of_number(operation)?;
        let nonce = Bytes::input(nonce, nonce_len)?;
        let lent = Lent { bytes: Bytes::output(buffer, len)?, place: buffer, length: len };
        lent.bytes.apart_from(nonce)?;
        let session = device.session(session)?;
        // SAFETY: the caller lends the bytes for the call, and the buffer does not overlap them.
        let nonce = unsafe { nonce.read() };
        let message = Message::new(session, operation, nonce, lent);
        match device.client.submit(message.with_header(header_len).with_user(user)) {
            Ok(_) => Ok(()),
            Err(not_taken) => Err(not_taken.reason.into()),
        }
    };
    // SAFETY: the same arguments.
    unsafe { with(device, submit) }
}

/// Takes a completion, if there is one.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_poll(device: *mut Device, completion: *mut Completion) -> c_int {
    // SAFETY: the same arguments.
    unsafe { complete(device, completion, Client::poll) }
}

/// Waits for a completion.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_wait(device: *mut Device, completion: *mut Completion) -> c_int {
    // SAFETY: the same arguments.
    unsafe { complete(device, completion, Client::wait) }
}

/// Takes a message back that has no answer because the daemon is gone.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_device_abandoned(
    device: *mut Device,
    completion: *mut Completion,
) -> c_int {
    // SAFETY: the same arguments.
    unsafe { complete(device, completion, |client| Ok(client.take_abandoned())) }
}

/// Writes the completion that `take` gives.
///
/// # Safety
///
/// As for [`with`]; the caller lends the place of the completion, too.
unsafe fn complete(
    device: *mut Device,
    completion: *mut Completion,
    take: impl FnOnce(&mut Client<Lent>) -> Result<Option<Completed<Lent>>, Error>,
) -> c_int {
    let run = |device: &mut Device| {
        // Before a completion is taken that nobody would get.
        checked(completion)?;
        let Completed { buffer: Lent { place: buffer, length: len, .. }, user, outcome, .. } =
            take(&mut device.client)?.ok_or(Code::Nothing)?;
        let outcome = outcome.err().map_or(0, |error| Code::from(error).number());
        // SAFETY: the caller vouches for it.
        unsafe { give(completion, Completion { user, buffer, len, outcome }) }
    };
    // SAFETY: the same arguments.
    unsafe { with(device, run) }
}
