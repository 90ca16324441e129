//! Ciphers without authentication: what AES-CTR, -CBC and -XTS have in common.

pub(crate) mod cbc;
pub(crate) mod ctr;
mod padding;
mod record;
pub(crate) mod xts;

use core::ffi::{c_int, c_void};

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, wipe};

use crate::abi::{Context, Param, described};
use crate::count::Count;
use crate::memory::{self, Buffers, Plain, buffers, bytes, lend, status, tell};
use crate::params::{Questions, Settings};

/// The length of vectors, and of blocks if there are any.
pub(crate) const BLOCK: usize = 16;
/// The longest code of a record of TLS.
const LONGEST_CODE: usize = 64;

/// A keyed cipher in a mode.
///
/// # Safety
///
/// As for [`Plain`].
pub(crate) unsafe trait Mode: Sized {
    /// The length of a key.
    const KEY: usize;
    /// Whether a call without a vector takes the last one again.
    const RESTORES_IV: bool;
    /// Whether padding and records of TLS can be set.
    const HAS_SETTINGS: bool = true;

    fn empty(isa: Isa) -> Self;
    fn set_key(&mut self, key: &[u8]);
    /// Whether the key may be used.
    fn admits(_key: &[u8], _encrypts: bool) -> bool {
        true
    }
    /// The next bytes, as `EVP_Cipher` gives them.
    fn crypt(context: &mut PlainContext<Self>, data: InOutBuf<'_, '_, u8>) -> bool;
    fn update(context: &mut PlainContext<Self>, request: Request) -> Option<usize>;
    fn finish(context: &mut PlainContext<Self>, out: *mut u8, room: usize) -> Option<usize>;
}

/// The arguments of an update, as OpenSSL gives them.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    out: *mut u8,
    room: usize,
    input: *const u8,
    length: usize,
}

/// The context of one cipher.
#[repr(C, align(64))]
pub(crate) struct PlainContext<M: Mode> {
    pub(crate) encrypts: bool,
    pub(crate) has_key: bool,
    pub(crate) has_iv: bool,
    pub(crate) pads: bool,
    /// Bytes of `block`: used ones of keystream, or those that wait.
    pub(crate) filled: usize,
    /// The number that OpenSSL calls `num`.
    pub(crate) number: u32,
    /// The version of TLS whose records these are, and the length of their code.
    tls_version: u32,
    tls_code: usize,
    pub(crate) count: Count,
    pub(crate) iv: [u8; BLOCK],
    first_iv: [u8; BLOCK],
    pub(crate) block: [u8; BLOCK],
    /// The code of the last record.
    code: [u8; LONGEST_CODE],
    has_code: bool,
    pub(crate) cipher: M,
}

// SAFETY: plain bytes, numbers and a key, which are as the trait says.
unsafe impl<M: Mode> Plain for PlainContext<M> {}

impl<M: Mode> Drop for PlainContext<M> {
    /// The key wipes itself.
    fn drop(&mut self) {
        wipe::memory(&mut self.block);
        wipe::memory(&mut self.code);
    }
}

impl<M: Mode> PlainContext<M> {
    #[inline]
    fn new(isa: Isa) -> Self {
        Self {
            encrypts: false,
            has_key: false,
            has_iv: false,
            pads: true,
            filled: 0,
            number: 0,
            tls_version: 0,
            tls_code: 0,
            count: Count::of_new_context(),
            iv: [0; BLOCK],
            first_iv: [0; BLOCK],
            block: [0; BLOCK],
            code: [0; LONGEST_CODE],
            has_code: false,
            cipher: M::empty(isa),
        }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        (self.number, self.filled, self.encrypts) = (0, 0, encrypts);
        if let Some(iv) = iv {
            let Ok(iv) = iv.try_into() else { return false };
            (self.iv, self.first_iv, self.has_iv) = (iv, iv, true);
        } else if self.has_iv && M::RESTORES_IV {
            self.iv = self.first_iv;
        }
        if let Some(key) = key {
            if key.len() != M::KEY || !M::admits(key, encrypts) {
                return false;
            }
            self.cipher.set_key(key);
            self.has_key = true;
        }
        true
    }

