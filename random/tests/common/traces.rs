//! What a call leaves behind on the stack and in the vector registers.
//!
//! The call runs on a stack of its own, so that looking at its traces does not overwrite them, and
//! the registers are stored by the very next instructions.

use core::arch::asm;
use std::arch::is_x86_feature_detected;

/// Bytes of the stack.
const STACK: usize = 1 << 18;
/// Bytes of all vector registers.
const REGISTERS: usize = 32 * 64;

/// A stack and a place for the registers.
pub(crate) struct Traces {
    stack: Vec<u128>,
    registers: Vec<u8>,
    /// Bytes of the widest vector registers of this processor.
    width: usize,
}

impl Traces {
    pub(crate) fn new() -> Self {
        let width = if is_x86_feature_detected!("avx512f") {
            64
        } else if is_x86_feature_detected!("avx") {
            32
        } else {
            16
        };
        let (stack, registers) = (vec![0; STACK / 16], vec![0; REGISTERS]);
        Self { stack, registers, width }
    }

    /// Runs `call` on the empty stack. It must not unwind.
    pub(crate) fn run<F: FnMut()>(&mut self, mut call: F) {
        self.stack.fill(0);
        self.registers.fill(0);
        let place: *mut F = &mut call;
        let top = self.stack.as_mut_ptr_range().end;
        let registers = self.registers.as_mut_ptr();
        // SAFETY: the stack is aligned and large, the registers have room for all of this width,
        // and `trampoline` gets the closure that it expects.
        unsafe { run_on(top.cast(), trampoline::<F>, place.cast(), registers, self.width) }
    }

    /// The stack as the last call left it.
    pub(crate) fn stack(&self) -> &[u8] {
        let bytes = self.stack.as_ptr().cast::<u8>();
        // SAFETY: the same memory, read as bytes.
        unsafe { core::slice::from_raw_parts(bytes, size_of_val(&*self.stack)) }
    }

    /// The vector registers as the last call left them.
    pub(crate) fn registers(&self) -> &[u8] {
        &self.registers
    }
}

extern "C" fn trampoline<F: FnMut()>(call: *mut u8) {
    // SAFETY: `Traces::run` passes a closure of this type, which outlives the call.
    let call = unsafe { &mut *call.cast::<F>() };
    call();
}

