//! Keys: ours, or those of the default provider.
//!
//! A key that is made or received in a handshake is only ours. It becomes one of the default
//! provider, too, when something is wanted that is not done here. A key that comes from elsewhere
//! is one of that provider, and is read when it is first used here.

#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a call that is handed on is in the block of the call that hands it on"
)]

use core::ffi::{c_int, c_void};
use core::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::halves::{Curve, Halves, Public};
use super::kind::{Kind, Type};
use super::operation;
use crate::abi::{Context, Dispatch, Function, PAIR, PUBLIC, Param, Table, Take, UTF8};
use crate::context::Provider;
use crate::fallback::{Inner, Keys};
use crate::params::{ParamsOut, Settings};

/// A key. Contexts hold it too.
pub(crate) struct Key {
    pub(super) of: Arc<Type>,
    state: Mutex<State>,
}

struct State {
    /// The default provider's key, or null if the key is only ours.
    inner: *mut c_void,
    form: Form,
}

/// The key as it is used here.
enum Form {
    /// Not known yet.
    Unread,
    Ours(Halves),
    /// It is not one for us.
    Theirs,
}

// SAFETY: keys of the default provider may be used by many threads.
unsafe impl Send for State {}

pub(super) const fn functions<K: Kind>() -> Table<[Dispatch; 22]> {
    Table([
        Dispatch::new_key(new::<K>),
        Dispatch::begin_key(begin::<K>),
        Dispatch::set_template(set_template),
        Dispatch::set_making_params(set_making_params),
        Dispatch::settable_making_params(settable_making_params::<K>),
        Dispatch::make_key(make),
        Dispatch::end_key(end),
        Dispatch::free_key(free),
        Dispatch::get_key_params(get_params),
        Dispatch::gettable_key_params(gettable::<K>),
        Dispatch::set_key_params(set_params),
        Dispatch::settable_key_params(settable::<K>),
        Dispatch::operation_name(K::OPERATION_NAME),
        Dispatch::has(has),
        Dispatch::validate(validate),
        Dispatch::matches(matches),
        Dispatch::import(import),
        Dispatch::import_types(K::TYPES),
        Dispatch::export(export),
        Dispatch::export_types(K::TYPES),
        Dispatch::duplicate_key(duplicate),
        Dispatch::END,
    ])
}

impl Key {
    fn keep(of: &Arc<Type>, state: State) -> Context {
        let key = Self { of: Arc::clone(of), state: Mutex::new(state) };
        Arc::into_raw(Arc::new(key)).cast_mut().cast()
    }

    /// Takes a key of the default provider over; null stays null.
    fn keep_inner(of: &Arc<Type>, inner: *mut c_void) -> Context {
        if inner.is_null() { inner } else { Self::keep(of, State { inner, form: Form::Unread }) }
    }

    fn keep_halves(of: &Arc<Type>, halves: Halves) -> Context {
        Self::keep(of, State { inner: ptr::null_mut(), form: Form::Ours(halves) })
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is used here, if the key is one for us.
    pub(super) fn halves(&self) -> Option<Halves> {
        let mut state = self.state();
        if let Form::Unread = state.form {
            let keys = &self.of.fallback.inner()?.keys;
            // SAFETY: a key of these functions.
            let read = unsafe { Halves::read(self.of.curve, keys, state.inner) };
            state.form = read.map_or(Form::Theirs, Form::Ours);
        }
        match &state.form {
            Form::Ours(halves) => Some(halves.clone()),
            Form::Unread | Form::Theirs => None,
        }
    }

    /// The halves of a key that is only ours.
    fn only_ours(&self) -> Option<Halves> {
        match &*self.state() {
            State { inner, form: Form::Ours(halves) } if inner.is_null() => Some(halves.clone()),
            _ => None,
        }
    }

    /// The default provider's key, or null.
    pub(super) fn inner(&self) -> *mut c_void {
        let mut state = self.state();
        if state.inner.is_null()
            && let Form::Ours(halves) = &state.form
            && let Some(inner) = self.of.fallback.inner()
        {
            // SAFETY: functions and the context of one provider.
            let made = unsafe { halves.write(self.of.curve, &inner.keys, inner.context) };
            state.inner = made;
        }
        state.inner
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.inner.is_null() {
            return;
        }
        if let Some(free) = self.of.fallback.inner().and_then(|inner| inner.keys.free) {
            // SAFETY: a key of the default provider that nobody else has.
            unsafe { free(state.inner) };
        }
    }
}

/// Lends a key.
///
/// # Safety
///
/// As for [`Key::hold`].
unsafe fn lend<'k>(key: Context) -> Option<&'k Key> {
    // SAFETY: the caller says so.
    unsafe { key.cast::<Key>().as_ref() }
}

/// Has the default provider do something with its key.
///
/// # Safety
///
/// As for [`Key::hold`]; the work uses the key for a function of the table.
unsafe fn hand_on<T>(
    key: Context,
    none: T,
    work: impl FnOnce(&Keys, *mut c_void) -> Option<T>,
) -> T {
    // SAFETY: the caller says so.
    let Some(key) = (unsafe { lend(key) }) else { return none };
    let Some(inner) = key.of.fallback.inner() else { return none };
    let theirs = key.inner();
    if theirs.is_null() { none } else { work(&inner.keys, theirs).unwrap_or(none) }
}

/// The provider's type of keys and what the default provider does with it.
///
/// # Safety
///
/// The provider is null or the value that `OSSL_provider_init` gave.
pub(super) unsafe fn of_provider<'p, K: Kind>(
    provider: *mut c_void,
) -> Option<(&'p Arc<Type>, &'p Inner)> {
    // SAFETY: the caller says so.
    let provider = unsafe { provider.cast::<Provider>().as_ref() }?;
    let of = K::of(provider.curves.as_ref()?);
    Some((of, of.fallback.inner()?))
}

