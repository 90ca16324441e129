//! The generator of the calling thread.
//!
//! A thread finds its page through a thread-local pointer that needs no initialisation and no
//! destructor, so that looking it up costs one address calculation. A destructor of the C library's
//! thread-specific data returns the page when the thread ends; draws after that go to the kernel.
//!
//! # Signal handlers
//!
//! A draw *claims* the thread's page before it looks at it; a handler that interrupts it finds
//! the claim and asks the kernel. The claim lies outside of the page and is *not* emptied by a
//! fork: if the handler forks, draws of handlers in the child still find the page claimed by the
//! draw that the child is in the middle of.

use core::cell::Cell;
use core::ffi::c_void;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU8, Ordering};

use lanecrypt_kernels::Isa;

use crate::core_type::SeedCore;
use crate::erasing::Erasing;
use crate::errno::Errno;
use crate::error::{EntropyError, abort};
use crate::generator::{Mixing, name_only};
use crate::hand_out::LONG;
use crate::kernel;
use crate::owner::Owner;
use crate::page::{PagePtr, Refusal, Word};
use crate::placed::Placed;
use crate::pool::{self, NoPage, Slot};
use crate::rekeying::{Counters, Made, Rekeying};
use crate::slab::{self, User};
use crate::strict::{Mix, Strict};
use crate::vdso::State;

/// The generator of the calling thread, of the kind `G`: no lock, no system call; safe in signal
/// handlers, after a fork and while the thread ends.
///
/// The value holds nothing. Each request finds the generator of the thread that makes it, and
/// each kind has one of its own in each thread that uses it: 8 KiB.
pub struct PerThread<G = Erasing>(PhantomData<fn() -> G>);

impl<G> PerThread<G> {
    /// A value that stands for the calling thread's generator.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// The same generator with kernel bytes mixed into every request.
    #[inline]
    #[must_use]
    pub const fn strict(self) -> Strict<Self> {
        Strict::new(self)
    }
}

impl<G: Placed> PerThread<G> {
    /// Fills `out` with random bytes, or says why it cannot.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes; `out` must then not be used.
    pub fn try_fill(out: &mut [u8]) -> Result<(), EntropyError> {
        fill::<G, false>(out)
    }

    /// Fills `out` with random bytes.
    ///
    /// Aborts the process, after one line on standard error, where [`PerThread::try_fill`] would
    /// return an error.
    pub fn fill(out: &mut [u8]) {
        // An error does not come back: this aborts.
        let _ = fill::<G, true>(out);
    }

    /// A random 32-bit number. Aborts like [`PerThread::fill`].
    #[inline]
    #[must_use]
    pub fn u32() -> u32 {
        word::<G, u32>()
    }

    /// A random 64-bit number. Aborts like [`PerThread::fill`].
    #[inline]
    #[must_use]
    pub fn u64() -> u64 {
        word::<G, u64>()
    }

    /// Drops what is buffered and takes a new key from the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes.
    ///
    /// Does nothing in a signal handler that interrupts a draw.
    pub fn reseed() -> Result<(), EntropyError> {
        Self::new().fill_with(&mut [], Mixing::NewKey)
    }
}

impl<C: SeedCore + 'static> PerThread<Rekeying<C>>
where
    Rekeying<C>: Placed,
{
    /// What the calling thread's generator has done so far.
    #[must_use]
    pub fn counters() -> Counters {
        let page = here::<Rekeying<C>>().page.get();
        if page.0.is_null() {
            return Counters::default();
        }
        // SAFETY: the page is this thread's.
        unsafe { Made::of(page) }.counters()
    }
}

impl<G> Clone for PerThread<G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for PerThread<G> {}

impl<G> Default for PerThread<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G> fmt::Debug for PerThread<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        name_only("PerThread", f)
    }
}

impl<G: Placed> Mix for PerThread<G> {
    fn fill_with(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        let local = here::<G>();
        serve::<G>(local, local.claim(), out, mixing)
    }
}

/// What the calling thread knows of its generator.
///
/// A plain reference, so that what follows can be a tail call.
#[inline(always)]
fn here<'call, G: Placed>() -> &'call Local {
    let local: *const Local = G::local().with(core::ptr::from_ref);
    // SAFETY: the value has no destructor and stays where it is as long as the thread runs; callers
    // use it during their call only.
    unsafe { &*local }
}

