//! Contexts of signatures: those of the default provider, which keep the settings, and the work. A
//! [`Scheme`] says what is done here.

mod scheme;

use core::ffi::{c_char, c_int, c_void};
use core::mem;
use core::ptr;
use core::slice;
use std::sync::Arc;

use crate::abi::{Context, Dispatch, Param, Table};
use crate::asynchronous::{Job, Jobs};
use crate::context::Provider;
use crate::errors::Failure;
use crate::fallback::{Inner, Signatures};
use crate::hasher::Hasher;
use crate::memory::{bytes, status, tell};

pub(crate) use self::scheme::{Scheme, Settings, Side};

/// A context.
struct Signature<S: Scheme> {
    scheme: Arc<S>,
    /// The default provider's.
    inner: *mut c_void,
    key: Option<Arc<S::Key>>,
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

/// The functions of a scheme.
pub(crate) const fn functions<S: Scheme>() -> Table<[Dispatch; 24]> {
    Table([
        Dispatch::new_signature(new::<S>),
        Dispatch::init_sign(init_sign::<S>),
        Dispatch::sign(sign::<S>),
        Dispatch::init_verify(init_verify::<S>),
        Dispatch::verify(verify::<S>),
        Dispatch::init_recover(init_recover::<S>),
        Dispatch::recover(recover::<S>),
        Dispatch::init_digest_sign(init_digest_sign::<S>),
        Dispatch::update_digest_sign(update_digest::<S, true>),
        Dispatch::end_digest_sign(end_digest_sign::<S>),
        Dispatch::init_digest_verify(init_digest_verify::<S>),
        Dispatch::update_digest_verify(update_digest::<S, false>),
        Dispatch::end_digest_verify(end_digest_verify::<S>),
        Dispatch::free_signature(free::<S>),
        Dispatch::duplicate_signature(duplicate::<S>),
        Dispatch::get_signature_params(get_params::<S>),
        Dispatch::gettable_signature_params(gettable_params::<S>),
        Dispatch::set_signature_params(set_params::<S>),
        Dispatch::settable_signature_params(settable_params::<S>),
        Dispatch::get_digest_params(get_digest_params::<S>),
        Dispatch::gettable_digest_params(gettable_digest_params::<S>),
        Dispatch::set_digest_params(set_digest_params::<S>),
        Dispatch::settable_digest_params(settable_digest_params::<S>),
        Dispatch::END,
    ])
}

/// Lends a context together with the functions of the default provider.
///
/// # Safety
///
/// `context` is null, or comes from [`new`] or [`duplicate`]. Nothing else uses it during the call:
/// contexts belong to one thread at a time, and to one job.
unsafe fn lend<'s, S: Scheme>(context: Context) -> Option<(&'s mut Signature<S>, &'s Signatures)> {
    // SAFETY: the caller says so.
    let signature = unsafe { context.cast::<Signature<S>>().as_mut() }?;
    let scheme: *const S = Arc::as_ptr(&signature.scheme);
    // SAFETY: the context holds it.
    let functions = &unsafe { &*scheme }.fallback().inner()?.signatures;
    Some((signature, functions))
}

/// The provider's scheme and what the default provider does.
///
/// # Safety
///
/// The provider is null or the value that `OSSL_provider_init` gave.
unsafe fn of_provider<'p, S: Scheme>(provider: *mut c_void) -> Option<(&'p Arc<S>, &'p Inner)> {
    // SAFETY: the caller says so.
    let scheme = S::of(unsafe { provider.cast::<Provider>().as_ref() }?)?;
    Some((scheme, scheme.fallback().inner()?))
}

/// A key, and what is done with it here.
type Ours<S> = (Arc<<S as Scheme>::Key>, <S as Scheme>::Plan);

impl<S: Scheme> Signature<S> {
    fn keep(scheme: &Arc<S>, inner: &Inner, properties: *const c_char) -> Context {
        let inner = inner.new_signature(properties);
        if inner.is_null() {
            scheme.fallback().reporter.fail(Failure::Memory);
            return inner;
        }
        let scheme = Arc::clone(scheme);
        let message = Message::Expected;
        Box::into_raw(Box::new(Self { scheme, inner, key: None, message })).cast()
    }

