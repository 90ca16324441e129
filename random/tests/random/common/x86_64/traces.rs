//! What a call leaves behind on the stack and in the vector registers.
//!
//! The call runs on a stack of its own, so that looking at its traces does not overwrite them, and
//! the registers are stored by the very next instructions.

use lanecrypt_kernels::wipe;
use lanecrypt_testing::on_stack::{GENERAL, VECTORS, on_stack};

/// Bytes of the stack.
const STACK: usize = 1 << 18;

/// A stack and a place for the registers.
pub(crate) struct Traces {
    stack: Vec<u128>,
    registers: Vec<u8>,
}

impl Traces {
    pub(crate) fn new() -> Self {
        Self { stack: vec![0; STACK / 16], registers: vec![0; VECTORS + GENERAL] }
    }

    /// Runs `call` on the empty stack. It must not unwind.
    pub(crate) fn run<F: FnMut()>(&mut self, mut call: F) {
        self.stack.fill(0);
        self.registers.fill(0);
        let top = self.stack.as_mut_ptr_range().end;
        // The test's own copies must not count.
        wipe::registers();
        // SAFETY: the stack is aligned and large, and the registers have room for all.
        unsafe { on_stack(top.cast(), &mut call, self.registers.as_mut_ptr()) }
    }

    /// The stack as the last call left it.
    pub(crate) fn stack(&self) -> &[u8] {
        let bytes = self.stack.as_ptr().cast::<u8>();
        // SAFETY: the same memory, read as bytes.
        unsafe { core::slice::from_raw_parts(bytes, size_of_val(&*self.stack)) }
    }

    /// The vector registers as the last call left them.
    pub(crate) fn registers(&self) -> &[u8] {
        &self.registers[..VECTORS]
    }
}
