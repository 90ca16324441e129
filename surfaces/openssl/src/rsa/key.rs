//! Keys: those of the default provider, and beside them the form in which they are used here.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use std::sync::{Arc, OnceLock};

use super::Rsa;
use super::numbers::{self, Numbers};
use super::remote::Remote;
use super::uri::Uri;
use crate::abi::{
    Context, Dispatch, Function, INTEGER, OCTETS, PAIR, PRIVATE, Param, Table, Take, UTF8,
    described,
};
use crate::context::Provider;
use crate::errors::Failure;
use crate::fallback::Inner;
use crate::memory::status;

/// A key. Contexts of signatures hold it too.
pub(crate) struct Key {
    rsa: Arc<Rsa>,
    /// The default provider's.
    inner: *mut c_void,
    /// What is used here, made when it is first needed. None if the key is not one for us.
    numbers: OnceLock<Option<Numbers>>,
    /// The private half of a key that lives in a daemon. The public half is `inner`.
    remote: Option<Arc<Remote>>,
}

// SAFETY: keys of the default provider may be used by many threads.
unsafe impl Send for Key {}
// SAFETY: the same.
unsafe impl Sync for Key {}

pub(crate) static FUNCTIONS: Table<[Dispatch; 19]> = Table([
    Dispatch::new_key(new),
    Dispatch::begin_key(begin),
    Dispatch::set_making_params(set_params),
    Dispatch::settable_making_params(settable),
    Dispatch::make_key(make),
    Dispatch::end_key(end),
    Dispatch::load_key(load),
    Dispatch::free_key(free),
    Dispatch::get_key_params(get_params),
    Dispatch::gettable_key_params(gettable),
    Dispatch::has(has),
    Dispatch::validate(validate),
    Dispatch::matches(matches),
    Dispatch::import(import),
    Dispatch::import_types(types),
    Dispatch::export(export),
    Dispatch::export_types(types),
    Dispatch::duplicate_key(duplicate),
    Dispatch::END,
]);

impl Key {
    /// Takes a key of the default provider over; null stays null.
    fn keep(rsa: &Arc<Rsa>, inner: *mut c_void) -> Context {
        if inner.is_null() {
            return inner;
        }
        Self::keep_with(rsa, inner, None)
    }

    fn keep_with(rsa: &Arc<Rsa>, inner: *mut c_void, remote: Option<Arc<Remote>>) -> Context {
        let key = Self { rsa: Arc::clone(rsa), inner, numbers: OnceLock::new(), remote };
        Arc::into_raw(Arc::new(key)).cast_mut().cast()
    }

    /// The key of a daemon that this URI names, or null and an error on OpenSSL's stack.
    pub(super) fn of_daemon(rsa: &Arc<Rsa>, uri: &[u8]) -> Context {
        let Some(uri) = Uri::read(uri) else {
            rsa.fallback.reporter.fail(Failure::Uri);
            return ptr::null_mut();
        };
        let found = match Remote::find(uri, &rsa.socket) {
            Ok(found) => found,
            Err(reason) => {
                rsa.fallback.reporter.fail_with(Failure::Daemon, &reason);
                return ptr::null_mut();
            }
        };
        let (remote, public) = found;
        let Some(inner) = rsa.inner() else { return ptr::null_mut() };
        // SAFETY: the default provider's functions.
        let inner = unsafe { numbers::write(&inner.keys, inner.context, &public) };
        if inner.is_null() {
            rsa.fallback.reporter.fail(Failure::Memory);
            return inner;
        }
        Self::keep_with(rsa, inner, Some(Arc::new(remote)))
    }

    /// The private half, if it lives in a daemon.
    pub(super) fn remote(&self) -> Option<&Remote> {
        self.remote.as_deref()
    }

    /// What of a selection the default provider has.
    fn here(&self, selection: c_int) -> c_int {
        if self.remote.is_some() { selection & !PRIVATE } else { selection }
    }

