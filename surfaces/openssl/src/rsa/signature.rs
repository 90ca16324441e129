//! Contexts of signatures: those of the default provider, which keep the settings, and the work.

use core::ffi::{c_char, c_int, c_void};
use core::mem;
use core::ptr;
use core::slice;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use lanecrypt_kernels::{Isa, Level};
use lanecrypt_rsa::{Error, Padding, Request};

use super::Rsa;
use super::hasher::Hasher;
use super::inner::{Inner, Signatures};
use super::job::{Job, Jobs};
use super::key::{Key, of_provider};
use super::padding::{Settings, Side};
use super::queue::{self, Trouble};
use crate::abi::{Context, Dispatch, Param, Table};
use crate::count::COUNTS;
use crate::errors::Failure;
use crate::memory::{bytes, status, tell};

/// Whether OpenSSL makes a signature that is alone faster: it has a kernel for keys of 2048 bits
/// with the multiplications of AVX-512.
fn is_faster_there(bits: usize) -> bool {
    bits == 2048 && Isa::of_processor().has(Level::Avx512)
}

/// A context.
struct Signature {
    rsa: Arc<Rsa>,
    /// The default provider's.
    inner: *mut c_void,
    key: Option<Arc<Key>>,
    message: Message,
}

/// A message that comes in pieces.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a context has one")]
enum Message {
    /// Its first piece will say who takes it.
    Expected,
    /// It is hashed here.
    Ours(Hasher),
    /// The default provider takes it.
    Theirs,
    /// It has ended.
    Over,
}

pub(crate) static FUNCTIONS: Table<[Dispatch; 24]> = Table([
    Dispatch::new_signature(new),
    Dispatch::init_sign(init_sign),
    Dispatch::sign(sign),
    Dispatch::init_verify(init_verify),
    Dispatch::verify(verify),
    Dispatch::init_recover(init_recover),
    Dispatch::recover(recover),
    Dispatch::init_digest_sign(init_digest_sign),
    Dispatch::update_digest_sign(update_digest::<true>),
    Dispatch::end_digest_sign(end_digest_sign),
    Dispatch::init_digest_verify(init_digest_verify),
    Dispatch::update_digest_verify(update_digest::<false>),
    Dispatch::end_digest_verify(end_digest_verify),
    Dispatch::free_signature(free),
    Dispatch::duplicate_signature(duplicate),
    Dispatch::get_signature_params(get_params),
    Dispatch::gettable_signature_params(gettable_params),
    Dispatch::set_signature_params(set_params),
    Dispatch::settable_signature_params(settable_params),
    Dispatch::get_digest_params(get_digest_params),
    Dispatch::gettable_digest_params(gettable_digest_params),
    Dispatch::set_digest_params(set_digest_params),
    Dispatch::settable_digest_params(settable_digest_params),
    Dispatch::END,
]);

/// Lends a context together with the functions of the default provider.
///
/// # Safety
///
/// `context` is null, or comes from [`new`] or [`duplicate`]. Nothing else uses it during the call:
/// contexts belong to one thread at a time, and to one job.
unsafe fn lend<'s>(context: Context) -> Option<(&'s mut Signature, &'s Signatures)> {
    // SAFETY: the caller says so.
    let signature = unsafe { context.cast::<Signature>().as_mut() }?;
    let rsa: *const Rsa = Arc::as_ptr(&signature.rsa);
    // SAFETY: the context holds it.
    let functions = &unsafe { &*rsa }.inner()?.signatures;
    Some((signature, functions))
}

impl Signature {
    fn keep(rsa: &Arc<Rsa>, inner: &Inner, properties: *const c_char) -> Context {
        let inner = inner.new_signature(properties);
        if inner.is_null() {
            rsa.reporter.fail(Failure::Memory);
            return inner;
        }
        let rsa = Arc::clone(rsa);
        Box::into_raw(Box::new(Self { rsa, inner, key: None, message: Message::Expected })).cast()
    }