    /// The job that runs, in which signatures wait for each other.
    fn job(&self) -> Option<Job<'_>> {
        self.scheme.fallback().jobs.as_ref().and_then(Jobs::current)
    }

    /// The key and what is done with it, if the operation is one for us.
    fn ours(&self, functions: &Signatures, side: Side) -> Option<Ours<S>> {
        let key = self.key.as_ref()?;
        // SAFETY: a context of these functions.
        let settings = || unsafe { S::Settings::of(functions, self.inner) };
        let plan = S::plan(key, side, settings, || self.job().is_none())?;
        Some((Arc::clone(key), plan))
    }

    /// Says how long signatures are, or makes one of a digest. None if the default provider is to
    /// make it.
    ///
    /// # Safety
    ///
    /// `out` is null or has `buffer` bytes, and `length` is null or may be written.
    unsafe fn sign(
        &self,
        (key, plan): Ours<S>,
        digest: &[u8],
        out: *mut u8,
        length: *mut usize,
        buffer: usize,
    ) -> Option<bool> {
        let Some(mut needed) = S::length(&key) else { return Some(false) };
        if !out.is_null() {
            let reporter = &self.scheme.fallback().reporter;
            if buffer < needed {
                return Some(reporter.fail(Failure::BatchBuffer));
            }
            // SAFETY: the caller says so. The bytes are only written.
            let out = unsafe { slice::from_raw_parts_mut(out, needed) };
            match S::sign(&key, &plan, digest, out, self.job()) {
                Ok(made) => needed = made?,
                Err(trouble) => return Some(reporter.tell(&trouble)),
            }
        }
        // SAFETY: the caller says so.
        unsafe { tell(length, needed) };
        Some(true)
    }

    /// Whether the key is in a daemon, so that nothing may be handed on that needs its private
    /// half.
    fn is_remote(&self) -> bool {
        self.key.as_ref().is_some_and(|key| S::is_remote(key))
    }

    /// Refuses what only a key that is here can do.
    fn refuse(&self) -> c_int {
        status(self.scheme.fallback().reporter.fail(Failure::NotByDaemon))
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
        let mut settings = unsafe { S::Settings::of(functions, self.inner) }?;
        let other = self.scheme.fallback().inner()?.new_signature(ptr::null());
        if other.is_null() {
            return None;
        }
        let begun = settings.list(|params| init(other, S::inner(key), params));
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
            let hash = self.ours(functions, side).and_then(|(_, plan)| S::hash(&plan));
            self.message = match hash {
                Some(hash) => Message::Ours(Hasher::new(hash)),
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
unsafe fn begin<S: Scheme>(
    context: Context,
    key: *mut c_void,
    init: impl FnOnce(&Signatures, *mut c_void, *mut c_void) -> Option<c_int>,
) -> c_int {
    // SAFETY: the caller says so.
    let Some((signature, functions)) = (unsafe { lend::<S>(context) }) else { return 0 };
    // SAFETY: the caller says so.
    let key = unsafe { S::hold(key) };
    let inner = key.as_ref().map_or(ptr::null_mut(), |key| S::inner(key));
    let begun = init(functions, signature.inner, inner).unwrap_or(0);
    if begun == 1 {
        if key.is_some() {
            signature.key = key;
        }
        signature.message = Message::Expected;
    }
    begun
}

unsafe extern "C" fn new<S: Scheme>(provider: *mut c_void, properties: *const c_char) -> Context {
    // SAFETY: OpenSSL passes the provider.
    match unsafe { of_provider::<S>(provider) } {
        Some((scheme, inner)) => Signature::keep(scheme, inner, properties),
        None => ptr::null_mut(),
    }
}

unsafe extern "C" fn free<S: Scheme>(context: Context) {
    if context.is_null() {
        return;
    }
    // SAFETY: what `new` or `duplicate` gave, which OpenSSL gives back once.
    let signature = unsafe { Box::from_raw(context.cast::<Signature<S>>()) };
    if let Some(free) = signature.scheme.fallback().inner().and_then(|inner| inner.signatures.free)
    {
        // SAFETY: a context of the function, which nobody uses again.
        unsafe { free(signature.inner) };
    }
}

unsafe extern "C" fn duplicate<S: Scheme>(context: Context) -> Context {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend::<S>(context) }) else {
        return ptr::null_mut();
    };
    let Some(duplicate) = functions.duplicate else { return ptr::null_mut() };
    // SAFETY: a context of the function.
    let inner = unsafe { duplicate(signature.inner) };
    if inner.is_null() {
        return inner;
    }
    let (scheme, key) = (Arc::clone(&signature.scheme), signature.key.clone());
    let message = signature.message.clone();
    Box::into_raw(Box::new(Signature { scheme, inner, key, message })).cast()
}