    /// One more holder of a key that OpenSSL passes.
    ///
    /// # Safety
    ///
    /// `key` is null, or comes from [`keep`](Self::keep) and has not been freed.
    pub(super) unsafe fn hold(key: *mut c_void) -> Option<Arc<Self>> {
        if key.is_null() {
            return None;
        }
        let key = key.cast_const().cast::<Self>();
        // SAFETY: the caller says so.
        unsafe { Arc::increment_strong_count(key) };
        // SAFETY: the count has just been raised for it.
        Some(unsafe { Arc::from_raw(key) })
    }

    /// The default provider's key.
    pub(super) fn inner(&self) -> *mut c_void {
        self.inner
    }

    /// What is used here, if the key is one for us.
    pub(super) fn numbers(&self) -> Option<&Numbers> {
        let read = || {
            let keys = &self.rsa.inner()?.keys;
            // SAFETY: a key of these functions.
            unsafe { numbers::read(keys, self.inner) }
        };
        self.numbers.get_or_init(read).as_ref()
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if let Some(free) = self.rsa.inner().and_then(|inner| inner.keys.free) {
            // SAFETY: a key of the default provider that nobody else has.
            unsafe { free(self.inner) };
        }
    }
}

/// Lends a key.
///
/// # Safety
///
/// As for [`Key::hold`].
unsafe fn lend<'k>(key: Context) -> Option<(&'k Key, &'k Inner)> {
    // SAFETY: the caller says so.
    let key = unsafe { key.cast::<Key>().as_ref() }?;
    Some((key, key.rsa.inner()?))
}

/// The provider's RSA and the default provider's.
///
/// # Safety
///
/// The provider is null or the value that `OSSL_provider_init` gave.
pub(super) unsafe fn of_provider<'p>(provider: *mut c_void) -> Option<(&'p Arc<Rsa>, &'p Inner)> {
    // SAFETY: the caller says so.
    let rsa = unsafe { provider.cast::<Provider>().as_ref() }?.rsa.as_ref()?;
    Some((rsa, rsa.inner()?))
}

/// What makes a key.
struct Making {
    rsa: Arc<Rsa>,
    inner: *mut c_void,
}

unsafe extern "C" fn new(provider: *mut c_void) -> Context {
    // SAFETY: OpenSSL passes the provider.
    let Some((rsa, inner)) = (unsafe { of_provider(provider) }) else { return ptr::null_mut() };
    let Some(new) = inner.keys.new else { return ptr::null_mut() };
    // SAFETY: the default provider's own context.
    Key::keep(rsa, unsafe { new(inner.context) })
}

unsafe extern "C" fn begin(
    provider: *mut c_void,
    selection: c_int,
    params: *const Param,
) -> Context {
    // SAFETY: OpenSSL passes the provider.
    let Some((rsa, inner)) = (unsafe { of_provider(provider) }) else { return ptr::null_mut() };
    let Some(begin) = inner.keys.begin else { return ptr::null_mut() };
    // SAFETY: the default provider's own context, and what OpenSSL passes.
    let making = unsafe { begin(inner.context, selection, params) };
    if making.is_null() {
        return making;
    }
    Box::into_raw(Box::new(Making { rsa: Arc::clone(rsa), inner: making })).cast()
}

unsafe extern "C" fn set_params(making: Context, params: *const Param) -> c_int {
    // SAFETY: null or what `begin` gave.
    let Some(making) = (unsafe { making.cast::<Making>().as_ref() }) else { return 0 };
    let function = making.rsa.inner().and_then(|inner| inner.keys.set_making_params);
    // SAFETY: what belongs to the function, and a list of OpenSSL's.
    function.map_or(0, |set| unsafe { set(making.inner, params) })
}

unsafe extern "C" fn settable(making: Context, provider: *mut c_void) -> *const Param {
    // SAFETY: null or what `begin` gave.
    let making = unsafe { making.cast::<Making>().as_ref() };
    // SAFETY: OpenSSL passes the provider.
    let Some((_, inner)) = (unsafe { of_provider(provider) }) else { return ptr::null() };
    let making = making.map_or(ptr::null_mut(), |making| making.inner);
    let function = inner.keys.settable_making_params;
    // SAFETY: null or what belongs to the function, and the default provider's own context.
    function.map_or(ptr::null(), |settable| unsafe { settable(making, inner.context) })
}

