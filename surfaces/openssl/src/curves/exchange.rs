//! Contexts of key exchange. As long as nothing is set but two keys of ours, there is no context of
//! the default provider. With anything else, that does all the work.

#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a call that is handed on is in the block of the call that hands it on"
)]

use core::ffi::{c_int, c_void};
use core::ptr;
use core::slice;
use std::sync::Arc;

use super::halves::{Curve, Public, Secret};
use super::key::{Key, of_provider};
use super::kind::{Kind, Type};
use super::operation::Operation;
use crate::abi::{Context, Dispatch, Param, Table};
use crate::fallback::Exchanges;
use crate::memory::{status, tell};
use crate::params::Settings;

/// The length of a shared secret.
const LENGTH: usize = 32;

/// A context.
struct Exchange {
    of: Arc<Type>,
    key: Option<Arc<Key>>,
    peer: Option<Arc<Key>>,
    /// The default provider's, or null.
    inner: *mut c_void,
}

pub(super) const fn functions<K: Kind>() -> Table<[Dispatch; 11]> {
    Table([
        Dispatch::new_exchange(new::<K>),
        Dispatch::init_exchange(init),
        Dispatch::derive(derive),
        Dispatch::set_peer(set_peer),
        Dispatch::free_exchange(free),
        Dispatch::duplicate_exchange(duplicate),
        Dispatch::set_exchange_params(set_params),
        Dispatch::settable_exchange_params(settable::<K>),
        Dispatch::get_exchange_params(get_params),
        Dispatch::gettable_exchange_params(gettable::<K>),
        Dispatch::END,
    ])
}

/// Lends a context.
///
/// # Safety
///
/// `context` is null, or comes from [`new`] or [`duplicate`]. Nothing else uses it during the call:
/// contexts belong to one thread at a time, and to one job.
unsafe fn lend<'e>(context: Context) -> Option<&'e mut Exchange> {
    // SAFETY: the caller says so.
    unsafe { context.cast::<Exchange>().as_mut() }
}

impl Exchange {
    fn theirs(&self) -> Option<&Exchanges> {
        Some(&self.of.fallback.inner()?.exchanges)
    }

    /// The default provider's context, with both keys.
    fn inner(&mut self) -> Option<*mut c_void> {
        if !self.inner.is_null() {
            return Some(self.inner);
        }
        let inner = self.of.fallback.inner()?;
        let (new, free) = (inner.exchanges.new?, inner.exchanges.free?);
        // SAFETY: the default provider's own context.
        let context = unsafe { new(inner.context) };
        if context.is_null() {
            return None;
        }
        let init = || {
            if let Some(key) = &self.key {
                // SAFETY: a context and a key of the function, and no parameters.
                let begun = unsafe { inner.exchanges.init?(context, key.inner(), ptr::null()) };
                (begun == 1).then_some(())?;
            }
            if let Some(peer) = &self.peer {
                // SAFETY: a context and a key of the function.
                let set = unsafe { inner.exchanges.set_peer?(context, peer.inner()) };
                (set == 1).then_some(())?;
            }
            Some(())
        };
        if init().is_none() {
            // SAFETY: a context of the function, which nobody uses again.
            unsafe { free(context) };
            return None;
        }
        self.inner = context;
        Some(context)
    }

    /// Has the default provider's context do something.
    fn hand_on(&mut self, work: impl FnOnce(&Exchanges, *mut c_void) -> Option<c_int>) -> c_int {
        let Some(inner) = self.inner() else { return 0 };
        self.theirs().and_then(|theirs| work(theirs, inner)).unwrap_or(0)
    }

    /// The keys, if the exchange is one for us.
    fn ours(&self) -> Option<(Arc<Secret>, Public)> {
        if !self.inner.is_null() {
            return None;
        }
        let (key, peer) = (self.key.as_ref()?, self.peer.as_ref()?);
        Some((key.halves()?.secret?, peer.halves()?.public?))
    }

    /// Computes the shared secret, if others wait for theirs.
    fn derive(&self, (secret, public): (Arc<Secret>, Public), out: &mut [u8]) -> Option<bool> {
        Some(match Operation::Share(secret, public).run(self.of.job())? {
            Ok(shared) => {
                out.copy_from_slice(&shared[..out.len()]);
                true
            }
            Err(error) => self.of.fallback.reporter.tell(&error.into()),
        })
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.inner.is_null() {
            return;
        }
        if let Some(free) = self.theirs().and_then(|theirs| theirs.free) {
            // SAFETY: a context of the function, which nobody uses again.
            unsafe { free(self.inner) };
        }
    }
}

unsafe extern "C" fn new<K: Kind>(provider: *mut c_void) -> Context {
    // SAFETY: OpenSSL passes the provider.
    let Some((of, _)) = (unsafe { of_provider::<K>(provider) }) else { return ptr::null_mut() };
    let of = Arc::clone(of);
    let exchange = Exchange { of, key: None, peer: None, inner: ptr::null_mut() };
    Box::into_raw(Box::new(exchange)).cast()
}

unsafe extern "C" fn init(context: Context, key: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context and a key.
    let (Some(exchange), Some(key)) = (unsafe { (lend(context), Key::hold(key)) }) else {
        return 0;
    };
    let of = Arc::clone(&exchange.of);
    // What was set before does not count any more.
    *exchange = Exchange { of, key: Some(key), peer: None, inner: ptr::null_mut() };
    // SAFETY: a list of OpenSSL's.
    unsafe { set_params(context, params) }
}