    /// The job that runs, in which signatures wait for each other.
    fn job(&self) -> Option<Job<'_>> {
        self.rsa.jobs.as_ref().and_then(Jobs::current)
    }

    /// The key and the padding, if the operation is one for us.
    fn ours(&self, functions: &Signatures, side: Side) -> Option<(Arc<Key>, Padding)> {
        let key = self.key.as_ref()?;
        let numbers = key.numbers()?;
        if side == Side::Sign && key.remote().is_none() {
            numbers.private()?;
            // Those of a job have company.
            if is_faster_there(numbers.public().bits()) && self.job().is_none() {
                return None;
            }
        }
        // SAFETY: a context of these functions.
        let settings = unsafe { Settings::of(functions, self.inner) }?;
        let padding = settings.padding(side, numbers.public().bits())?;
        Some((Arc::clone(key), padding))
    }

    /// Says how long signatures are, or makes one of a digest.
    ///
    /// # Safety
    ///
    /// `out` is null or has `buffer` bytes, and `length` is null or may be written.
    unsafe fn sign(
        &self,
        (key, padding): (Arc<Key>, Padding),
        digest: &[u8],
        out: *mut u8,
        length: *mut usize,
        buffer: usize,
    ) -> bool {
        let Some(numbers) = key.numbers() else { return false };
        let needed = numbers.public().signature_length();
        if !out.is_null() {
            if buffer < needed {
                return self.rsa.reporter.fail(Failure::BatchBuffer);
            }
            // SAFETY: the caller says so. The bytes are only written.
            let out = unsafe { slice::from_raw_parts_mut(out, needed) };
            if let Err(trouble) = queue::sign(&key, padding, digest, out, self.job()) {
                let reporter = &self.rsa.reporter;
                return match trouble {
                    Trouble::Here(Error::Entropy) => reporter.fail(Failure::Entropy),
                    Trouble::Here(_) => reporter.fail(Failure::Fault),
                    Trouble::Daemon(reason) => reporter.fail_with(Failure::Daemon, &reason),
                };
            }
        }
        // SAFETY: the caller says so.
        unsafe { tell(length, needed) };
        true
    }

    /// Whether the key is in a daemon, so that nothing may be handed on that needs its private
    /// half.
    fn is_remote(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.remote().is_some())
    }

    /// Refuses what only a key that is here can do.
    fn refuse(&self) -> c_int {
        status(self.rsa.reporter.fail(Failure::NotByDaemon))
    }

    /// Hands a digest on to the default provider: `work` gets a new context with the same key and
    /// settings, which `init` has begun.
    fn hand_on(
        &self,
        functions: &Signatures,
        init: impl FnOnce(*mut c_void, *mut c_void, *const Param) -> c_int,
        work: impl FnOnce(*mut c_void) -> c_int,
    ) -> Option<c_int> {
        let key = self.key.as_ref()?;
        // SAFETY: a context of these functions.
        let mut settings = unsafe { Settings::of(functions, self.inner) }?;
        let other = self.rsa.inner()?.new_signature(ptr::null());
        if other.is_null() {
            return None;
        }
        let begun = settings.list(|params| init(other, key.inner(), params));
        let done = if begun == 1 { work(other) } else { begun };
        // SAFETY: a context that was made here.
        unsafe { functions.free?(other) };
        Some(done)
    }

    /// Takes a piece of a message; says no more if it is not for us.
    fn update(&mut self, functions: &Signatures, side: Side, piece: &[u8]) -> Option<bool> {
        self.begin(functions, side);
        match &mut self.message {
            Message::Ours(hasher) => {
                hasher.update(piece);
                Some(true)
            }
            Message::Over => Some(false),
            Message::Expected | Message::Theirs => None,
        }
    }

    /// Decides who takes a message, if it has not begun.
    fn begin(&mut self, functions: &Signatures, side: Side) {
        if matches!(self.message, Message::Expected) {
            self.message = match self.ours(functions, side) {
                Some((_, padding)) => Message::Ours(Hasher::new(padding.hash())),
                None => Message::Theirs,
            };
        }
    }
}

