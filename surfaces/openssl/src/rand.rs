//! The generator of random numbers, `LANECRYPT`.
//!
//! Bytes come from the generator of the calling thread, which seeds itself from the kernel and
//! notices forks. So a context holds no secret. It needs no parent, no lock and no seed from
//! outside, and all contexts are alike.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lanecrypt_random as random;

use crate::abi::{Context, Dispatch, Param, Table, described};
use crate::count;
use crate::memory::status;
use crate::params::ParamsOut;

/// The strength in bits.
const STRENGTH: c_uint = 256;
/// The most bytes of a request. Longer ones are divided by OpenSSL.
const LONGEST: usize = 1 << 30;

/// `EVP_RAND_STATE_...`
const UNINITIALISED: u32 = 0;
const READY: u32 = 1;

/// A context. Threads may share one.
struct Generator {
    ready: AtomicBool,
    draws: AtomicU64,
}

impl Drop for Generator {
    fn drop(&mut self) {
        count::flush_draws(&self.draws, self.draws.load(Ordering::Relaxed));
    }
}

pub(crate) static FUNCTIONS: Table<[Dispatch; 15]> = Table([
    Dispatch::new_generator(new),
    Dispatch::free_generator(free),
    Dispatch::instantiate(instantiate),
    Dispatch::uninstantiate(uninstantiate),
    Dispatch::generate(generate),
    Dispatch::reseed(reseed),
    Dispatch::nonce(nonce),
    Dispatch::enable_locking(nothing_to_do),
    Dispatch::gettable_generator_params(gettable),
    Dispatch::get_generator_params(get),
    Dispatch::verify_zeroization(nothing_to_do),
    Dispatch::get_seed(get_seed),
    Dispatch::clear_seed(clear_seed),
    Dispatch::END,
    Dispatch::END,
]);

/// Lends a context, which threads share.
///
/// # Safety
///
/// `context` is null or comes from [`new`] and has not been freed.
#[inline]
unsafe fn lend<'a>(context: Context) -> Option<&'a Generator> {
    // SAFETY: the caller says so.
    unsafe { context.cast::<Generator>().as_ref() }
}

unsafe extern "C" fn new(_: *mut c_void, _: *mut c_void, _: *const Dispatch) -> Context {
    let generator = Generator { ready: AtomicBool::new(false), draws: AtomicU64::new(0) };
    Box::into_raw(Box::new(generator)).cast()
}

unsafe extern "C" fn free(context: Context) {
    if !context.is_null() {
        // SAFETY: OpenSSL frees a context that `new` made, once.
        drop(unsafe { Box::from_raw(context.cast::<Generator>()) });
    }
}

unsafe extern "C" fn instantiate(
    context: Context,
    strength: c_uint,
    prediction_resistance: c_int,
    _: *const u8,
    _: usize,
    _: *const Param,
) -> c_int {
    // SAFETY: a context of OpenSSL's.
    let Some(generator) = (unsafe { lend(context) }) else { return 0 };
    // The kernel's bytes are there, or there will be none later either.
    let good = strength <= STRENGTH && fill(&mut [0; 1], prediction_resistance != 0);
    if good {
        generator.ready.store(true, Ordering::Relaxed);
    }
    status(good)
}

unsafe extern "C" fn uninstantiate(context: Context) -> c_int {
    // SAFETY: a context of OpenSSL's.
    let Some(generator) = (unsafe { lend(context) }) else { return 0 };
    generator.ready.store(false, Ordering::Relaxed);
    1
}

unsafe extern "C" fn generate(
    context: Context,
    out: *mut u8,
    length: usize,
    strength: c_uint,
    prediction_resistance: c_int,
    _: *const u8,
    _: usize,
) -> c_int {
    // SAFETY: a context of OpenSSL's.
    let Some(generator) = (unsafe { lend(context) }) else { return 0 };
    if !generator.ready.load(Ordering::Relaxed) || strength > STRENGTH || length > LONGEST {
        return 0;
    }
    count::one_more_draw(&generator.draws);
    if length == 0 {
        return 1;
    }
    if out.is_null() {
        return 0;
    }
    // SAFETY: the caller of OpenSSL gives room for so many bytes. They are only written.
    let out = unsafe { slice::from_raw_parts_mut(out, length) };
    status(fill(out, prediction_resistance != 0))
}

