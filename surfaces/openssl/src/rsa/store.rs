//! The store of keys in a daemon: what programs open by a URI.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::{mem, ptr};

use super::key::{self, Key, of_provider};
use crate::abi::{Context, Dispatch, Function, Param, Table, Take, described};
use crate::params::Settings;

pub(crate) static FUNCTIONS: Table<[Dispatch; 7]> = Table([
    Dispatch::open_store(open),
    Dispatch::settable_store_params(settable),
    Dispatch::set_store_params(set_params),
    Dispatch::load_stored(load),
    Dispatch::is_at_end(is_at_end),
    Dispatch::close_store(close),
    Dispatch::END,
]);

/// `OSSL_STORE_INFO_PKEY`
const KEYS: u64 = 4;

/// A store that is open: it has one key until that is loaded.
struct Open(Context);

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: null or a key that nobody else has.
        unsafe { key::free(self.0) };
    }
}

unsafe extern "C" fn open(provider: *mut c_void, uri: *const c_char) -> Context {
    // SAFETY: OpenSSL passes the provider.
    let Some((rsa, _)) = (unsafe { of_provider(provider) }) else { return ptr::null_mut() };
    if uri.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: OpenSSL passes a string.
    let uri = unsafe { CStr::from_ptr(uri) };
    let key = Key::of_daemon(rsa, uri.to_bytes());
    if key.is_null() { key } else { Box::into_raw(Box::new(Open(key))).cast() }
}

unsafe extern "C" fn settable(_: *mut c_void) -> *const Param {
    described!(c"expect" integer)
}

unsafe extern "C" fn set_params(store: Context, params: *const Param) -> c_int {
    // SAFETY: what `open` gave, which one thread uses at a time.
    let Some(store) = (unsafe { store.cast::<Open>().as_mut() }) else { return 0 };
    // SAFETY: a list of OpenSSL's.
    for setting in unsafe { Settings::new(params) } {
        // Who expects certificates or public keys finds nothing. Zero expects everything.
        if setting.name().is(c"expect") && !matches!(setting.number(), Some(0 | KEYS)) {
            drop(Open(mem::replace(&mut store.0, ptr::null_mut())));
        }
    }
    1
}

unsafe extern "C" fn load(
    store: Context,
    take: Option<Take>,
    argument: *mut c_void,
    _ask: Option<Function>,
    _asker: *mut c_void,
) -> c_int {
    // SAFETY: what `open` gave, which one thread uses at a time.
    let Some(store) = (unsafe { store.cast::<Open>().as_mut() }) else { return 0 };
    let key = mem::replace(&mut store.0, ptr::null_mut());
    if key.is_null() {
        return 0;
    }
    // SAFETY: the store's key, and what belongs to the function.
    unsafe { key::hand_on(key, take, argument) }
}

unsafe extern "C" fn is_at_end(store: Context) -> c_int {
    // SAFETY: what `open` gave, which one thread uses at a time.
    let store = unsafe { store.cast::<Open>().as_ref() };
    c_int::from(store.is_none_or(|store| store.0.is_null()))
}

unsafe extern "C" fn close(store: Context) -> c_int {
    if !store.is_null() {
        // SAFETY: what `open` gave, which OpenSSL gives back once.
        drop(unsafe { Box::from_raw(store.cast::<Open>()) });
    }
    1
}