/// Begins an operation with the default provider's context, and with a key, if there is one.
///
/// # Safety
///
/// Both are null or what OpenSSL has of us.
unsafe fn begin(
    context: Context,
    key: *mut c_void,
    init: impl FnOnce(&Signatures, *mut c_void, *mut c_void) -> Option<c_int>,
) -> c_int {
    // SAFETY: the caller says so.
    let Some((signature, functions)) = (unsafe { lend(context) }) else { return 0 };
    // SAFETY: the caller says so.
    let key = unsafe { Key::hold(key) };
    let inner = key.as_ref().map_or(ptr::null_mut(), |key| key.inner());
    let begun = init(functions, signature.inner, inner).unwrap_or(0);
    if begun == 1 {
        if key.is_some() {
            signature.key = key;
        }
        signature.message = Message::Expected;
    }
    begun
}

unsafe extern "C" fn new(provider: *mut c_void, properties: *const c_char) -> Context {
    // SAFETY: OpenSSL passes the provider.
    match unsafe { of_provider(provider) } {
        Some((rsa, inner)) => Signature::keep(rsa, inner, properties),
        None => ptr::null_mut(),
    }
}

unsafe extern "C" fn free(context: Context) {
    if context.is_null() {
        return;
    }
    // SAFETY: what `new` or `duplicate` gave, which OpenSSL gives back once.
    let signature = unsafe { Box::from_raw(context.cast::<Signature>()) };
    if let Some(free) = signature.rsa.inner().and_then(|inner| inner.signatures.free) {
        // SAFETY: a context of the function, which nobody uses again.
        unsafe { free(signature.inner) };
    }
}

unsafe extern "C" fn duplicate(context: Context) -> Context {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend(context) }) else { return ptr::null_mut() };
    let Some(duplicate) = functions.duplicate else { return ptr::null_mut() };
    // SAFETY: a context of the function.
    let inner = unsafe { duplicate(signature.inner) };
    if inner.is_null() {
        return inner;
    }
    let (rsa, key) = (Arc::clone(&signature.rsa), signature.key.clone());
    let message = signature.message.clone();
    Box::into_raw(Box::new(Signature { rsa, inner, key, message })).cast()
}

/// Functions that begin a message, each by the default provider's function of the same name.
macro_rules! beginnings {
    ($($name:ident($($digest:ident: $type:ty)?);)+) => {$(
        unsafe extern "C" fn $name(
            context: Context,
            $($digest: $type,)?
            key: *mut c_void,
            params: *const Param,
        ) -> c_int {
            // SAFETY: the arguments come from OpenSSL unchanged.
            let init = |functions: &Signatures, inner, key| unsafe {
                Some(functions.$name?(inner, $($digest,)? key, params))
            };
            // SAFETY: OpenSSL passes a context and a key.
            unsafe { begin(context, key, init) }
        }
    )+};
}

beginnings! {
    init_sign();
    init_verify();
    init_recover();
    init_digest_sign(digest: *const c_char);
    init_digest_verify(digest: *const c_char);
}

/// Functions that the default provider's of the same name answer, or `$none`.
macro_rules! handed_on {
    ($none:expr => $result:ty: $($name:ident($($argument:ident: $type:ty),*);)+) => {$(
        unsafe extern "C" fn $name(context: Context, $($argument: $type),*) -> $result {
            // SAFETY: OpenSSL passes a context.
            let lent = unsafe { lend(context) };
            let Some((signature, functions)) = lent else { return $none };
            // SAFETY: a context of the function; the arguments come from OpenSSL unchanged.
            functions.$name.map_or($none, |theirs| unsafe {
                theirs(signature.inner, $($argument),*)
            })
        }
    )+};
}