unsafe extern "C" fn new<K: Kind>(provider: *mut c_void) -> Context {
    // SAFETY: OpenSSL passes the provider.
    let Some((of, inner)) = (unsafe { of_provider::<K>(provider) }) else {
        return ptr::null_mut();
    };
    let Some(new) = inner.keys.new else { return ptr::null_mut() };
    // SAFETY: the default provider's own context.
    Key::keep_inner(of, unsafe { new(inner.context) })
}

/// What makes a key.
struct Making {
    of: Arc<Type>,
    selection: c_int,
    /// Whether the curve is ours.
    is_ours: bool,
    /// The default provider's, or null as long as nothing is wanted that is not done here.
    inner: *mut c_void,
}

impl Making {
    /// The default provider's, with the curve set.
    fn inner(&mut self) -> Option<(&Keys, *mut c_void)> {
        let inner = self.of.fallback.inner()?;
        if self.inner.is_null() {
            let begin = inner.keys.begin?;
            // SAFETY: the default provider's own context, and no parameters.
            self.inner = unsafe { begin(inner.context, self.selection, ptr::null()) };
            if self.inner.is_null() {
                return None;
            }
            if self.is_ours && self.of.curve == Curve::P256 {
                let name = c"prime256v1";
                let mut group = Param::described(c"group".as_ptr(), UTF8, name.count_bytes());
                group.data = name.as_ptr().cast_mut().cast();
                let params = [group, Param::END];
                // SAFETY: what belongs to the function, and a list.
                if unsafe { inner.keys.set_making_params?(self.inner, params.as_ptr()) } != 1 {
                    return None;
                }
            }
        }
        Some((&inner.keys, self.inner))
    }

    /// Takes settings; `list` gives them.
    fn set(&mut self, params: *const Param) -> Option<c_int> {
        // SAFETY: a list of OpenSSL's.
        let mut settings = unsafe { Settings::new(params) };
        let curve = self.of.curve;
        let is_group = |text: Option<&[u8]>| text.is_some_and(|group| curve.is(group));
        let (mut any, mut all) = (false, true);
        for setting in &mut settings {
            any = true;
            all &= setting.name().is(c"group") && is_group(setting.text());
        }
        if !any {
            return Some(1);
        }
        if all && self.inner.is_null() {
            self.is_ours = true;
            return Some(1);
        }
        let (keys, inner) = self.inner()?;
        // SAFETY: what belongs to the function, and a list of OpenSSL's.
        Some(unsafe { keys.set_making_params?(inner, params) })
    }
}

unsafe extern "C" fn begin<K: Kind>(
    provider: *mut c_void,
    selection: c_int,
    params: *const Param,
) -> Context {
    // SAFETY: OpenSSL passes the provider.
    let Some((of, _)) = (unsafe { of_provider::<K>(provider) }) else { return ptr::null_mut() };
    let is_ours = of.curve == Curve::X25519;
    let making = Making { of: Arc::clone(of), selection, is_ours, inner: ptr::null_mut() };
    let making = Box::into_raw(Box::new(making)).cast();
    // SAFETY: what was just made, and a list of OpenSSL's.
    if unsafe { set_making_params(making, params) } == 1 {
        return making;
    }
    // SAFETY: what was just made.
    unsafe { end(making) };
    ptr::null_mut()
}