/// Fills `out`. If `fresh`, bytes of the kernel go into the key first.
#[inline]
fn fill(out: &mut [u8], fresh: bool) -> bool {
    if fresh { fill_fresh(out) } else { random::try_fill(out).is_ok() }
}

#[cold]
fn fill_fresh(out: &mut [u8]) -> bool {
    random::rng().strict().try_fill(out).is_ok()
}

/// What callers bring is not mixed in: the kernel's bytes are at least as good, and more are mixed
/// in now.
unsafe extern "C" fn reseed(
    _: Context,
    _: c_int,
    _: *const u8,
    _: usize,
    _: *const u8,
    _: usize,
) -> c_int {
    status(fill_fresh(&mut [0; 1]))
}

unsafe extern "C" fn nonce(
    _: Context,
    out: *mut u8,
    _: c_uint,
    shortest: usize,
    longest: usize,
) -> usize {
    if out.is_null() || longest < shortest || longest > LONGEST {
        return 0;
    }
    let length = shortest;
    // SAFETY: the caller gives room for the longest one.
    let out = unsafe { slice::from_raw_parts_mut(out, length) };
    if fill(out, false) { length } else { 0 }
}

/// A seed for a generator that has this one as its parent.
unsafe extern "C" fn get_seed(
    _: Context,
    seed: *mut *mut u8,
    bits: c_int,
    shortest: usize,
    longest: usize,
    _: c_int,
    _: *const u8,
    _: usize,
) -> usize {
    let wanted = usize::try_from(bits).unwrap_or(0).div_ceil(8).max(shortest);
    if seed.is_null() || wanted == 0 || wanted > longest || wanted > LONGEST {
        return 0;
    }
    let mut bytes = vec![0; wanted].into_boxed_slice();
    if !fill_fresh(&mut bytes) {
        return 0;
    }
    // SAFETY: the caller takes the pointer there.
    unsafe { seed.write(Box::into_raw(bytes).cast()) };
    wanted
}

unsafe extern "C" fn clear_seed(_: Context, seed: *mut u8, length: usize) {
    if seed.is_null() {
        return;
    }
    // SAFETY: OpenSSL brings back what `get_seed` gave, with its length.
    let mut bytes = unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(seed, length)) };
    lanecrypt_kernels::wipe::memory(&mut bytes);
}

unsafe extern "C" fn nothing_to_do(_: Context) -> c_int {
    1
}

unsafe extern "C" fn gettable(_: Context, _: *mut c_void) -> *const Param {
    described!(
        c"state" integer, c"strength" unsigned, c"max_request" size, c"reseed_counter" unsigned,
    )
}

unsafe extern "C" fn get(context: Context, params: *mut Param) -> c_int {
    // SAFETY: a context of OpenSSL's.
    let Some(generator) = (unsafe { lend(context) }) else { return 0 };
    // SAFETY: a list of OpenSSL's.
    let mut params_out = unsafe { ParamsOut::new(params) };
    status(params_out.all(|mut param_out| {
        let name = param_out.name();
        if name.is(c"max_request") {
            param_out.size(LONGEST)
        } else if name.is(c"strength") {
            param_out.small(STRENGTH)
        } else if name.is(c"state") {
            let ready = generator.ready.load(Ordering::Relaxed);
            param_out.small(if ready { READY } else { UNINITIALISED })
        } else if name.is(c"reseed_counter") {
            // It never changes, so that generators below do not follow each fork of ours: they
            // notice forks themselves.
            param_out.small(1)
        } else {
            true
        }
    }))
}
