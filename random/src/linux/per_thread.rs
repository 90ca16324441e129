//! The generator of the calling thread.
//!
//! A thread finds its page through a thread-local pointer without initialisation and destructor, so
//! that the look-up costs one address calculation. A destructor of the C library's thread-specific
//! data returns the page when the thread ends. Later draws are from the kernel.
//!
//! # Signal handlers
//!
//! A draw *claims* the thread's page before it reads it. A handler that interrupts the draw finds
//! the claim and draws from the kernel. The claim is outside of the page and is *not* emptied by a
//! fork. If the handler forks, later handlers in the child still find the claim of the draw that
//! the child is in the middle of.

use core::ffi::c_void;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::without_provenance_mut;
use core::sync::atomic::{Ordering, compiler_fence};

use lanecrypt_kernels::Isa;

use crate::error::{EntropyError, abort, or_abort};
use crate::linux::copy_and_wipe::LONG;
use crate::linux::core_type::SeedCore;
use crate::linux::erasing::Erasing;
use crate::linux::errno::Errno;
use crate::linux::generator::{Mix, Mixing, name_only};
use crate::linux::kernel;
use crate::linux::local::{Claim, KERNEL, Local, NEW};
use crate::linux::methods::found;
use crate::linux::owner::Owner;
use crate::linux::page::Refusal;
use crate::linux::pool::{self, NoPage, Slot};
use crate::linux::rekeying::{Counters, Rekeying};
use crate::linux::slab::{self, User};
use crate::linux::static_generator::StaticGenerator;
use crate::linux::vdso::State;
use crate::linux::word::Word;

/// The generator of the calling thread, of the kind `G`: no lock and no system call. Safe in signal
/// handlers, after a fork and while the thread ends.
///
/// The value is empty. Each request finds the generator of the thread that makes it. Each kind has
/// its own generator, of 8 KiB, in each thread that uses it.
pub struct PerThread<G = Erasing>(PhantomData<fn() -> G>);

found! {
    PerThread,
    "Drops the buffer and takes a new key from the kernel.",
    "in a signal handler that interrupts a draw"
}

impl<C: SeedCore + 'static> PerThread<Rekeying<C>>
where
    Rekeying<C>: StaticGenerator,
{
    /// The counters of the calling thread's generator.
    #[must_use]
    pub fn counters() -> Counters {
        let page = here::<Rekeying<C>>().page.get();
        page.map_or_else(Counters::default, |page| page.made().counters())
    }
}

impl<G: StaticGenerator> Mix for PerThread<G> {
    fn fill_with(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        serve(here::<G>().claim(), out, mixing)
    }
}

/// The calling thread's record of its generator.
///
/// A plain reference, so that the following code can be a tail call.
#[inline(always)]
fn here<G: StaticGenerator>() -> &'static Local<G> {
    let local: *const Local<G> = G::statics().local.with(core::ptr::from_ref);
    // SAFETY: the value has no destructor and stays in its place as long as the thread runs. The
    // reference stays in this thread, because the value has cells.
    unsafe { &*local }
}

#[inline(always)]
fn word<G: StaticGenerator, W: Word>() -> W {
    let Some(mut claim) = here::<G>().claim() else {
        return word_slowly::<G, W>(None);
    };
    match G::take(&mut claim.page()) {
        Ok(word) => word,
        Err(refusal) => word_slowly(Some((claim, refusal))),
    }
}

/// Fills `out`. An error is returned, or ends the process. Everything except short requests that
/// the buffer serves is a tail call, so that short requests need no stack.
#[inline(always)]
fn fill<G: StaticGenerator, const ABORT: bool>(out: &mut [u8]) -> Result<(), EntropyError> {
    let Some(mut claim) = here::<G>().claim() else {
        return fill_slowly::<G, ABORT>(None, out);
    };
    if out.len() >= LONG {
        return fill_long::<G, ABORT>(claim, out);
    }
    if G::take_few_bytes(&mut claim.page(), out).is_err() {
        return fill_slowly::<G, ABORT>(Some(claim), out);
    }
    Ok(())
}

/// A long request.
#[inline(never)]
fn fill_long<G: StaticGenerator, const ABORT: bool>(
    mut claim: Claim<G>,
    out: &mut [u8],
) -> Result<(), EntropyError> {
    let isa = claim.0.isa.get();
    if G::take_bytes(&mut claim.page(), isa, out).is_err() {
        return fill_slowly::<G, ABORT>(Some(claim), out);
    }
    Ok(())
}

/// A request that the buffer did not serve, with the claim or without one.
#[cold]
#[inline(never)]
fn fill_slowly<G: StaticGenerator, const ABORT: bool>(
    claim: Option<Claim<G>>,
    out: &mut [u8],
) -> Result<(), EntropyError> {
    or_abort::<ABORT>(serve(claim, out, Mixing::Refills))
}

