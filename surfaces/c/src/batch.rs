//! Many messages at once.
//!
//! `lc_process` adds each request to a [`Batch`], which serves it at once or keeps it, so requests
//! of C are not converted into requests of Rust.

use core::ffi::c_int;

use lanecrypt_engine::{Batch, BatchBuffer, Engine, Operation, Session};

use crate::code::Code;
use crate::ffi_args::{Bytes, caught, checked, free, give_object, object, object_mut};
use crate::operation;
use crate::single::data;

/// The most messages that a buffer is for, so that no argument asks for all memory.
const MOST: usize = 1 << 16;

/// One message, as C describes it. `outcome` is written.
#[repr(C)]
pub(crate) struct Request {
    pub(crate) session: *const Session,
    pub(crate) operation: c_int,
    pub(crate) outcome: c_int,
    pub(crate) nonce: *const u8,
    pub(crate) nonce_len: usize,
    pub(crate) aad: *const u8,
    pub(crate) aad_len: usize,
    pub(crate) from: *const u8,
    pub(crate) to: *mut u8,
    pub(crate) len: usize,
    pub(crate) tag: *mut u8,
    pub(crate) tag_len: usize,
}

/// Makes memory for batches.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_batch_buffer_new(buffer: *mut *mut BatchBuffer, messages: usize) -> c_int {
    let make = |_| {
        if messages == 0 || messages > MOST {
            return Err(Code::Range);
        }
        Ok(Box::new(Engine::new().batch_buffer(messages)))
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(buffer, Ok(Bytes::NONE), make) }
}

/// Gives the memory back.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_batch_buffer_free(buffer: *mut BatchBuffer) {
    // SAFETY: the caller gives the buffer back.
    unsafe { free(buffer) };
}

/// Serves an array of messages.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_process(
    buffer: *mut BatchBuffer,
    requests: *mut Request,
    count: usize,
) -> c_int {
    caught(|| {
        // SAFETY: the caller lends the buffer, and uses it in no other thread meanwhile.
        let buffer = unsafe { object_mut(buffer) }?;
        if count == 0 {
            return Ok(());
        }
        checked(requests)?;
        if count > isize::MAX as usize / size_of::<Request>() {
            return Err(Code::TooLong);
        }
        // SAFETY: the caller lends the array and all that it points to.
        unsafe { serve(buffer, requests, count) }
    })
}

/// Adds all messages to a batch, and writes their outcomes.
///
/// # Safety
///
/// The caller lends the array and all that it points to.
unsafe fn serve(
    buffer: &mut BatchBuffer,
    requests: *mut Request,
    count: usize,
) -> Result<(), Code> {
    let mut batch = buffer.batch();
    // The number of messages that were refused before they came into the batch.
    let mut refused = 0usize;
    for index in 0..count {
        // SAFETY: the index is in the array.
        let place = unsafe { requests.add(index) };
        // SAFETY: the caller lends it. No other reference to it exists.
        let request = unsafe { &mut *place };
        // SAFETY: the caller lends what it points to.
        let outcome = match unsafe { add(&mut batch, request) } {
            Ok(()) => 0,
            Err(code) => {
                refused += 1;
                code.number()
            }
        };
        request.outcome = outcome;
    }
    let finished = batch.finish();
    if refused == 0 && finished.is_ok() {
        return Ok(());
    }
    let mut outcomes = buffer.outcomes();
    for index in 0..count {
        // SAFETY: the index is in the array.
        let place = unsafe { requests.add(index) };
        // SAFETY: the caller lends it. No other reference to it exists.
        let request = unsafe { &mut *place };
        // What came into the batch stands in its order.
        if request.outcome == 0 {
            request.outcome = match outcomes.next().flatten() {
                Some(Ok(())) => 0,
                Some(Err(error)) => Code::from(error).number(),
                None => Code::Internal.number(),
            };
        }
    }
    Err(Code::BatchFailed)
}

/// Adds a message to a batch; an error if it does not come into it.
///
/// # Safety
///
/// The caller lends all that the request points to until the batch ends.
#[inline(always)]
unsafe fn add<'a>(batch: &mut Batch<'_, 'a>, request: &Request) -> Result<(), Code> {
    let operation = operation::of_number(request.operation)?;
    // SAFETY: the caller lends the session.
    let session: &'a Session = unsafe { object(request.session) }?;
    let nonce = Bytes::input(request.nonce, request.nonce_len)?;
    let aad = Bytes::input(request.aad, request.aad_len)?;
    let tag = Bytes::output(request.tag, request.tag_len)?;
    let from = Bytes::input(request.from, request.len)?;
    if operation == Operation::Sign {
        tag.apart_from(from)?;
        // SAFETY: the caller lends the bytes, and what is written overlaps nothing else.
        let message: &'a [u8] = unsafe { from.read() };
        // SAFETY: the same.
        batch.sign(session, message, unsafe { tag.write() });
        return Ok(());
    }
    if operation == Operation::Verify {
        // SAFETY: the caller lends the bytes.
        let message: &'a [u8] = unsafe { from.read() };
        // SAFETY: the same.
        batch.verify(session, message, unsafe { tag.read() });
        return Ok(());
    }
    let to = Bytes::output(request.to, request.len)?;
    to.apart_from(nonce)?;
    // SAFETY: the caller lends the bytes for the call, and what is written does not overlap them.
    let nonce_bytes = unsafe { nonce.read() };
    if matches!(operation, Operation::Encrypt | Operation::Decrypt) {
        // SAFETY: the same.
        let data = unsafe { data(from, to) }?;
        match operation {
            Operation::Encrypt => batch.encrypt(session, nonce_bytes, data),
            _ => batch.decrypt(session, nonce_bytes, data),
        };
        return Ok(());
    }
    to.apart_from(aad)?;
    to.apart_from(tag)?;
    if operation == Operation::Seal {
        tag.apart_from(nonce)?;
        tag.apart_from(aad)?;
        tag.apart_from(from)?;
    }
    // SAFETY: the same.
    let data = unsafe { data(from, to) }?;
    // SAFETY: the same.
    let aad: &'a [u8] = unsafe { aad.read() };
    if operation == Operation::Seal {
        // SAFETY: the same.
        let tag = unsafe { tag.write() };
        batch.seal_detached(session, nonce_bytes, aad, data, tag);
    } else {
        // SAFETY: the same; only read.
        let tag = unsafe { tag.read() };
        batch.open_detached(session, nonce_bytes, aad, data, tag);
    }
    Ok(())
}