unsafe extern "C" fn set_template(making: Context, template: Context) -> c_int {
    // SAFETY: null or what `begin` gave, and a key.
    let (making, template) = unsafe { (making.cast::<Making>().as_mut(), lend(template)) };
    let (Some(making), Some(template)) = (making, template) else { return 0 };
    if making.inner.is_null() && template.only_ours().is_some() {
        making.is_ours = true;
        return 1;
    }
    let Some((keys, inner)) = making.inner() else { return 0 };
    // Types with one curve have no templates.
    let Some(set) = keys.set_template else { return 1 };
    // SAFETY: what belongs to the function.
    unsafe { set(inner, template.inner()) }
}

unsafe extern "C" fn set_making_params(making: Context, params: *const Param) -> c_int {
    // SAFETY: null or what `begin` gave.
    let making = unsafe { making.cast::<Making>().as_mut() };
    making.and_then(|making| making.set(params)).unwrap_or(0)
}

unsafe extern "C" fn settable_making_params<K: Kind>(
    making: Context,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: null or what `begin` gave.
    let making = unsafe { making.cast::<Making>().as_mut() };
    // SAFETY: OpenSSL passes the provider.
    let Some((_, inner)) = (unsafe { of_provider::<K>(provider) }) else { return ptr::null() };
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
    let Some(making) = (unsafe { making.cast::<Making>().as_mut() }) else {
        return ptr::null_mut();
    };
    if making.inner.is_null() && making.is_ours {
        // Who generates parameters wants nothing but the curve.
        if making.selection & PAIR == 0 {
            return Key::keep_halves(&making.of, Halves::default());
        }
        // OpenSSL is faster with a key of P-256 that it also uses.
        if making.of.curve == Curve::X25519 || making.of.job().is_some() {
            return match operation::new_key(making.of.curve) {
                Ok(halves) => Key::keep_halves(&making.of, halves),
                Err(trouble) => {
                    making.of.fallback.reporter.tell(&trouble);
                    ptr::null_mut()
                }
            };
        }
    }
    let of = Arc::clone(&making.of);
    let Some((keys, inner)) = making.inner() else { return ptr::null_mut() };
    let Some(make) = keys.make else { return ptr::null_mut() };
    // SAFETY: what belongs to the function, and what OpenSSL passes.
    Key::keep_inner(&of, unsafe { make(inner, progress, argument) })
}

unsafe extern "C" fn end(making: Context) {
    if making.is_null() {
        return;
    }
    // SAFETY: what `begin` gave, which OpenSSL gives back once.
    let making = unsafe { Box::from_raw(making.cast::<Making>()) };
    if making.inner.is_null() {
        return;
    }
    if let Some(end) = making.of.fallback.inner().and_then(|inner| inner.keys.end) {
        // SAFETY: what belongs to the function, which nobody uses again.
        unsafe { end(making.inner) };
    }
}

unsafe extern "C" fn free(key: Context) {
    if !key.is_null() {
        // SAFETY: what `keep` gave, which OpenSSL gives back once.
        drop(unsafe { Arc::from_raw(key.cast_const().cast::<Key>()) });
    }
}

unsafe extern "C" fn get_params(key: Context, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a key.
    let Some(lent) = (unsafe { lend(key) }) else { return 0 };
    if let Some(halves) = lent.only_ours() {
        // SAFETY: a list of OpenSSL's.
        if unsafe { answer(lent.of.curve, &halves, params) } {
            return 1;
        }
    }
    // SAFETY: OpenSSL passes a key; a list of its.
    unsafe { hand_on(key, 0, |keys, inner| Some(keys.get_params?(inner, params))) }
}

/// Answers what handshakes ask of a key; says no if it is asked for anything else.
///
/// # Safety
///
/// `params` is as [`ParamsOut::new`] wants it.
unsafe fn answer(curve: Curve, halves: &Halves, params: *mut Param) -> bool {
    let [bits, security_bits, size] = curve.sizes();
    // SAFETY: the caller says so.
    let mut params_out = unsafe { ParamsOut::new(params) };
    params_out.all(|mut param_out| {
        let name = param_out.name();
        if name.is(c"bits") {
            param_out.small(bits)
        } else if name.is(c"security-bits") {
            param_out.small(security_bits)
        } else if name.is(c"max-size") {
            param_out.small(size)
        } else if name.is(c"security-category") {
            param_out.small(0)
        } else if name.is(c"encoded-pub-key") {
            halves.public.as_ref().is_some_and(|public| param_out.octets(public.bytes()))
        } else {
            false
        }
    })
}

