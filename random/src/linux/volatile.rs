//! A value that can change between two instructions of its thread.

use core::cell::UnsafeCell;

/// A value that a signal handler of the same thread may change, or the kernel if a handler forks.
///
/// Each call reads or writes it by one instruction, in the order of the program among such calls.
/// Only compiler fences order other accesses with them. Atomics would also be correct, but compile
/// to more instructions.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Volatile<T>(UnsafeCell<T>);

impl<T: Copy> Volatile<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> T {
        // SAFETY: the cell is a live value, and cells are not shared between threads.
        unsafe { self.0.get().read_volatile() }
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: T) {
        // SAFETY: as in `get`.
        unsafe { self.0.get().write_volatile(value) };
    }

    /// The address, for atomic instructions.
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0.get()
    }
}
