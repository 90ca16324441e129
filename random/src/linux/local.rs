//! A thread's record of its generator, and the claim of a draw on it.

use core::cell::Cell;
use core::sync::atomic::{AtomicU8, Ordering, compiler_fence};

use lanecrypt_kernels::Isa;

use crate::linux::page::{Page, PageMut};
use crate::linux::vdso::State;
use crate::linux::volatile::Volatile;

/// The thread has a page, and it is free.
const FREE: u8 = 0;
/// A draw is using the page, or the thread is about to get one.
const CLAIMED: u8 = 1;
/// The thread has not drawn yet.
pub(crate) const NEW: u8 = 2;
/// There is no page: the thread has ended, or would not be notified of its end, or the kernel
/// refuses pages that a fork empties.
pub(crate) const KERNEL: u8 = 3;

/// A thread's record of its generator.
pub(crate) struct Local<G: 'static> {
    /// Compiler fences at the start and end of a claim keep all accesses under it between them.
    pub(crate) state: Volatile<u8>,
    pub(crate) page: Cell<Option<&'static Page<G>>>,
    pub(crate) vdso: Cell<State>,
    pub(crate) isa: Cell<Isa>,
}

impl<G> Local<G> {
    pub(crate) const fn new() -> Self {
        Self {
            state: Volatile::new(NEW),
            page: Cell::new(None),
            vdso: Cell::new(State::NONE),
            isa: Cell::new(Isa::PORTABLE),
        }
    }

    /// Claims the page if there is one and it is free.
    #[inline(always)]
    pub(crate) fn claim(&'static self) -> Option<Claim<G>> {
        if self.state.get() != FREE {
            return None;
        }
        self.state.set(CLAIMED);
        compiler_fence(Ordering::SeqCst);
        Some(Claim(self))
    }

    /// Claims a page that the thread does not have yet. Returns the previous state.
    pub(crate) fn replace_new(&self) -> u8 {
        // SAFETY: the cell is a live byte of this thread. Atomic for its own signal handlers.
        let state = unsafe { AtomicU8::from_ptr(self.state.as_ptr()) };
        state
            .compare_exchange(NEW, CLAIMED, Ordering::Relaxed, Ordering::Relaxed)
            .unwrap_or_else(|state| state)
    }
}

/// The claim of one draw on the thread's page. Dropping it ends the claim.
pub(crate) struct Claim<G: 'static>(pub(crate) &'static Local<G>);

impl<G> Claim<G> {
    #[inline(always)]
    pub(crate) fn page(&mut self) -> PageMut<'_, G> {
        // SAFETY: a thread whose page can be claimed has one.
        let page = unsafe { self.0.page.get().unwrap_unchecked() };
        // SAFETY: the page is this thread's alone, and a handler that interrupts this draw finds
        // the claim.
        unsafe { PageMut::new(page) }
    }
}

impl<G> Drop for Claim<G> {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.0.state.set(FREE);
    }
}