unsafe extern "C" fn gettable<K: Kind>(provider: *mut c_void) -> *const Param {
    // SAFETY: OpenSSL passes the provider.
    let Some((_, inner)) = (unsafe { of_provider::<K>(provider) }) else { return ptr::null() };
    let function = inner.keys.gettable_params;
    // SAFETY: the default provider's own context.
    function.map_or(ptr::null(), |gettable| unsafe { gettable(inner.context) })
}

unsafe extern "C" fn set_params(key: Context, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a key.
    let Some(lent) = (unsafe { lend(key) }) else { return 0 };
    // SAFETY: a list of OpenSSL's.
    if let Some(public) = unsafe { received(lent, params) } {
        let mut state = lent.state();
        if state.inner.is_null() {
            state.form = Form::Ours(Halves { public: Some(public), secret: None });
            return 1;
        }
    }
    // SAFETY: OpenSSL passes a key; a list of its.
    let set = unsafe { hand_on(key, 0, |keys, inner| Some(keys.set_params?(inner, params))) };
    lent.state().form = Form::Unread;
    set
}

/// The public key that is set, if nothing else is set, and the key is only ours and has no private
/// half.
///
/// # Safety
///
/// `params` is as [`Settings::new`] wants it.
unsafe fn received(key: &Key, params: *const Param) -> Option<Public> {
    key.only_ours().filter(|halves| halves.secret.is_none())?;
    // SAFETY: the caller says so.
    let mut settings = unsafe { Settings::new(params) };
    let (one, other) = (settings.next()?, settings.next());
    if !one.name().is(c"encoded-pub-key") || other.is_some() {
        return None;
    }
    Public::new(key.of.curve, one.octets()?)
}

unsafe extern "C" fn settable<K: Kind>(provider: *mut c_void) -> *const Param {
    // SAFETY: OpenSSL passes the provider.
    let Some((_, inner)) = (unsafe { of_provider::<K>(provider) }) else { return ptr::null() };
    let function = inner.keys.settable_params;
    // SAFETY: the default provider's own context.
    function.map_or(ptr::null(), |settable| unsafe { settable(inner.context) })
}

unsafe extern "C" fn has(key: Context, selection: c_int) -> c_int {
    // SAFETY: OpenSSL passes a key.
    if let Some(halves) = unsafe { lend(key) }.and_then(Key::only_ours) {
        return halves.has(selection).into();
    }
    // SAFETY: OpenSSL passes a key.
    unsafe { hand_on(key, 0, |keys, inner| Some(keys.has?(inner, selection))) }
}

unsafe extern "C" fn validate(key: Context, selection: c_int, how: c_int) -> c_int {
    // SAFETY: OpenSSL passes a key.
    let halves = unsafe { lend(key) }.and_then(Key::only_ours);
    // A public key was checked when it was made: its point is on the curve, and has its order.
    if selection & PAIR == PUBLIC && halves.is_some_and(|halves| halves.public.is_some()) {
        return 1;
    }
    // SAFETY: OpenSSL passes a key.
    unsafe { hand_on(key, 0, |keys, inner| Some(keys.validate?(inner, selection, how))) }
}

unsafe extern "C" fn matches(one: Context, other: Context, selection: c_int) -> c_int {
    // SAFETY: OpenSSL passes keys.
    let Some(other) = (unsafe { lend(other) }) else { return 0 };
    let other = other.inner();
    // SAFETY: OpenSSL passes a key.
    unsafe { hand_on(one, 0, |keys, one| Some(keys.matches?(one, other, selection))) }
}

unsafe extern "C" fn import(key: Context, selection: c_int, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a key; a list of its.
    let imported =
        unsafe { hand_on(key, 0, |keys, inner| Some(keys.import?(inner, selection, params))) };
    // SAFETY: OpenSSL passes a key.
    if let Some(key) = unsafe { lend(key) } {
        key.state().form = Form::Unread;
    }
    imported
}

unsafe extern "C" fn export(
    key: Context,
    selection: c_int,
    take: Option<Take>,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: OpenSSL passes a key, and what belongs to its function.
    unsafe { hand_on(key, 0, |keys, inner| Some(keys.export?(inner, selection, take, argument))) }
}

unsafe extern "C" fn duplicate(key: Context, selection: c_int) -> Context {
    // SAFETY: OpenSSL passes a key.
    let Some(lent) = (unsafe { lend(key) }) else { return ptr::null_mut() };
    if let Some(halves) = lent.only_ours() {
        return Key::keep_halves(&lent.of, halves.select(selection));
    }
    // SAFETY: OpenSSL passes a key.
    let inner = unsafe {
        hand_on(key, ptr::null_mut(), |keys, inner| Some(keys.duplicate?(inner, selection)))
    };
    Key::keep_inner(&lent.of, inner)
}