unsafe extern "C" fn make(
    making: Context,
    progress: Option<Function>,
    argument: *mut c_void,
) -> Context {
    // SAFETY: null or what `begin` gave.
    let making = unsafe { making.cast::<Making>().as_ref() };
    let Some(making) = making else { return ptr::null_mut() };
    let function = making.rsa.inner().and_then(|inner| inner.keys.make);
    let Some(make) = function else { return ptr::null_mut() };
    // SAFETY: what belongs to the function, and what OpenSSL passes.
    Key::keep(&making.rsa, unsafe { make(making.inner, progress, argument) })
}

unsafe extern "C" fn end(making: Context) {
    if making.is_null() {
        return;
    }
    // SAFETY: what `begin` gave, which OpenSSL gives back once.
    let making = unsafe { Box::from_raw(making.cast::<Making>()) };
    if let Some(end) = making.rsa.inner().and_then(|inner| inner.keys.end) {
        // SAFETY: what belongs to the function, which nobody uses again.
        unsafe { end(making.inner) };
    }
}

/// Takes over a key that a decoder or a store has made.
unsafe extern "C" fn load(reference: *const c_void, size: usize) -> Context {
    if reference.is_null() || size != size_of::<Context>() {
        return ptr::null_mut();
    }
    let place = reference.cast_mut().cast::<Context>();
    // SAFETY: what `hand_on` has passed: the place of a key.
    let key = unsafe { place.read_unaligned() };
    // SAFETY: the same. The place is left without the key, which so has one owner.
    unsafe { place.write_unaligned(ptr::null_mut()) };
    key
}

/// Hands a key on to whom a decoder or a store calls with what it has found. A key that is not
/// taken over is freed.
///
/// # Safety
///
/// `key` comes from [`Key::keep`] or [`Key::of_daemon`] and belongs to the caller; `argument`
/// belongs to `take`.
pub(super) unsafe fn hand_on(key: Context, take: Option<Take>, argument: *mut c_void) -> c_int {
    let Some(take) = take else { return 0 };
    let mut place = key;
    // `OSSL_OBJECT_PKEY`
    let mut kind: c_int = 2;
    let name = c"RSA";
    let param = |key: &'static CStr, data_type, data: *mut c_void, size| {
        let mut param = Param::described(key.as_ptr(), data_type, size);
        param.data = data;
        param
    };
    let params = [
        param(c"type", INTEGER, (&raw mut kind).cast(), size_of::<c_int>()),
        param(c"data-type", UTF8, name.as_ptr().cast_mut().cast(), name.count_bytes()),
        param(c"reference", OCTETS, (&raw mut place).cast(), size_of::<Context>()),
        Param::END,
    ];
    // SAFETY: a list, and what belongs to the function.
    let taken = unsafe { take(params.as_ptr(), argument) };
    // SAFETY: null if `load` has taken it over.
    unsafe { free(place) };
    taken
}

pub(super) unsafe extern "C" fn free(key: Context) {
    if !key.is_null() {
        // SAFETY: what `keep` gave, which OpenSSL gives back once.
        drop(unsafe { Arc::from_raw(key.cast_const().cast::<Key>()) });
    }
}

unsafe extern "C" fn get_params(key: Context, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a key.
    let Some((key, inner)) = (unsafe { lend(key) }) else { return 0 };
    // SAFETY: a key of the function, and a list of OpenSSL's.
    inner.keys.get_params.map_or(0, |get| unsafe { get(key.inner, params) })
}

unsafe extern "C" fn gettable(provider: *mut c_void) -> *const Param {
    // SAFETY: OpenSSL passes the provider.
    let Some((_, inner)) = (unsafe { of_provider(provider) }) else { return ptr::null() };
    let function = inner.keys.gettable_params;
    // SAFETY: the default provider's own context.
    function.map_or(ptr::null(), |gettable| unsafe { gettable(inner.context) })
}