#[inline(always)]
fn word<G: Placed, W: Word>() -> W {
    let local = here::<G>();
    if !local.claim() {
        return word_slowly::<G, W>(local, None);
    }
    // SAFETY: the claim makes this call the page's owner.
    match unsafe { G::take(local.page.get()) } {
        Ok(word) => {
            local.release();
            word
        }
        Err(refusal) => word_slowly::<G, W>(local, Some(refusal)),
    }
}

/// Fills `out`; an error is returned, or else ends the process. Everything but the short requests
/// that the buffer serves is a tail call, so that those need no stack.
#[inline(always)]
fn fill<G: Placed, const ABORT: bool>(out: &mut [u8]) -> Result<(), EntropyError> {
    let local = here::<G>();
    if !local.claim() {
        return fill_slowly::<G, ABORT>(local, out, false);
    }
    if out.len() >= LONG {
        return fill_long::<G, ABORT>(local, out);
    }
    // SAFETY: the claim makes this call the page's owner.
    if unsafe { G::take_few_bytes(local.page.get(), out) }.is_err() {
        return fill_slowly::<G, ABORT>(local, out, true);
    }
    local.release();
    Ok(())
}

/// A long request of the holder of the claim.
#[inline(never)]
fn fill_long<G: Placed, const ABORT: bool>(
    local: &Local,
    out: &mut [u8],
) -> Result<(), EntropyError> {
    // SAFETY: the claim makes this call the page's owner.
    if unsafe { G::take_bytes(local.page.get(), local.isa.get(), out) }.is_err() {
        return fill_slowly::<G, ABORT>(local, out, true);
    }
    local.release();
    Ok(())
}

/// A request that the buffer did not serve, by the holder of the claim or not.
#[cold]
#[inline(never)]
fn fill_slowly<G: Placed, const ABORT: bool>(
    local: &Local,
    out: &mut [u8],
    is_claimed: bool,
) -> Result<(), EntropyError> {
    match serve::<G>(local, is_claimed, out, Mixing::Refills) {
        Err(error) if ABORT => abort(error),
        result => result,
    }
}

/// A word that could not be taken: refused by the page, which is claimed, or not even claimed.
#[cold]
#[inline(never)]
fn word_slowly<G: Placed, W: Word>(local: &Local, refusal: Option<Refusal>) -> W {
    // SAFETY: with a refusal comes the claim, which makes this call the page's owner.
    if refusal.is_some_and(|refusal| unsafe { local.page.get().drew_zero(refusal) }) {
        local.release();
        return W::ZERO;
    }
    W::by(|bytes| serve::<G>(local, refusal.is_some(), bytes, Mixing::Refills))
        .unwrap_or_else(|error| abort(error))
}

/// A request of any kind, by the holder of the claim, which it gives up, or by somebody who found
/// the page claimed: by the draw that this signal handler interrupted, or because the thread has no
/// page, yet or any more.
#[cold]
#[inline(never)]
fn serve<G: Placed>(
    local: &Local,
    is_claimed: bool,
    out: &mut [u8],
    mixing: Mixing,
) -> Result<(), EntropyError> {
    let _errno = Errno::keep();
    let has_page = is_claimed || (local.state() == NEW && start::<G>(local));
    if !has_page {
        // By system call: the draw that was interrupted may be inside of the vDSO, and if the handler
        // forked, the kernel has emptied the state there together with its mark of being in use.
        return kernel::fill(State::NONE, out);
    }
    let slot = Slot { page: local.page.get(), vdso: local.vdso.get() };
    let owner = Owner { slot, isa: local.isa.get(), interval: None };
    // SAFETY: the claim makes this call the page's owner.
    let result = unsafe { owner.fill::<G>(out, mixing) };
    local.release();
    result
}