/// Functions that begin a message, each by the default provider's function of the same name.
macro_rules! beginnings {
    ($($name:ident($($digest:ident: $type:ty)?);)+) => {$(
        unsafe extern "C" fn $name<S: Scheme>(
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
            unsafe { begin::<S>(context, key, init) }
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
        unsafe extern "C" fn $name<S: Scheme>(context: Context, $($argument: $type),*) -> $result {
            // SAFETY: OpenSSL passes a context.
            let lent = unsafe { lend::<S>(context) };
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

unsafe extern "C" fn sign<S: Scheme>(
    context: Context,
    out: *mut u8,
    length: *mut usize,
    buffer: usize,
    digest: *const u8,
    digest_length: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend::<S>(context) }) else { return 0 };
    // SAFETY: OpenSSL gives as many bytes as it says.
    let given = unsafe { bytes(digest, digest_length) };
    if let (Some(given), false) = (given, out.is_null())
        && let Some(ours) = signature.ours(functions, Side::Sign)
        && S::takes(&ours.1, given.len())
        // SAFETY: places of OpenSSL's.
        && let Some(done) = unsafe { signature.sign(ours, given, out, length, buffer) }
    {
        return status(done);
    }
    if signature.is_remote() && !out.is_null() {
        return signature.refuse();
    }
    // SAFETY: the arguments come from OpenSSL unchanged.
    functions.sign.map_or(0, |sign| unsafe {
        sign(signature.inner, out, length, buffer, digest, digest_length)
    })
}

unsafe extern "C" fn verify<S: Scheme>(
    context: Context,
    made: *const u8,
    made_length: usize,
    digest: *const u8,
    digest_length: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend::<S>(context) }) else { return 0 };
    // SAFETY: OpenSSL gives as many bytes as it says.
    let given = (unsafe { bytes(made, made_length) }, unsafe { bytes(digest, digest_length) });
    if let (Some(made), Some(digest)) = given
        && let Some(ours) = signature.ours(functions, Side::Verify)
        && S::takes(&ours.1, digest.len())
    {
        return status(S::verify(&ours.0, &ours.1, digest, made));
    }
    // SAFETY: the arguments come from OpenSSL unchanged.
    functions.verify.map_or(0, |verify| unsafe {
        verify(signature.inner, made, made_length, digest, digest_length)
    })
}

unsafe extern "C" fn update_digest<S: Scheme, const SIGN: bool>(
    context: Context,
    data: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend::<S>(context) }) else { return 0 };
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

unsafe extern "C" fn end_digest_sign<S: Scheme>(
    context: Context,
    out: *mut u8,
    length: *mut usize,
    buffer: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend::<S>(context) }) else { return 0 };
    if out.is_null()
        && !matches!(signature.message, Message::Theirs)
        && let Some(needed) = signature.key.as_ref().and_then(|key| S::length(key))
    {
        // SAFETY: a place of OpenSSL's.
        unsafe { tell(length, needed) };
        return 1;
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
    if let Some(ours) = signature.ours(functions, Side::Sign)
        && S::hash(&ours.1) == Some(hash)
        // SAFETY: places of OpenSSL's.
        && let Some(done) = unsafe { signature.sign(ours, &digest, out, length, buffer) }
    {
        return status(done);
    }
    if signature.is_remote() {
        return signature.refuse();
    }
    // The settings have changed since the message began, or the signature is alone.
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

unsafe extern "C" fn end_digest_verify<S: Scheme>(
    context: Context,
    made: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some((signature, functions)) = (unsafe { lend::<S>(context) }) else { return 0 };
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
        Some((key, plan)) if S::hash(&plan) == Some(hash) => {
            status(S::verify(&key, &plan, &digest, given))
        }
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
unsafe fn described<S: Scheme>(
    context: Context,
    provider: *mut c_void,
    gettable: bool,
) -> *const Param {
    // SAFETY: the caller says so.
    let Some((_, inner)) = (unsafe { of_provider::<S>(provider) }) else { return ptr::null() };
    // SAFETY: the caller says so.
    let own = unsafe { context.cast::<Signature<S>>().as_ref() };
    let own = own.map_or(ptr::null_mut(), |signature| signature.inner);
    let functions = &inner.signatures;
    let function = if gettable { functions.gettable_params } else { functions.settable_params };
    // SAFETY: null or a context of the function, and the default provider's own.
    function.map_or(ptr::null(), |list| unsafe { list(own, inner.context) })
}

unsafe extern "C" fn gettable_params<S: Scheme>(
    context: Context,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: OpenSSL passes a context and the provider.
    unsafe { described::<S>(context, provider, true) }
}

unsafe extern "C" fn settable_params<S: Scheme>(
    context: Context,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: OpenSSL passes a context and the provider.
    unsafe { described::<S>(context, provider, false) }
}