unsafe extern "C" fn has(key: Context, selection: c_int) -> c_int {
    // SAFETY: OpenSSL passes a key.
    let Some((key, inner)) = (unsafe { lend(key) }) else { return 0 };
    // SAFETY: a key of the function.
    inner.keys.has.map_or(0, |has| unsafe { has(key.inner, key.here(selection)) })
}

unsafe extern "C" fn validate(key: Context, selection: c_int, how: c_int) -> c_int {
    // SAFETY: OpenSSL passes a key.
    let Some((key, inner)) = (unsafe { lend(key) }) else { return 0 };
    // The daemon has checked its half.
    let selection = key.here(selection);
    // SAFETY: a key of the function.
    inner.keys.validate.map_or(0, |validate| unsafe { validate(key.inner, selection, how) })
}

unsafe extern "C" fn matches(one: Context, other: Context, selection: c_int) -> c_int {
    // SAFETY: OpenSSL passes keys.
    let (one, other) = (unsafe { lend(one) }, unsafe { lend(other) });
    let (Some((one, inner)), Some((other, _))) = (one, other) else { return 0 };
    // Keys with the same public half have the same private one.
    let here = other.here(one.here(selection));
    let selection = if here == selection { here } else { here | (PAIR & !PRIVATE) };
    // SAFETY: keys of the function.
    inner.keys.matches.map_or(0, |matches| unsafe { matches(one.inner, other.inner, selection) })
}

unsafe extern "C" fn import(key: Context, selection: c_int, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a key.
    let Some((key, inner)) = (unsafe { lend(key) }) else { return 0 };
    // A key that has been used has its numbers.
    if key.numbers.get().is_some() || key.remote.is_some() {
        return 0;
    }
    // SAFETY: a key of the function, and a list of OpenSSL's.
    inner.keys.import.map_or(0, |import| unsafe { import(key.inner, selection, params) })
}

unsafe extern "C" fn export(
    key: Context,
    selection: c_int,
    take: Option<Take>,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: OpenSSL passes a key.
    let Some((key, inner)) = (unsafe { lend(key) }) else { return 0 };
    if key.here(selection) != selection {
        return status(key.rsa.fallback.reporter.fail(Failure::Private));
    }
    // SAFETY: a key of the function, and what OpenSSL passes.
    inner.keys.export.map_or(0, |export| unsafe { export(key.inner, selection, take, argument) })
}

/// What keys are imported from and exported to. Those of more than ten primes do not exist.
unsafe extern "C" fn types(selection: c_int) -> *const Param {
    if selection & PAIR == 0 {
        return ptr::null();
    }
    described!(
        c"n" number, c"e" number, c"d" number, c"rsa-factor1" number, c"rsa-factor2" number,
        c"rsa-factor3" number, c"rsa-factor4" number, c"rsa-factor5" number,
        c"rsa-factor6" number, c"rsa-factor7" number, c"rsa-factor8" number,
        c"rsa-factor9" number, c"rsa-factor10" number, c"rsa-exponent1" number,
        c"rsa-exponent2" number, c"rsa-exponent3" number, c"rsa-exponent4" number,
        c"rsa-exponent5" number, c"rsa-exponent6" number, c"rsa-exponent7" number,
        c"rsa-exponent8" number, c"rsa-exponent9" number, c"rsa-exponent10" number,
        c"rsa-coefficient1" number, c"rsa-coefficient2" number, c"rsa-coefficient3" number,
        c"rsa-coefficient4" number, c"rsa-coefficient5" number, c"rsa-coefficient6" number,
        c"rsa-coefficient7" number, c"rsa-coefficient8" number, c"rsa-coefficient9" number,
    )
}

unsafe extern "C" fn duplicate(key: Context, selection: c_int) -> Context {
    // SAFETY: OpenSSL passes a key.
    let Some((key, inner)) = (unsafe { lend(key) }) else { return ptr::null_mut() };
    let Some(duplicate) = inner.keys.duplicate else { return ptr::null_mut() };
    // SAFETY: a key of the function.
    let inner = unsafe { duplicate(key.inner, key.here(selection)) };
    let remote = key.remote.clone().filter(|_| selection & PRIVATE != 0);
    if inner.is_null() { inner } else { Key::keep_with(&key.rsa, inner, remote) }
}
