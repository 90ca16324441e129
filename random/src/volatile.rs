//! A value that changes while its thread looks away.

use core::cell::UnsafeCell;

/// A value that a signal handler of the same thread may change, or the kernel when a handler forks.
///
/// Each call reads or writes it by one instruction, in the order of the program among such calls.
/// Nothing else is in order with them but by compiler fences. Atomics would do, too; the compiler
/// makes more instructions of them.
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

    /// The address, for what only atomic instructions can do.
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0.get()
    }
}