/// Gets the thread its page; true if it has one now, claimed for the caller.
fn start<G: Placed>(local: &Local) -> bool {
    // A handler that comes before finds a new thread, too, and gets it a page; one that comes after
    // finds the claim and asks the kernel.
    if !local.claim_new() {
        return local.claim();
    }
    match pool::take(User::Thread(core::ptr::from_ref(local).addr())) {
        Ok(slot) if return_at_exit::<G>(slot) => {
            local.page.set(slot.page);
            local.vdso.set(slot.vdso);
            local.isa.set(Isa::detect());
            true
        }
        Ok(slot) => {
            pool::give_back(slot);
            local.set_state(KERNEL);
            false
        }
        Err(NoPage::NotNow) => {
            local.set_state(NEW);
            false
        }
        Err(NoPage::Refused) => {
            local.set_state(KERNEL);
            false
        }
    }
}

/// Arranges that the page is wiped and returned when the thread ends; false if the C library has no
/// key or no memory left for this.
///
/// A thread whose first draw comes in the last round of its destructors is not told any more; there is
/// no way to see that. Its page stays as it is, and goes to a later thread ([`crate::slab`]): to one
/// that has its thread-local memory at the same place.
fn return_at_exit<G: Placed>(slot: Slot) -> bool {
    key::<G>().is_some_and(|key| {
        // SAFETY: the key was made by the C library and is never deleted.
        unsafe { libc::pthread_setspecific(key, slot.page.0.cast()) == 0 }
    })
}

/// The key of thread-specific data whose destructor serves this core; made by whoever is first.
fn key<G: Placed>() -> Option<libc::pthread_key_t> {
    let published = G::exit_key();
    // Relaxed: the key itself is all there is to see.
    let known = published.load(Ordering::Relaxed);
    if known != 0 {
        return Some(known - 1);
    }
    let mut key = 0;
    // SAFETY: the pointer is to a key, and the destructor is a function of the type asked for.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_exit::<G>)) } != 0 {
        return None;
    }
    match published.compare_exchange(0, key + 1, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => Some(key),
        Err(first) => {
            // SAFETY: this key was made above and never used.
            unsafe { libc::pthread_key_delete(key) };
            Some(first - 1)
        }
    }
}

/// Wipes and returns the page of a thread that ends; its later draws go to the kernel.
unsafe extern "C" fn at_exit<G: Placed>(page: *mut c_void) {
    let _errno = Errno::keep();
    G::local().with(|local| {
        // First, so that a handler that comes now does not touch the page.
        local.set_state(KERNEL);
        local.page.set(PagePtr(null_mut()));
        let vdso = local.vdso.replace(State::NONE);
        slab::thread_ends();
        pool::give_back(Slot { page: PagePtr(page.cast()), vdso });
    });
}

/// The page is there and nobody uses it.
const FREE: u8 = 0;
/// A draw is using the page, or the thread is just getting it.
const CLAIMED: u8 = 1;
/// The thread has not drawn yet.
const NEW: u8 = 2;
/// There is no page: the thread has ended, or would not be told to give it back, or the kernel refuses
/// pages that a fork empties.
const KERNEL: u8 = 3;

/// What a thread knows of its generator.
#[derive(Debug)]
pub(crate) struct Local {
    state: Cell<u8>,
    page: Cell<PagePtr>,
    vdso: Cell<State>,
    isa: Cell<Isa>,
}

impl Local {
    pub(crate) const fn new() -> Self {
        Self {
            state: Cell::new(NEW),
            page: Cell::new(PagePtr(null_mut())),
            vdso: Cell::new(State::NONE),
            isa: Cell::new(Isa::PORTABLE),
        }
    }

    /// Claims the page if it is there and free.
    #[inline(always)]
    fn claim(&self) -> bool {
        let free = self.state() == FREE;
        if free {
            self.set_state(CLAIMED);
        }
        free
    }

    /// Claims a page that is still to be got.
    fn claim_new(&self) -> bool {
        // SAFETY: the cell is a live byte of this thread. Atomic against its own signal handlers.
        let state = unsafe { AtomicU8::from_ptr(self.state.as_ptr()) };
        state.compare_exchange(NEW, CLAIMED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn release(&self) {
        self.set_state(FREE);
    }

    #[inline(always)]
    fn state(&self) -> u8 {
        // SAFETY: the cell is a live byte. Volatile, because signal handlers change it, too.
        unsafe { self.state.as_ptr().read_volatile() }
    }

    #[inline(always)]
    fn set_state(&self, state: u8) {
        // SAFETY: as above; cells may be written through a shared reference by their own thread.
        unsafe { self.state.as_ptr().write_volatile(state) };
    }
}
