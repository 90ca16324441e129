//! How deep a call reaches into the stack.

#![cfg(target_arch = "x86_64")]

use core::arch::asm;

/// Bytes of the stack that calls are made on.
const STACK: usize = 1 << 18;
/// What the stack is filled with before.
const PAINT: u8 = 0xa7;

/// Bytes of stack that `call` uses.
pub fn depth<F: FnMut()>(call: &mut F) -> usize {
    let mut stack = vec![u128::from_ne_bytes([PAINT; 16]); STACK / 16];
    let top = stack.as_mut_ptr_range().end;
    let call: *mut F = call;
    // SAFETY: the stack is aligned and large enough, and the stack pointer is put back from a
    // register that functions preserve; `trampoline` gets the closure that it expects.
    unsafe {
        asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {function}",
            "mov rsp, r12",
            top = in(reg) top,
            function = in(reg) trampoline::<F> as extern "C" fn(*mut F),
            in("rdi") call,
            out("r12") _,
            clobber_abi("C"),
        );
    }
    let left = stack.iter().take_while(|word| **word == u128::from_ne_bytes([PAINT; 16])).count();
    STACK - 16 * left
}

extern "C" fn trampoline<F: FnMut()>(call: *mut F) {
    // SAFETY: `depth` passes a closure of this type, which outlives the call.
    let call = unsafe { &mut *call };
    call();
}
