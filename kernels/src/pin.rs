//! Keeps the shared library that contains this code loaded.
//!
//! Permanent mappings, and the destructors that threads run when they end, must not outlive the
//! code and variables that belong to them. Loading the library anew would also map and register
//! everything again.

/// Makes `dlclose` leave the library loaded, if this code is in one. The first call of a process
/// does it; a signal handler that interrupts it does it again. `errno` may change.
///
/// In the main program it takes no lock and makes no call. In a library it calls the dynamic
/// loader, which takes its lock and may allocate.
#[cfg(all(target_env = "gnu", not(target_feature = "crt-static")))]
pub(crate) fn stay_loaded() {
    use core::sync::atomic::{AtomicBool, Ordering};

    /// Relaxed everywhere: it publishes nothing, and doing it twice does no harm.
    static DONE: AtomicBool = AtomicBool::new(false);

    if DONE.load(Ordering::Relaxed) {
        return;
    }
    let here = DONE.as_ptr().cast_const().cast();
    if !loader::is_in_main_program(here) {
        loader::pin(here);
    }
    DONE.store(true, Ordering::Relaxed);
}

/// Static programs load no libraries, and `dlclose` of musl leaves all of them loaded.
#[cfg(not(all(target_env = "gnu", not(target_feature = "crt-static"))))]
pub(crate) fn stay_loaded() {}

#[cfg(all(target_env = "gnu", not(target_feature = "crt-static")))]
mod loader {
    use core::ffi::c_void;
    use core::mem::MaybeUninit;

    #[cfg(target_pointer_width = "32")]
    use libc::Elf32_Phdr as Segment;
    #[cfg(target_pointer_width = "64")]
    use libc::Elf64_Phdr as Segment;

    /// Whether an address lies in the program itself, according to its headers, whose place the
    /// kernel provides.
    pub(super) fn is_in_main_program(address: *const c_void) -> bool {
        // SAFETY: getauxval reads the process's auxiliary vector and has no preconditions.
        let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
        // SAFETY: as above.
        let count = unsafe { libc::getauxval(libc::AT_PHNUM) };
        let (Ok(headers), Ok(count)) = (usize::try_from(headers), usize::try_from(count)) else {
            return false;
        };
        if headers == 0 {
            return false;
        }
        let segments = core::ptr::with_exposed_provenance::<Segment>(headers);
        // SAFETY: the kernel mapped `count` headers there with the program, which stays mapped.
        let segments = unsafe { core::slice::from_raw_parts(segments, count) };
        let number = |n| usize::try_from(n).unwrap_or_default();
        // A program without this header is at its fixed address.
        let own = segments.iter().find(|segment| segment.p_type == libc::PT_PHDR);
        let moved_by = own.map_or(0, |own| headers.wrapping_sub(number(own.p_vaddr)));
        segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD).any(|segment| {
            let start = moved_by.wrapping_add(number(segment.p_vaddr));
            address.addr().wrapping_sub(start) < number(segment.p_memsz)
        })
    }

    /// Makes the loader keep the library that contains the address.
    pub(super) fn pin(address: *const c_void) {
        let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: the pointer is to a structure of the type that the call fills in.
        if unsafe { libc::dladdr(address, found.as_mut_ptr()) } == 0 {
            return;
        }
        // SAFETY: the call filled it in; all zero is valid, too.
        let found = unsafe { found.assume_init() };
        if !found.dli_fname.is_null() {
            let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            // SAFETY: the name is the loader's own, of a library that is loaded; nothing is run.
            unsafe { libc::dlopen(found.dli_fname, flags) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_main_program_is_known() {
            static HERE: u8 = 0;
            assert!(is_in_main_program(core::ptr::from_ref(&HERE).cast()));
            assert!(is_in_main_program(the_main_program_is_known as *const c_void));
            assert!(!is_in_main_program(libc::getpid as *const c_void));
        }
    }
}
