//! Values that the compiler cannot look through: assembly that does nothing.
//!
//! Stable Rust has no assembly for some processors, WebAssembly among them. There the standard
//! library's `black_box` stands in for it. Elsewhere that would be a detour through memory.

pub(crate) use self::imp::{observe, pointer};

#[cfg(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "loongarch64",
    target_arch = "riscv32",
    target_arch = "riscv64",
    target_arch = "s390x",
    target_arch = "x86",
    target_arch = "x86_64",
))]
mod imp {
    use core::arch::asm;

    /// Makes the compiler believe that `value` is read here, so that no store to it can be left out.
    #[inline(always)]
    pub(crate) fn observe<T: ?Sized>(value: &mut T) {
        let address: *mut T = value;
        // SAFETY: the assembly is empty; it has no effect but to be opaque to the compiler.
        unsafe {
            asm!("/* {0} */", in(reg) address.cast::<u8>(), options(nostack, preserves_flags));
        }
    }

    /// Hides from the compiler what a pointer points to.
    #[inline(always)]
    pub(crate) fn pointer<T>(mut pointer: *const T) -> *const T {
        // SAFETY: the assembly is empty and leaves the register as it was.
        unsafe {
            asm!("/* {0} */", inout(reg) pointer, options(pure, readonly, nostack, preserves_flags));
        }
        pointer
    }
}

#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "loongarch64",
    target_arch = "riscv32",
    target_arch = "riscv64",
    target_arch = "s390x",
    target_arch = "x86",
    target_arch = "x86_64",
)))]
mod imp {
    use core::hint::black_box;

    /// Makes the compiler believe that `value` is read here, so that no store to it can be left out.
    #[inline(always)]
    pub(crate) fn observe<T: ?Sized>(value: &mut T) {
        let _: &mut T = black_box(value);
    }

    /// Hides from the compiler what a pointer points to.
    #[inline(always)]
    pub(crate) fn pointer<T>(pointer: *const T) -> *const T {
        black_box(pointer)
    }
}