/// Clears the vector registers, calls `function` on another stack and stores the registers when it
/// returns.
///
/// # Safety
///
/// `top` is the aligned end of a large enough stack, `function` takes `argument`, `registers` has
/// room for [`REGISTERS`] bytes, and the processor has vector registers of `width` bytes.
#[inline(never)]
unsafe fn run_on(
    top: *mut u8,
    function: extern "C" fn(*mut u8),
    argument: *mut u8,
    registers: *mut u8,
    width: usize,
) {
    // SAFETY: the stack pointer is put back; everything the call may change is declared.
    unsafe {
        asm!(
        // The test's own copies must not count: the registers are empty before the call.
        "cmp r15, 32",
        "ja 6f",
        "je 5f",
        "pxor xmm0, xmm0",
        "pxor xmm1, xmm1",
        "pxor xmm2, xmm2",
        "pxor xmm3, xmm3",
        "pxor xmm4, xmm4",
        "pxor xmm5, xmm5",
        "pxor xmm6, xmm6",
        "pxor xmm7, xmm7",
        "pxor xmm8, xmm8",
        "pxor xmm9, xmm9",
        "pxor xmm10, xmm10",
        "pxor xmm11, xmm11",
        "pxor xmm12, xmm12",
        "pxor xmm13, xmm13",
        "pxor xmm14, xmm14",
        "pxor xmm15, xmm15",
        "jmp 7f",
        "5:",
        "vzeroall",
        "jmp 7f",
        "6:",
        "vzeroall",
        "vpxord zmm16, zmm16, zmm16",
        "vpxord zmm17, zmm17, zmm17",
        "vpxord zmm18, zmm18, zmm18",
        "vpxord zmm19, zmm19, zmm19",
        "vpxord zmm20, zmm20, zmm20",
        "vpxord zmm21, zmm21, zmm21",
        "vpxord zmm22, zmm22, zmm22",
        "vpxord zmm23, zmm23, zmm23",
        "vpxord zmm24, zmm24, zmm24",
        "vpxord zmm25, zmm25, zmm25",
        "vpxord zmm26, zmm26, zmm26",
        "vpxord zmm27, zmm27, zmm27",
        "vpxord zmm28, zmm28, zmm28",
        "vpxord zmm29, zmm29, zmm29",
        "vpxord zmm30, zmm30, zmm30",
        "vpxord zmm31, zmm31, zmm31",
        "7:",
        "mov r12, rsp",
        "mov rsp, r14",
        "call rax",
        "mov rsp, r12",
        "cmp r15, 32",
        "ja 3f",
        "je 2f",
        "movdqu [r13 + 0], xmm0",
        "movdqu [r13 + 16], xmm1",
        "movdqu [r13 + 32], xmm2",
        "movdqu [r13 + 48], xmm3",
        "movdqu [r13 + 64], xmm4",
        "movdqu [r13 + 80], xmm5",
        "movdqu [r13 + 96], xmm6",
        "movdqu [r13 + 112], xmm7",
        "movdqu [r13 + 128], xmm8",
        "movdqu [r13 + 144], xmm9",
        "movdqu [r13 + 160], xmm10",
        "movdqu [r13 + 176], xmm11",
        "movdqu [r13 + 192], xmm12",
        "movdqu [r13 + 208], xmm13",
        "movdqu [r13 + 224], xmm14",
        "movdqu [r13 + 240], xmm15",
        "jmp 4f",
        "2:",
        "vmovdqu [r13 + 0], ymm0",
        "vmovdqu [r13 + 32], ymm1",
        "vmovdqu [r13 + 64], ymm2",
        "vmovdqu [r13 + 96], ymm3",
        "vmovdqu [r13 + 128], ymm4",
        "vmovdqu [r13 + 160], ymm5",
        "vmovdqu [r13 + 192], ymm6",
        "vmovdqu [r13 + 224], ymm7",
        "vmovdqu [r13 + 256], ymm8",
        "vmovdqu [r13 + 288], ymm9",
        "vmovdqu [r13 + 320], ymm10",
        "vmovdqu [r13 + 352], ymm11",
        "vmovdqu [r13 + 384], ymm12",
        "vmovdqu [r13 + 416], ymm13",
        "vmovdqu [r13 + 448], ymm14",
        "vmovdqu [r13 + 480], ymm15",
        "jmp 4f",
        "3:",
        "vmovdqu64 [r13 + 0], zmm0",
        "vmovdqu64 [r13 + 64], zmm1",
        "vmovdqu64 [r13 + 128], zmm2",
        "vmovdqu64 [r13 + 192], zmm3",
        "vmovdqu64 [r13 + 256], zmm4",
        "vmovdqu64 [r13 + 320], zmm5",
        "vmovdqu64 [r13 + 384], zmm6",
        "vmovdqu64 [r13 + 448], zmm7",
        "vmovdqu64 [r13 + 512], zmm8",
        "vmovdqu64 [r13 + 576], zmm9",
        "vmovdqu64 [r13 + 640], zmm10",
        "vmovdqu64 [r13 + 704], zmm11",
        "vmovdqu64 [r13 + 768], zmm12",
        "vmovdqu64 [r13 + 832], zmm13",
        "vmovdqu64 [r13 + 896], zmm14",
        "vmovdqu64 [r13 + 960], zmm15",
        "vmovdqu64 [r13 + 1024], zmm16",
        "vmovdqu64 [r13 + 1088], zmm17",
        "vmovdqu64 [r13 + 1152], zmm18",
        "vmovdqu64 [r13 + 1216], zmm19",
        "vmovdqu64 [r13 + 1280], zmm20",
        "vmovdqu64 [r13 + 1344], zmm21",
        "vmovdqu64 [r13 + 1408], zmm22",
        "vmovdqu64 [r13 + 1472], zmm23",
        "vmovdqu64 [r13 + 1536], zmm24",
        "vmovdqu64 [r13 + 1600], zmm25",
        "vmovdqu64 [r13 + 1664], zmm26",
        "vmovdqu64 [r13 + 1728], zmm27",
        "vmovdqu64 [r13 + 1792], zmm28",
        "vmovdqu64 [r13 + 1856], zmm29",
        "vmovdqu64 [r13 + 1920], zmm30",
        "vmovdqu64 [r13 + 1984], zmm31",
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