handed_on! { 0 => c_int:
    recover(out: *mut u8, length: *mut usize, buffer: usize, made: *const u8, made_length: usize);
    get_params(params: *mut Param);
    set_params(params: *const Param);
    get_digest_params(params: *mut Param);
    set_digest_params(params: *const Param);
}

handed_on! { ptr::null() => *const Param:
    gettable_digest_params();
    settable_digest_params();
}

unsafe extern "C" fn sign(
    context: Context,
    out: *mut u8,
    length: *mut usize,
    buffer: usize,
    digest: *const u8,
    digest_length: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend(context) }) else { return 0 };
    // SAFETY: OpenSSL gives as many bytes as it says.
    let given = unsafe { bytes(digest, digest_length) };
    if let (Some(given), false) = (given, out.is_null())
        && let Some(ours) = signature.ours(functions, Side::Sign)
        && ours.1.hash().length() == given.len()
    {
        // SAFETY: places of OpenSSL's.
        return status(unsafe { signature.sign(ours, given, out, length, buffer) });
    }
    if signature.is_remote() && !out.is_null() {
        return signature.refuse();
    }
    // SAFETY: the arguments come from OpenSSL unchanged.
    functions.sign.map_or(0, |sign| unsafe {
        sign(signature.inner, out, length, buffer, digest, digest_length)
    })
}

/// Whether a signature is one of this digest.
fn check((key, padding): &(Arc<Key>, Padding), digest: &[u8], made: &[u8]) -> bool {
    let Some(numbers) = key.numbers() else { return false };
    let request = Request::verify_digest(numbers.public(), *padding, digest, made);
    let [outcome] = queue::serve([request]);
    COUNTS.checks.fetch_add(1, Ordering::Relaxed);
    outcome.is_ok()
}

unsafe extern "C" fn verify(
    context: Context,
    made: *const u8,
    made_length: usize,
    digest: *const u8,
    digest_length: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend(context) }) else { return 0 };
    // SAFETY: OpenSSL gives as many bytes as it says.
    let given = (unsafe { bytes(made, made_length) }, unsafe { bytes(digest, digest_length) });
    if let (Some(made), Some(digest)) = given
        && let Some(ours) = signature.ours(functions, Side::Verify)
        && ours.1.hash().length() == digest.len()
    {
        return status(check(&ours, digest, made));
    }
    // SAFETY: the arguments come from OpenSSL unchanged.
    functions.verify.map_or(0, |verify| unsafe {
        verify(signature.inner, made, made_length, digest, digest_length)
    })
}

unsafe extern "C" fn update_digest<const SIGN: bool>(
    context: Context,
    data: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend(context) }) else { return 0 };
    let (side, theirs) = match SIGN {
        true => (Side::Sign, functions.update_digest_sign),
        false => (Side::Verify, functions.update_digest_verify),
    };
    // SAFETY: OpenSSL gives as many bytes as it says.
    let piece = unsafe { bytes(data, length) }.unwrap_or_default();
    if let Some(taken) = signature.update(functions, side, piece) {
        return status(taken);
    }
    // SAFETY: the arguments come from OpenSSL unchanged.
    theirs.map_or(0, |update| unsafe { update(signature.inner, data, length) })
}

