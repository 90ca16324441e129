//! A call on a stack of its own, and the registers after it.

use core::arch::asm;
use std::arch::is_x86_feature_detected;

use lanecrypt_ciphers::hazmat::burn_stack;

/// Bytes of the stack.
const STACK: usize = 1 << 16;
/// Bytes of all vector registers.
const VECTORS: usize = 32 * 64;
/// Bytes of the general purpose registers that are looked at: all but those that lead here.
const GENERAL: usize = 11 * 8;

/// What a call left.
pub(super) struct Left {
    pub(super) stack: Vec<u8>,
    /// The address of the stack's first byte.
    pub(super) start: usize,
    pub(super) vectors: Vec<u8>,
    pub(super) general: Vec<u8>,
}

/// Runs `call` on an empty stack. It must not unwind.
pub(super) fn run<F: FnMut()>(call: &mut F) -> Left {
    thread_local! {
        /// Always the same one, so that two runs differ by nothing but their keys.
        static PLACE: (*mut u128, *mut u8) = (
            vec![0; STACK / 16].leak().as_mut_ptr(),
            vec![0; VECTORS + GENERAL].leak().as_mut_ptr(),
        );
    }
    let (stack, registers) = PLACE.with(|place| *place);
    let width = match (is_x86_feature_detected!("avx512f"), is_x86_feature_detected!("avx")) {
        (true, _) => 64,
        (false, true) => 32,
        (false, false) => 16,
    };
    // SAFETY: the memory is this thread's, of this size, and never freed.
    unsafe { stack.write_bytes(0, STACK / 16) };
    // SAFETY: likewise.
    unsafe { registers.write_bytes(0, VECTORS + GENERAL) };
    let top = stack.wrapping_add(STACK / 16);
    // What was worked out before must not count.
    burn_stack();
    // SAFETY: the stack is aligned and large, the registers have room for all of this width, and
    // `trampoline` gets the closure that it expects.
    unsafe { on_stack(top.cast(), trampoline::<F>, (&raw mut *call).cast(), registers, width) };
    // SAFETY: the memory lives and has been initialised.
    let registers = unsafe { core::slice::from_raw_parts(registers, VECTORS + GENERAL) };
    let (vectors, general) = registers.split_at(VECTORS);
    // SAFETY: likewise.
    let bytes = unsafe { core::slice::from_raw_parts(stack.cast::<u8>(), STACK) };
    Left {
        stack: bytes.to_vec(),
        start: stack.addr(),
        vectors: vectors.to_vec(),
        general: general.to_vec(),
    }
}

extern "C" fn trampoline<F: FnMut()>(call: *mut u8) {
    // SAFETY: `run` passes a closure of this type, which outlives the call.
    let call = unsafe { &mut *call.cast::<F>() };
    call();
}

/// Calls `function` on another stack and stores the registers when it returns.
///
/// # Safety
///
/// `top` is the aligned end of a large enough stack, `function` takes `argument`, `registers` has
/// room for [`VECTORS`] and [`GENERAL`] bytes, and the processor has vector registers of `width`
/// bytes.
#[inline(never)]
unsafe fn on_stack(
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