    fn get(&mut self, questions: Questions<'_>) -> bool {
        for mut question in questions {
            let name = question.name();
            let good = if name.is(c"ivlen") {
                question.size(BLOCK)
            } else if name.is(c"keylen") {
                question.size(M::KEY)
            } else if name.is(c"padding") {
                question.small(self.pads.into())
            } else if name.is(c"iv") {
                question.octets_or_pointer(&self.first_iv)
            } else if name.is(c"updated-iv") {
                question.octets_or_pointer(&self.iv)
            } else if name.is(c"num") {
                question.small(self.number)
            } else if name.is(c"tls-mac") {
                let code = self.code.get(..self.tls_code).filter(|_| self.has_code);
                question.octets_pointer(code, self.tls_code)
            } else {
                true
            };
            if !good {
                return false;
            }
        }
        true
    }

    fn set(&mut self, settings: Settings<'_>) -> bool {
        let small = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        for setting in settings {
            let name = setting.name();
            let good = if !M::HAS_SETTINGS && !name.is(c"keylen") {
                Some(())
            } else if name.is(c"padding") {
                small(setting.number()).map(|pads| self.pads = pads != 0)
            } else if name.is(c"num") {
                small(setting.number()).map(|number| self.number = number)
            } else if name.is(c"keylen") {
                setting.size().filter(|&length| length == M::KEY).map(|_| ())
            } else if name.is(c"tls-version") {
                small(setting.number()).map(|version| self.tls_version = version)
            } else if name.is(c"tls-mac-size") {
                let length = setting.size().filter(|&length| length <= LONGEST_CODE);
                length.map(|length| self.tls_code = length)
            } else {
                Some(())
            };
            if good.is_none() {
                return false;
            }
        }
        true
    }
}

impl Request {
    /// The input.
    fn bytes<'a>(self) -> Option<&'a [u8]> {
        // SAFETY: OpenSSL gives as many bytes as it says.
        unsafe { bytes(self.input, self.length) }
    }

    /// Whether input and output, which may be a block longer, have bytes in common.
    fn overlaps(self) -> bool {
        let (out, input) = (self.out.addr(), self.input.addr());
        let end = |start: usize| start.saturating_add(self.length).saturating_add(BLOCK);
        out < end(input) && input < end(out)
    }

    /// The buffers, if the output has room for all of the input.
    fn data<'a>(self) -> Option<InOutBuf<'a, 'a, u8>> {
        // SAFETY: buffers of OpenSSL's.
        match unsafe { buffers(self.out, self.room, self.input, self.length) } {
            Some(Buffers::Data(data)) => Some(data),
            _ => None,
        }
    }
}

pub(crate) unsafe extern "C" fn new<M: Mode>(_: *mut c_void) -> Context {
    memory::keep(|| PlainContext::<M>::new(Isa::detect()))
}

pub(crate) unsafe extern "C" fn free<M: Mode>(context: Context) {
    // SAFETY: OpenSSL frees a context of this cipher, once.
    unsafe { memory::free::<PlainContext<M>>(context) };
}

pub(crate) unsafe extern "C" fn duplicate<M: Mode>(context: Context) -> Context {
    // SAFETY: OpenSSL duplicates a context of this cipher.
    let copy = unsafe { memory::duplicate::<PlainContext<M>>(context) };
    // SAFETY: the copy is new.
    if let Some(copy) = unsafe { lend::<PlainContext<M>>(copy) } {
        copy.count.restart();
    }
    copy
}

pub(crate) unsafe extern "C" fn init<M: Mode, const ENCRYPTS: bool>(
    context: Context,
    key: *const u8,
    key_length: usize,
    iv: *const u8,
    iv_length: usize,
    params: *const Param,
) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<PlainContext<M>>(context) }) else { return 0 };
    // SAFETY: OpenSSL gives as many bytes as it says.
    let (key, iv) = (unsafe { bytes(key, key_length) }, unsafe { bytes(iv, iv_length) });
    // SAFETY: a list of OpenSSL's.
    let settings = unsafe { Settings::new(params) };
    status(context.init(ENCRYPTS, key, iv) && context.set(settings))
}

