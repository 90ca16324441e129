//! Peer: the kernel's generator through the vDSO, without a system call (Linux 6.11 and later; see
//! `vgetrandom` in the kernel's `lib/vdso/getrandom.c`).
//!
//! The caller is separate from that of `lanecrypt-random`, so that a defect there cannot show in
//! both columns: the dynamic loader finds the function here.

use core::ffi::{CStr, c_uint, c_void};
use core::ptr;
use std::path::Path;
use std::sync::OnceLock;

use libc::ssize_t;

use crate::library::Open;
use crate::{Draw, Failed, Generator, generator};

/// The name under which the dynamic loader knows the image that the kernel has mapped.
const LIBRARY: &str = "linux-vdso.so.1";

#[cfg(any(target_arch = "aarch64", target_arch = "loongarch64", target_arch = "powerpc64"))]
const NAME: &CStr = c"__kernel_getrandom";
#[cfg(not(any(target_arch = "aarch64", target_arch = "loongarch64", target_arch = "powerpc64")))]
const NAME: &CStr = c"__vdso_getrandom";

/// Whether the kernel offers the call; otherwise the reason, for people.
pub(super) fn check() -> Result<(), String> {
    let hint = "this kernel has no vDSO getrandom; it needs Linux 6.11 or later";
    function().map(drop).ok_or_else(|| hint.to_owned())
}

pub(super) fn make() -> Option<Box<dyn Generator>> {
    generator(Vdso::new()?)
}

/// `vgetrandom(buffer, length, flags, state, state_length)`.
type Function = unsafe extern "C" fn(*mut c_void, usize, c_uint, *mut c_void, usize) -> ssize_t;

/// The call, found once.
fn function() -> Option<Function> {
    static FUNCTION: OnceLock<Option<Function>> = OnceLock::new();
    *FUNCTION.get_or_init(|| {
        // SAFETY: the loader knows this name without a file, and a vDSO has no initialisers.
        let vdso = unsafe { Open::at(Path::new(LIBRARY)) }.ok()?;
        // SAFETY: the kernel put a function of this type behind this name. Its image stays mapped.
        unsafe { vdso.symbol::<Function>(NAME) }.ok()
    })
}

/// The requirements of the call on the memory for a state (`struct vgetrandom_opaque_params`).
#[repr(C)]
#[derive(Default)]
struct Params {
    state_len: u32,
    mmap_prot: u32,
    mmap_flags: u32,
    reserved: [u32; 13],
}

/// One state, alone on its page so that it cannot straddle two, which the call forbids.
struct Vdso {
    call: Function,
    state: *mut c_void,
    state_len: usize,
    page_len: usize,
}

impl Vdso {
    fn new() -> Option<Self> {
        let call = function()?;
        let mut params = Params::default();
        // SAFETY: with this length and nothing else the call writes the parameters to `state`.
        let asked = unsafe { call(ptr::null_mut(), 0, 0, (&raw mut params).cast(), usize::MAX) };
        if asked != 0 {
            return None;
        }
        // SAFETY: sysconf has no preconditions.
        let page_len = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let state_len = usize::try_from(params.state_len).ok()?;
        if state_len == 0 || state_len > page_len {
            return None;
        }
        let prot = params.mmap_prot.try_into().ok()?;
        let flags = params.mmap_flags.try_into().ok()?;
        // SAFETY: a new mapping where the kernel likes, of memory that nothing else uses.
        let state = unsafe { libc::mmap(ptr::null_mut(), page_len, prot, flags, -1, 0) };
        (state != libc::MAP_FAILED).then_some(Self { call, state, state_len, page_len })
    }
}

impl Draw for Vdso {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        let mut rest = buffer;
        loop {
            // SAFETY: the buffer is valid for its length, and the state is one of the size and
            // kind that the call asked for, used by this thread only.
            let written = unsafe {
                (self.call)(rest.as_mut_ptr().cast(), rest.len(), 0, self.state, self.state_len)
            };
            let written = usize::try_from(written).map_err(|_| Failed)?;
            if written >= rest.len() {
                return Ok(());
            }
            Failed::unless(written > 0)?;
            rest = &mut rest[written..];
        }
    }
}

impl Drop for Vdso {
    fn drop(&mut self) {
        // SAFETY: this page was mapped for this state, which is not used any more.
        unsafe { libc::munmap(self.state, self.page_len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_env = "gnu")]
    fn the_loader_knows_the_kernels_image() {
        // SAFETY: as in `function`.
        let vdso = unsafe { Open::at(Path::new(LIBRARY)) }.expect("the loader maps it");
        // SAFETY: the addresses are not used.
        let symbol = |name| unsafe { vdso.symbol::<*const c_void>(name) };
        let has = |name| symbol(name).is_ok_and(|address| !address.is_null());
        // Which of the two depends on the processor.
        assert_ne!(has(c"__vdso_clock_gettime"), has(c"__kernel_clock_gettime"));
        assert!(symbol(c"__vdso_no_such_function").is_err());
    }
}
