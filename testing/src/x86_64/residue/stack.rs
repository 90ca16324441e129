//! A call on a stack of its own, and the registers after it.

use lanecrypt_ciphers::hazmat::burn_stack;

use crate::on_stack::{GENERAL, VECTORS, on_stack};

/// Bytes of the stack.
const STACK: usize = 1 << 16;

/// What a call left.
pub struct Left {
    pub stack: Vec<u8>,
    /// The address of the stack's first byte.
    pub start: usize,
    pub vectors: Vec<u8>,
    pub general: Vec<u8>,
}

/// Runs `call` on an empty stack. It must not unwind.
pub fn run<F: FnMut()>(call: &mut F) -> Left {
    thread_local! {
        /// Always the same one, so that two runs differ by nothing but their keys.
        static PLACE: (*mut u128, *mut u8) = (
            vec![0; STACK / 16].leak().as_mut_ptr(),
            vec![0; VECTORS + GENERAL].leak().as_mut_ptr(),
        );
    }
    let (stack, registers) = PLACE.with(|place| *place);
    // SAFETY: the memory is this thread's, of this size, and never freed.
    unsafe { stack.write_bytes(0, STACK / 16) };
    // SAFETY: likewise.
    unsafe { registers.write_bytes(0, VECTORS + GENERAL) };
    let top = stack.wrapping_add(STACK / 16);
    // What was worked out before must not count.
    burn_stack();
    // SAFETY: the stack is aligned and large, and the registers have room for all.
    unsafe { on_stack(top.cast(), call, registers) };
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