/// A word that could not be taken: the page, which is claimed, refused it, or the page could not be
/// claimed.
#[cold]
#[inline(never)]
fn word_slowly<G: StaticGenerator, W: Word>(refused: Option<(Claim<G>, Refusal)>) -> W {
    let (mut claim, refusal) = refused.unzip();
    if let (Some(claim), Some(refusal)) = (&mut claim, refusal)
        && claim.page().drew_zero(refusal)
    {
        return W::ZERO;
    }
    W::by(|bytes| serve(claim, bytes, Mixing::Refills)).unwrap_or_else(|error| abort(error))
}

/// Serves any request, with the claim that is held, which it ends. Without a claim, the thread has
/// no page yet or no longer, or this is a signal handler that interrupted a draw.
#[cold]
#[inline(never)]
fn serve<G: StaticGenerator>(
    claim: Option<Claim<G>>,
    out: &mut [u8],
    mixing: Mixing,
) -> Result<(), EntropyError> {
    let _errno = Errno::keep();
    let Some(mut claim) = claim.or_else(start) else {
        // By system call, because the interrupted draw may be inside of the vDSO. If the handler
        // forked, the kernel has emptied the state there together with its mark of being in use.
        return kernel::fill(State::NONE, out);
    };
    let (vdso, isa) = (claim.0.vdso.get(), claim.0.isa.get());
    Owner { page: claim.page(), vdso, isa, interval: None }.fill(out, mixing)
}

/// Allocates the thread's page, if that was not tried before, and claims it.
fn start<G: StaticGenerator>() -> Option<Claim<G>> {
    let local = here::<G>();
    // An earlier handler also finds a new thread, and allocates its page. A later one finds the
    // claim and draws from the kernel.
    if local.replace_new() != NEW {
        return local.claim();
    }
    let state = match pool::take(User::Thread(core::ptr::from_ref(local).addr())) {
        Ok(slot) if return_at_exit::<G>() => {
            let (page, vdso) = slot.into_parts();
            local.page.set(Some(page));
            local.vdso.set(vdso);
            local.isa.set(Isa::detect());
            return Some(Claim(local));
        }
        Ok(_) | Err(NoPage::Refused) => KERNEL,
        Err(NoPage::NotNow) => NEW,
    };
    local.state.set(state);
    None
}

/// Arranges that the page is wiped and returned when the thread ends. Returns false if the C
/// library has no key or no memory left for this.
///
/// A thread that first draws in the last round of its destructors is not notified, and cannot
/// detect that. Its page stays as it is until a later thread takes it ([`crate::linux::slab`]): one
/// with its thread-local memory at the same address.
fn return_at_exit<G: StaticGenerator>() -> bool {
    key::<G>().is_some_and(|key| {
        // The destructor is called for any value but null.
        let local = core::ptr::from_ref(here::<G>());
        // SAFETY: the key was made by the C library and is never deleted.
        unsafe { libc::pthread_setspecific(key, local.cast()) == 0 }
    })
}

/// The key of thread-specific data whose destructor serves this kind. The first thread creates it.
fn key<G: StaticGenerator>() -> Option<libc::pthread_key_t> {
    // What the C library stores for a key is published with it: other threads read it as it is.
    let published = G::statics().exit_key;
    let key_at = |one_more: *mut c_void| libc::pthread_key_t::try_from(one_more.addr() - 1).ok();
    let known = published.get();
    if !known.is_null() {
        return key_at(known);
    }
    let mut key = 0;
    // SAFETY: the pointer is to a key, and the destructor is a function of the type asked for.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_exit::<G>)) } != 0 {
        return None;
    }
    match published.publish(without_provenance_mut(key as usize + 1)) {
        Ok(_) => Some(key),
        Err(first) => {
            // SAFETY: this key was made above and never used.
            unsafe { libc::pthread_key_delete(key) };
            key_at(first)
        }
    }
}

/// Wipes and returns the page of a thread that ends. Its later draws are from the kernel.
extern "C" fn at_exit<G: StaticGenerator>(_: *mut c_void) {
    let _errno = Errno::keep();
    let local = here::<G>();
    // First, so that a handler from now on does not use the page.
    local.state.set(KERNEL);
    compiler_fence(Ordering::SeqCst);
    let vdso = local.vdso.replace(State::NONE);
    slab::thread_ends();
    if let Some(page) = local.page.take() {
        // SAFETY: this thread got them as one slot, and does not use them any more.
        drop(unsafe { Slot::from_parts(page, vdso) });
    }
}
