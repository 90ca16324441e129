//! The functions of a cipher that OpenSSL calls, for every kind of context.

use core::ffi::{c_int, c_void};

use lanecrypt_kernels::Isa;

use crate::abi::{Context, DescribedContext, Dispatch, Param, Table};
use crate::count::Count;
use crate::info::{self, Info};
use crate::memory::{self, Buffers, Plain, buffers, bytes, lend, status, tell};
use crate::params::{ParamsOut, Settings};

/// The context of a cipher.
pub(crate) trait CipherContext: Plain {
    const INFO: Info;
    /// The lists of the parameters that [`get`](Self::get) and [`set`](Self::set) know.
    const GETTABLE: DescribedContext;
    const SETTABLE: DescribedContext;
    /// Whether an update by no bytes is done without a look at the context.
    const SKIPS_EMPTY: bool;

    fn new(isa: Isa) -> Self;
    fn count(&mut self) -> &mut Count;
    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool;
    /// The length of what was written.
    fn update(&mut self, request: Request) -> Option<usize>;
    /// The same for the end of a message.
    fn finish(&mut self, out: *mut u8, room: usize) -> Option<usize>;
    /// The same for `EVP_Cipher`.
    fn cipher(&mut self, request: Request) -> Option<usize>;
    fn get(&mut self, params_out: ParamsOut<'_>) -> bool;
    fn set(&mut self, settings: Settings<'_>) -> bool;
}

/// Two buffers, as OpenSSL gives them.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub(crate) out: *mut u8,
    pub(crate) room: usize,
    pub(crate) input: *const u8,
    pub(crate) length: usize,
}

impl Request {
    /// The input.
    pub(crate) fn bytes<'a>(self) -> Option<&'a [u8]> {
        // SAFETY: OpenSSL gives as many bytes as it says.
        unsafe { bytes(self.input, self.length) }
    }

    #[inline]
    pub(crate) fn buffers<'a>(self) -> Option<Buffers<'a>> {
        // SAFETY: buffers of OpenSSL's.
        unsafe { buffers(self.out, self.room, self.input, self.length) }
    }
}

/// The functions of a cipher.
pub(crate) type Functions = Table<[Dispatch; 15]>;

pub(crate) const fn functions<C: CipherContext>() -> Functions {
    Table([
        Dispatch::new_cipher(new::<C>),
        Dispatch::encrypt_init(init::<C, true>),
        Dispatch::decrypt_init(init::<C, false>),
        Dispatch::update(update::<C>),
        Dispatch::end(finish::<C>),
        Dispatch::cipher(cipher::<C>),
        Dispatch::free(free::<C>),
        Dispatch::duplicate(duplicate::<C>),
        Dispatch::get_params(get_params::<C>),
        Dispatch::gettable_params(info::gettable),
        Dispatch::get_context_params(get::<C>),
        Dispatch::gettable_context_params(C::GETTABLE),
        Dispatch::set_context_params(set::<C>),
        Dispatch::settable_context_params(C::SETTABLE),
        Dispatch::END,
    ])
}

unsafe extern "C" fn new<C: CipherContext>(_: *mut c_void) -> Context {
    memory::keep(|| C::new(Isa::detect()))
}

unsafe extern "C" fn free<C: CipherContext>(context: Context) {
    // SAFETY: OpenSSL frees a context of this cipher, once.
    unsafe { memory::free::<C>(context) };
}

unsafe extern "C" fn duplicate<C: CipherContext>(context: Context) -> Context {
    // SAFETY: OpenSSL duplicates a context of this cipher.
    let copy = unsafe { memory::duplicate::<C>(context) };
    // SAFETY: the copy is new.
    if let Some(copy) = unsafe { lend::<C>(copy) } {
        copy.count().restart();
    }
    copy
}

unsafe extern "C" fn init<C: CipherContext, const ENCRYPTS: bool>(
    context: Context,
    key: *const u8,
    key_length: usize,
    iv: *const u8,
    iv_length: usize,
    params: *const Param,
) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<C>(context) }) else { return 0 };
    // SAFETY: OpenSSL gives as many bytes as it says.
    let (key, iv) = (unsafe { bytes(key, key_length) }, unsafe { bytes(iv, iv_length) });
    // SAFETY: a list of OpenSSL's.
    let settings = unsafe { Settings::new(params) };
    status(context.init(ENCRYPTS, key, iv) && context.set(settings))
}

unsafe extern "C" fn update<C: CipherContext>(
    context: Context,
    out: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    length: usize,
) -> c_int {
    if C::SKIPS_EMPTY && length == 0 {
        // SAFETY: OpenSSL's place for a length.
        return unsafe { answer(written, Some(0)) };
    }
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<C>(context) }) else { return 0 };
    // SAFETY: OpenSSL's place for a length.
    unsafe { answer(written, context.update(Request { out, room, input, length })) }
}

unsafe extern "C" fn finish<C: CipherContext>(
    context: Context,
    out: *mut u8,
    written: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<C>(context) }) else { return 0 };
    // SAFETY: OpenSSL's place for a length.
    unsafe { answer(written, context.finish(out, room)) }
}

unsafe extern "C" fn cipher<C: CipherContext>(
    context: Context,
    out: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<C>(context) }) else { return 0 };
    // SAFETY: OpenSSL's place for a length.
    unsafe { answer(written, context.cipher(Request { out, room, input, length })) }
}

/// Says how many bytes have been written, and whether all is well.
///
/// # Safety
///
/// As for [`tell`].
#[inline]
unsafe fn answer(written: *mut usize, done: Option<usize>) -> c_int {
    // SAFETY: the caller says so.
    unsafe { tell(written, done.unwrap_or_default()) };
    status(done.is_some())
}

unsafe extern "C" fn get_params<C: CipherContext>(params: *mut Param) -> c_int {
    // SAFETY: a list of OpenSSL's.
    unsafe { C::INFO.get_params(params) }
}

unsafe extern "C" fn get<C: CipherContext>(context: Context, params: *mut Param) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<C>(context) }) else { return 0 };
    // SAFETY: a list of OpenSSL's.
    let params_out = unsafe { ParamsOut::new(params) };
    status(context.get(params_out))
}

unsafe extern "C" fn set<C: CipherContext>(context: Context, params: *const Param) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<C>(context) }) else { return 0 };
    // SAFETY: a list of OpenSSL's.
    let settings = unsafe { Settings::new(params) };
    status(context.set(settings))
}