unsafe extern "C" fn set_peer(context: Context, peer: *mut c_void) -> c_int {
    // SAFETY: OpenSSL passes a context and a key.
    let (Some(exchange), Some(peer)) = (unsafe { (lend(context), Key::hold(peer)) }) else {
        return 0;
    };
    let has_key = exchange.key.as_ref().is_some_and(|key| key.halves().is_some());
    if exchange.inner.is_null() && has_key && peer.halves().is_some() {
        exchange.peer = Some(peer);
        return 1;
    }
    let inner = peer.inner();
    exchange.peer = None;
    // SAFETY: a context and a key of the function.
    let set = exchange.hand_on(|theirs, context| unsafe { Some(theirs.set_peer?(context, inner)) });
    exchange.peer = Some(peer);
    set
}

unsafe extern "C" fn derive(
    context: Context,
    out: *mut u8,
    length: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some(exchange) = (unsafe { lend(context) }) else { return 0 };
    // OpenSSL cuts secrets of ECDH off, but not to nothing.
    let given = match exchange.of.curve {
        Curve::P256 if room > 0 => room.min(LENGTH),
        _ => LENGTH,
    };
    if !out.is_null()
        && room >= given
        && let Some(keys) = exchange.ours()
    {
        // SAFETY: OpenSSL's place has as much room as it says.
        let place = unsafe { slice::from_raw_parts_mut(out, given) };
        if let Some(done) = exchange.derive(keys, place) {
            // SAFETY: a place of OpenSSL's.
            unsafe { tell(length, given) };
            return status(done);
        }
    }
    if out.is_null() && exchange.ours().is_some() {
        // SAFETY: a place of OpenSSL's.
        unsafe { tell(length, LENGTH) };
        return 1;
    }
    // SAFETY: a context of the function; the arguments come from OpenSSL unchanged.
    exchange.hand_on(|theirs, context| unsafe { Some(theirs.derive?(context, out, length, room)) })
}

unsafe extern "C" fn free(context: Context) {
    if !context.is_null() {
        // SAFETY: what `new` or `duplicate` gave, which OpenSSL gives back once.
        drop(unsafe { Box::from_raw(context.cast::<Exchange>()) });
    }
}

unsafe extern "C" fn duplicate(context: Context) -> Context {
    // SAFETY: OpenSSL passes a context.
    let Some(exchange) = (unsafe { lend(context) }) else { return ptr::null_mut() };
    let mut inner = exchange.inner;
    if !inner.is_null() {
        let function = exchange.theirs().and_then(|theirs| theirs.duplicate);
        // SAFETY: a context of the function.
        inner = function.map_or(ptr::null_mut(), |duplicate| unsafe { duplicate(inner) });
        if inner.is_null() {
            return inner;
        }
    }
    let (of, key, peer) = (Arc::clone(&exchange.of), exchange.key.clone(), exchange.peer.clone());
    Box::into_raw(Box::new(Exchange { of, key, peer, inner })).cast()
}

unsafe extern "C" fn set_params(context: Context, params: *const Param) -> c_int {
    // SAFETY: a list of OpenSSL's.
    let is_empty = unsafe { Settings::new(params) }.next().is_none();
    // SAFETY: OpenSSL passes a context.
    let Some(exchange) = (unsafe { lend(context) }) else { return 0 };
    // X25519 has no settings.
    let has_settings = exchange.theirs().is_some_and(|theirs| theirs.set_params.is_some());
    if is_empty || !has_settings {
        return status(exchange.of.fallback.inner().is_some());
    }
    // SAFETY: a context of the function; a list of OpenSSL's.
    exchange.hand_on(|theirs, context| unsafe { Some(theirs.set_params?(context, params)) })
}

unsafe extern "C" fn get_params(context: Context, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a context.
    let Some(exchange) = (unsafe { lend(context) }) else { return 0 };
    // Earlier versions of OpenSSL have none for X25519.
    let has_any = exchange.theirs().is_some_and(|theirs| theirs.get_params.is_some());
    if !has_any {
        return status(exchange.of.fallback.inner().is_some());
    }
    // SAFETY: a context of the function; a list of OpenSSL's.
    exchange.hand_on(|theirs, context| unsafe { Some(theirs.get_params?(context, params)) })
}

/// The settings of a type: none is an empty list.
fn described(list: Option<*const Param>) -> *const Param {
    list.unwrap_or_else(|| crate::abi::described!())
}

unsafe extern "C" fn settable<K: Kind>(context: Context, provider: *mut c_void) -> *const Param {
    // SAFETY: OpenSSL passes the provider, and null or a context.
    let (found, own) = unsafe { (of_provider::<K>(provider), lend(context)) };
    let own = own.map_or(ptr::null_mut(), |exchange| exchange.inner);
    // SAFETY: null or a context of the function, and the default provider's own.
    described(found.and_then(|(_, inner)| unsafe {
        Some(inner.exchanges.settable_params?(own, inner.context))
    }))
}

unsafe extern "C" fn gettable<K: Kind>(context: Context, provider: *mut c_void) -> *const Param {
    // SAFETY: OpenSSL passes the provider, and null or a context.
    let (found, own) = unsafe { (of_provider::<K>(provider), lend(context)) };
    let own = own.map_or(ptr::null_mut(), |exchange| exchange.inner);
    // SAFETY: null or a context of the function, and the default provider's own.
    described(found.and_then(|(_, inner)| unsafe {
        Some(inner.exchanges.gettable_params?(own, inner.context))
    }))
}
