//! A call on another stack, after which all registers are stored by the very next instructions.

#![cfg(target_arch = "x86_64")]

use core::arch::asm;
use std::arch::is_x86_feature_detected;

/// Bytes of all vector registers.
pub const VECTORS: usize = 32 * 64;
/// Bytes of the general purpose registers that are stored: all but those that lead here.
pub const GENERAL: usize = 11 * 8;

/// Runs `call` on the stack that ends at `top`, and stores the registers when it returns: the
/// vector registers, then the general purpose ones. It must not unwind.
///
/// # Safety
///
/// `top` is the aligned end of a large enough stack, and `registers` has room for [`VECTORS`] and
/// [`GENERAL`] bytes.
pub unsafe fn on_stack<F: FnMut()>(top: *mut u8, call: &mut F, registers: *mut u8) {
    let width = match (is_x86_feature_detected!("avx512f"), is_x86_feature_detected!("avx")) {
        (true, _) => 64,
        (false, true) => 32,
        (false, false) => 16,
    };
    // SAFETY: the caller's promise; `trampoline` gets the closure that it expects.
    unsafe { switch(top, trampoline::<F>, (&raw mut *call).cast(), registers, width) };
}

extern "C" fn trampoline<F: FnMut()>(call: *mut u8) {
    // SAFETY: `on_stack` passes a closure of this type, which outlives the call.
    let call = unsafe { &mut *call.cast::<F>() };
    call();
}

/// # Safety
///
/// As for [`on_stack`]; `function` takes `argument`, and the processor has vector registers of
/// `width` bytes.
#[inline(never)]
unsafe fn switch(
    top: *mut u8,
    function: extern "C" fn(*mut u8),
    argument: *mut u8,
    registers: *mut u8,
    width: usize,
) {
    // SAFETY: the stack pointer is put back; everything the call may change is declared.
    unsafe {
        asm!(
            "mov r12, rsp",
            "mov rsp, r14",
            "call rax",
            "mov rsp, r12",
            "mov [r13 + 2048], rax",
            "mov [r13 + 2056], rcx",
            "mov [r13 + 2064], rdx",
            "mov [r13 + 2072], rsi",
            "mov [r13 + 2080], rdi",
            "mov [r13 + 2088], r8",
            "mov [r13 + 2096], r9",
            "mov [r13 + 2104], r10",
            "mov [r13 + 2112], r11",
            "mov [r13 + 2120], rbx",
            "mov [r13 + 2128], rbp",
            "cmp r15, 32",
            "ja 3f",
            "je 2f",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "movdqu [r13 + 16 * \\n], xmm\\n",
            ".endr",
            "jmp 4f",
            "2:",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "vmovdqu [r13 + 32 * \\n], ymm\\n",
            ".endr",
            "jmp 4f",
            "3:",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "vmovdqu64 [r13 + 64 * \\n], zmm\\n",
            ".endr",
            ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            "vmovdqu64 [r13 + 64 * \\n], zmm\\n",
            ".endr",
            "4:",
            in("rdi") argument,
            in("rax") function,
            in("r13") registers,
            in("r14") top,
            in("r15") width,
            out("r12") _,
            clobber_abi("C"),
        );
    }
}
