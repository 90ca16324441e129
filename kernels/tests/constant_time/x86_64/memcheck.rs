//! Requests to Valgrind's memcheck.
//!
//! A request is a sequence of instructions that does nothing on a processor and that Valgrind
//! recognises: four rotations that add up to 128 bits, then an exchange of a register with itself
//! (valgrind.h and memcheck.h, whose numbers stand below).

use lanecrypt_kernels::Level;

const RUNNING_ON_VALGRIND: usize = 0x1001;
const COUNT_ERRORS: usize = 0x1201;
const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
const MAKE_MEM_DEFINED: usize = 0x4d43_0002;
const GET_VBITS: usize = 0x4d43_0008;

/// Whether the program runs under Valgrind.
pub(crate) fn is_here() -> bool {
    request(RUNNING_ON_VALGRIND, &mut [], &mut []) != 0
}

/// Errors that memcheck has counted so far, repeated ones too; always 0 on a bare processor.
pub(crate) fn errors() -> usize {
    request(COUNT_ERRORS, &mut [], &mut [])
}

/// Makes memcheck report each branch and each address that depends on `bytes`, or on what is
/// computed from them.
pub(crate) fn hide(bytes: &mut [u8]) {
    request(MAKE_MEM_UNDEFINED, bytes, &mut []);
}

/// Whether Valgrind knows the instructions of a level.
pub(crate) const fn sees(level: Level) -> bool {
    matches!(level, Level::Portable | Level::Ssse3 | Level::AesNi | Level::Avx2)
}

/// Takes [`hide`] back. Whether every one of `bytes` depended on what had been hidden; always true
/// on a bare processor.
pub(crate) fn reveal(bytes: &mut [u8]) -> bool {
    if !is_here() {
        return true;
    }
    let mut undefined = vec![0; bytes.len()];
    request(GET_VBITS, bytes, &mut undefined);
    request(MAKE_MEM_DEFINED, bytes, &mut []);
    undefined.iter().all(|&bits| bits != 0)
}

fn request(request: usize, bytes: &mut [u8], answer: &mut [u8]) -> usize {
    let (first, len) = (bytes.as_mut_ptr().expose_provenance(), bytes.len());
    let second = answer.as_mut_ptr().expose_provenance();
    // Most take an address and a length; the one with an answer takes two addresses and a length.
    let arguments = if request == GET_VBITS {
        [request, first, second, len, 0, 0]
    } else {
        [request, first, len, 0, 0, 0]
    };
    let mut result = 0_usize;
    // SAFETY: on a processor nothing changes but flags. Valgrind reads the six numbers, writes
    // `rdx`, and for the requests above writes to nothing but `answer`, which is as long as
    // `bytes`. The compiler must take both as changed: their addresses have been exposed.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") result,
            inout("rdi") 0_usize => _,
            options(nostack)
        );
    }
    result
}
