//! An allocator that counts its calls.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::alloc::System;

/// The system's allocator, which counts its calls. A test program names it as its
/// `#[global_allocator]`.
pub struct Counting;

/// The calls of all threads. Relaxed: it is read when other threads have answered, which is after
/// their last call.
static ALL: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static THIS_THREAD: Cell<usize> = const { Cell::new(0) };
}

fn note() {
    ALL.fetch_add(1, Ordering::Relaxed);
    THIS_THREAD.with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller keeps the contract, which is the same for the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        note();
        // SAFETY: the caller keeps the contract, which is the same for the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        note();
        // SAFETY: the caller keeps the contract, which is the same for the system's allocator.
        unsafe { System.realloc(at, layout, bytes) }
    }
}

/// The number of this thread's calls during `done`.
pub fn calls(done: impl FnOnce()) -> usize {
    let before = THIS_THREAD.with(Cell::get);
    done();
    THIS_THREAD.with(Cell::get) - before
}

/// The number of all threads' calls during `done`.
pub fn calls_of_all_threads(done: impl FnOnce()) -> usize {
    let before = ALL.load(Ordering::Relaxed);
    done();
    ALL.load(Ordering::Relaxed) - before
}