pub(crate) unsafe extern "C" fn update<M: Mode>(
    context: Context,
    out: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<PlainContext<M>>(context) }) else { return 0 };
    let request = Request { out, room, input, length };
    let done = if context.has_key { M::update(context, request) } else { None };
    context.count.one_more();
    // SAFETY: OpenSSL's place for a length.
    unsafe { tell(written, done.unwrap_or_default()) };
    status(done.is_some())
}

pub(crate) unsafe extern "C" fn finish<M: Mode>(
    context: Context,
    out: *mut u8,
    written: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<PlainContext<M>>(context) }) else { return 0 };
    let done = M::finish(context, out, room);
    // SAFETY: OpenSSL's place for a length.
    unsafe { tell(written, done.unwrap_or_default()) };
    status(done.is_some())
}

/// `EVP_Cipher`: the next bytes, without padding.
pub(crate) unsafe extern "C" fn cipher<M: Mode>(
    context: Context,
    out: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<PlainContext<M>>(context) }) else { return 0 };
    let data = Request { out, room, input, length }.data();
    context.count.one_more();
    let good = context.has_key && data.is_some_and(|data| M::crypt(context, data));
    // SAFETY: OpenSSL's place for a length.
    unsafe { tell(written, if good { length } else { 0 }) };
    status(good)
}

pub(crate) unsafe extern "C" fn get<M: Mode>(context: Context, params: *mut Param) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<PlainContext<M>>(context) }) else { return 0 };
    // SAFETY: a list of OpenSSL's.
    let questions = unsafe { Questions::new(params) };
    status(context.get(questions))
}

pub(crate) unsafe extern "C" fn set<M: Mode>(context: Context, params: *const Param) -> c_int {
    // SAFETY: a context of this cipher.
    let Some(context) = (unsafe { lend::<PlainContext<M>>(context) }) else { return 0 };
    // SAFETY: a list of OpenSSL's.
    let settings = unsafe { Settings::new(params) };
    status(context.set(settings))
}

pub(crate) unsafe extern "C" fn gettable(_: Context, _: *mut c_void) -> *const Param {
    described!(
        c"keylen" size, c"ivlen" size, c"padding" unsigned, c"num" unsigned, c"iv" octets,
        c"updated-iv" octets, c"tls-mac" octets_pointer,
    )
}

pub(crate) unsafe extern "C" fn settable(_: Context, _: *mut c_void) -> *const Param {
    described!(
        c"padding" unsigned, c"num" unsigned, c"tls-version" unsigned, c"tls-mac-size" size,
    )
}

/// A cipher in a mode: its type, its properties and its table of functions.
macro_rules! mode {
    ($functions:ident, $cipher:ty, $info:expr) => {
        pub(crate) static $functions: Table<[Dispatch; 15]> = {
            static INFO: Info = $info;

            unsafe extern "C" fn get_params(params: *mut Param) -> c_int {
                // SAFETY: a list of OpenSSL's.
                unsafe { INFO.get_params(params) }
            }

            Table([
                Dispatch::new_cipher($crate::plain::new::<$cipher>),
                Dispatch::encrypt_init($crate::plain::init::<$cipher, true>),
                Dispatch::decrypt_init($crate::plain::init::<$cipher, false>),
                Dispatch::update($crate::plain::update::<$cipher>),
                Dispatch::end($crate::plain::finish::<$cipher>),
                Dispatch::cipher($crate::plain::cipher::<$cipher>),
                Dispatch::free($crate::plain::free::<$cipher>),
                Dispatch::duplicate($crate::plain::duplicate::<$cipher>),
                Dispatch::get_params(get_params),
                Dispatch::gettable_params($crate::info::gettable),
                Dispatch::get_context_params($crate::plain::get::<$cipher>),
                Dispatch::gettable_context_params($crate::plain::gettable),
                Dispatch::set_context_params($crate::plain::set::<$cipher>),
                Dispatch::settable_context_params($crate::plain::settable),
                Dispatch::END,
            ])
        };
    };
}

use mode;