unsafe extern "C" fn end_digest_sign(
    context: Context,
    out: *mut u8,
    length: *mut usize,
    buffer: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend(context) }) else { return 0 };
    if out.is_null() && !matches!(signature.message, Message::Theirs) {
        let length_of = signature.key.as_ref().and_then(|key| Some(key.numbers()?.public()));
        if let Some(public) = length_of {
            // SAFETY: a place of OpenSSL's.
            unsafe { tell(length, public.signature_length()) };
            return 1;
        }
    }
    signature.begin(functions, Side::Sign);
    let hasher = match mem::replace(&mut signature.message, Message::Over) {
        Message::Over => return 0,
        Message::Ours(hasher) => hasher,
        theirs => {
            signature.message = theirs;
            if signature.is_remote() && !out.is_null() {
                return signature.refuse();
            }
            // SAFETY: the arguments come from OpenSSL unchanged.
            return functions
                .end_digest_sign
                .map_or(0, |end| unsafe { end(signature.inner, out, length, buffer) });
        }
    };
    let hash = hasher.hash();
    let digest = hasher.finish();
    match signature.ours(functions, Side::Sign) {
        Some(ours) if ours.1.hash() == hash => {
            // SAFETY: places of OpenSSL's.
            status(unsafe { signature.sign(ours, &digest, out, length, buffer) })
        }
        _ if signature.is_remote() => signature.refuse(),
        // The settings have changed since the message began.
        _ => {
            // SAFETY: a new context, its key and settings.
            let init = |context, key, params| unsafe {
                functions.init_sign.map_or(0, |init| init(context, key, params))
            };
            // SAFETY: a context that has begun to sign, and places of OpenSSL's.
            let work = |context| unsafe {
                let (digest, bytes) = (digest.as_ptr(), digest.len());
                functions.sign.map_or(0, |sign| sign(context, out, length, buffer, digest, bytes))
            };
            signature.hand_on(functions, init, work).unwrap_or(0)
        }
    }
}

unsafe extern "C" fn end_digest_verify(context: Context, made: *const u8, length: usize) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend(context) }) else { return 0 };
    signature.begin(functions, Side::Verify);
    let hasher = match mem::replace(&mut signature.message, Message::Over) {
        Message::Over => return 0,
        Message::Ours(hasher) => hasher,
        theirs => {
            signature.message = theirs;
            // SAFETY: the arguments come from OpenSSL unchanged.
            return functions
                .end_digest_verify
                .map_or(0, |end| unsafe { end(signature.inner, made, length) });
        }
    };
    let hash = hasher.hash();
    let digest = hasher.finish();
    // SAFETY: OpenSSL gives as many bytes as it says.
    let Some(given) = (unsafe { bytes(made, length) }) else { return 0 };
    match signature.ours(functions, Side::Verify) {
        Some(ours) if ours.1.hash() == hash => status(check(&ours, &digest, given)),
        // The settings have changed since the message began.
        _ => {
            // SAFETY: a new context, its key and settings.
            let init = |context, key, params| unsafe {
                functions.init_verify.map_or(0, |init| init(context, key, params))
            };
            // SAFETY: a context that has begun to verify, and bytes of OpenSSL's.
            let work = |context| unsafe {
                let (digest, bytes) = (digest.as_ptr(), digest.len());
                functions.verify.map_or(0, |verify| verify(context, made, length, digest, bytes))
            };
            signature.hand_on(functions, init, work).unwrap_or(0)
        }
    }
}

/// The parameters of a context, or of none.
///
/// # Safety
///
/// Both are null or what OpenSSL has of us.
unsafe fn described(context: Context, provider: *mut c_void, gettable: bool) -> *const Param {
    // SAFETY: the caller says so.
    let Some((_, inner)) = (unsafe { of_provider(provider) }) else { return ptr::null() };
    // SAFETY: the caller says so.
    let own = unsafe { context.cast::<Signature>().as_ref() };
    let own = own.map_or(ptr::null_mut(), |signature| signature.inner);
    let functions = &inner.signatures;
    let function = if gettable { functions.gettable_params } else { functions.settable_params };
    // SAFETY: null or a context of the function, and the default provider's own.
    function.map_or(ptr::null(), |list| unsafe { list(own, inner.context) })
}

unsafe extern "C" fn gettable_params(context: Context, provider: *mut c_void) -> *const Param {
    // SAFETY: OpenSSL passes a context and the provider.
    unsafe { described(context, provider, true) }
}

unsafe extern "C" fn settable_params(context: Context, provider: *mut c_void) -> *const Param {
    // SAFETY: OpenSSL passes a context and the provider.
    unsafe { described(context, provider, false) }
}
