//! Values that the compiler cannot look through: assembly that does nothing.
//!
//! Stable Rust has no assembly for some processors, WebAssembly among them. There the standard
//! library's `black_box` stands in for it. Elsewhere that would be a detour through memory.

/// Keeps items for the processors that stable Rust has assembly for.
macro_rules! with_assembly {
    ($($item:item)*) => {$(
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
        $item
    )*};
}

// Each of these names hides the one of the glob below.
with_assembly! {
    pub use self::by_assembly::{observe, pointer};
    #[cfg(target_pointer_width = "64")]
    pub use self::by_assembly::word;
}
#[allow(unreachable_pub, unused_imports, reason = "they are hidden where there is assembly")]
pub use self::by_black_box::*;

with_assembly! {
    mod by_assembly {
        use core::arch::asm;

        /// Makes the compiler believe that `value` is read here, so that no store to it can be left
        /// out.
        #[inline(always)]
        pub fn observe<T: ?Sized>(value: &mut T) {
            let address: *mut T = value;
            // SAFETY: the assembly is empty; it has no effect but to be opaque to the compiler.
            unsafe {
                asm!("/* {0} */", in(reg) address.cast::<u8>(), options(nostack, preserves_flags));
            }
        }

        /// Hides from the compiler what a pointer points to.
        #[inline(always)]
        pub fn pointer<T>(mut pointer: *const T) -> *const T {
            // SAFETY: the assembly is empty and leaves the register as it was.
            unsafe {
                asm!("/* {0} */", inout(reg) pointer,
                    options(pure, readonly, nostack, preserves_flags));
            }
            pointer
        }

        /// Hides the origin of a value, so that the compiler loads it alone and makes no branch of
        /// it.
        #[cfg(target_pointer_width = "64")]
        #[inline(always)]
        pub fn word(mut word: u64) -> u64 {
            // SAFETY: the assembly is empty and leaves the register as it was.
            unsafe {
                asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
            }
            word
        }
    }
}

#[allow(dead_code, unreachable_pub, reason = "they are hidden where there is assembly")]
mod by_black_box {
    use core::hint::black_box;

    #[inline(always)]
    pub fn observe<T: ?Sized>(value: &mut T) {
        let _: &mut T = black_box(value);
    }

    #[inline(always)]
    pub fn pointer<T>(pointer: *const T) -> *const T {
        black_box(pointer)
    }

    #[inline(always)]
    pub fn word(word: u64) -> u64 {
        black_box(word)
    }
}
