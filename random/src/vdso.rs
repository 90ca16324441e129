//! The kernel's generator in the vDSO (`__vdso_getrandom`, Linux 6.11): kernel random bytes without
//! a system call.
//!
//! The vDSO is a small ELF image that the kernel maps into every process. Its generator works on a
//! state that the caller allocates as the function itself asks; the kernel empties that state
//! on a fork, and the function falls back to the system call when it is entered again in a signal
//! handler or when the kernel has been reseeded.

use core::ffi::{CStr, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// An owner's state of the kernel's generator; null when there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State(pub(crate) *mut u8);

/// No state may straddle a page; larger pages than this only have more room.
const PAGE: usize = 4096;
/// States of two owners share no cache line, nor a pair of lines that is fetched together.
const APART: usize = 128;

impl State {
    pub(crate) const NONE: Self = Self(null_mut());
}

/// `ssize_t __vdso_getrandom(void *buffer, size_t length, unsigned flags, void *state, size_t size)`
type GetRandom = unsafe extern "C" fn(*mut c_void, usize, u32, *mut c_void, usize) -> isize;

/// What the function says about its states when it is asked with a size of all ones.
#[repr(C)]
#[derive(Default)]
struct Parameters {
    size: u32,
    protection: u32,
    flags: u32,
    reserved: [u32; 13],
}

/// The function; null before it was looked for. Written last, with release; read with acquire, so
/// that whoever sees it sees `STATE_SIZE` too.
static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// Bytes of one state.
static STATE_SIZE: AtomicUsize = AtomicUsize::new(0);
/// Stands in `FUNCTION` for "looked for and not there".
const ABSENT: *mut c_void = core::ptr::dangling_mut::<u8>().cast();

/// Whether the kernel offers its generator in the vDSO.
pub(crate) fn is_present() -> bool {
    function().is_some()
}

/// Random bytes from the kernel's generator: how many were written, or `None` when there is no
/// state or no such generator, or when it failed.
pub(crate) fn getrandom(state: State, out: &mut [u8]) -> Option<usize> {
    if state.0.is_null() {
        return None;
    }
    let function = function()?;
    let size = STATE_SIZE.load(Ordering::Relaxed);
    // SAFETY: `out` may be written; the state was mapped as the function asks and has this size.
    let result = unsafe { function(out.as_mut_ptr().cast(), out.len(), 0, state.0.cast(), size) };
    usize::try_from(result).ok()
}

/// Maps states for `count` owners and calls `each` with them; calls it not at all when there is no
/// generator or no memory.
pub(crate) fn map_states(count: usize, mut each: impl FnMut(usize, State)) {
    let Some(parameters) = function().and_then(parameters) else { return };
    let size = parameters.size as usize;
    let stride = size.next_multiple_of(APART);
    let per_page = PAGE / stride;
    let length = count.div_ceil(per_page) * PAGE;
    // SAFETY: a fresh anonymous mapping touches no memory that is in use.
    let base = unsafe {
        libc::mmap(
            null_mut(),
            length,
            parameters.protection.cast_signed(),
            parameters.flags.cast_signed(),
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return;
    }
    for i in 0..count {
        let offset = i / per_page * PAGE + i % per_page * stride;
        each(i, State(base.cast::<u8>().wrapping_add(offset)));
    }
}

fn parameters(function: GetRandom) -> Option<Parameters> {
    let mut parameters = Parameters::default();
    let place: *mut Parameters = &mut parameters;
    // SAFETY: with no buffer and this size the function only fills in the parameters.
    let result = unsafe { function(null_mut(), 0, 0, place.cast(), usize::MAX) };
    let usable = result == 0 && (1..=PAGE).contains(&(parameters.size as usize));
    usable.then_some(parameters)
}

fn function() -> Option<GetRandom> {
    let mut found = FUNCTION.load(Ordering::Acquire);
    if found.is_null() {
        found = find();
        FUNCTION.store(found, Ordering::Release);
    }
    if found == ABSENT {
        return None;
    }
    // SAFETY: the address is that of the function of this name in the vDSO, whose type this is.
    Some(unsafe { transmute::<*mut c_void, GetRandom>(found) })
}

/// Looks the function up and asks for the size of its states. Threads that race find the same.
#[cold]
fn find() -> *mut c_void {
    let Some(address) = image::symbol(&[c"__vdso_getrandom", c"__kernel_getrandom"]) else {
        return ABSENT;
    };
    // SAFETY: as in `function`.
    let function = unsafe { transmute::<*mut c_void, GetRandom>(address) };
    match parameters(function) {
        Some(parameters) => {
            STATE_SIZE.store(parameters.size as usize, Ordering::Relaxed);
            address
        }
        None => ABSENT,
    }
}

/// Reading the vDSO's symbol table (System V ABI, chapters 4 and 5; the GNU hash section).
#[cfg(all(target_pointer_width = "64", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod image {
    use super::{CStr, c_void};

    const PT_LOAD: u32 = 1;
    const PT_DYNAMIC: u32 = 2;
    const DT_HASH: u64 = 4;
    const DT_STRTAB: u64 = 5;
    const DT_SYMTAB: u64 = 6;
    const DT_GNU_HASH: u64 = 0x6fff_fef5;
    const SYMBOL_SIZE: usize = 24;

    /// The address of the first defined symbol that has one of `names`.
    pub(super) fn symbol(names: &[&CStr]) -> Option<*mut c_void> {
        // SAFETY: getauxval reads the process's auxiliary vector and has no preconditions.
        let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
        let base = usize::try_from(base).ok().filter(|&base| base != 0)?;
        let image = Image::parse(base)?;
        (0..image.symbol_count()).find_map(|i| {
            let entry = image.symbols + i * SYMBOL_SIZE;
            let name = read::<u32>(entry) as usize;
            let section = read::<u16>(entry + 6);
            let value = read::<usize>(entry + 8);
            // SAFETY: names in the string table of a valid image end with a zero byte.
            let name = unsafe { CStr::from_ptr((image.strings + name) as *const _) };
            let wanted = section != 0 && value != 0 && names.contains(&name);
            wanted.then(|| image.bias.wrapping_add(value) as *mut c_void)
        })
    }

    /// Addresses of the tables of a mapped image.
    struct Image {
        bias: usize,
        strings: usize,
        symbols: usize,
        hash: Option<usize>,
        gnu_hash: Option<usize>,
    }

    impl Image {
        fn parse(base: usize) -> Option<Self> {
            let headers = base + read::<usize>(base + 32);
            let (size, count) = (read::<u16>(base + 54), read::<u16>(base + 56));
            let segment = |kind| {
                (0..usize::from(count))
                    .map(|i| headers + i * usize::from(size))
                    .find(|&header| read::<u32>(header) == kind)
            };
            let load = segment(PT_LOAD)?;
            let offset = read::<usize>(load + 8);
            let bias = base.wrapping_add(offset).wrapping_sub(read::<usize>(load + 16));
            let dynamic = base + read::<usize>(segment(PT_DYNAMIC)? + 8);
            let entry = |tag| {
                (0..)
                    .map(|i| dynamic + i * 16)
                    .take_while(|&entry| read::<u64>(entry) != 0)
                    .find(|&entry| read::<u64>(entry) == tag)
                    .map(|entry| bias.wrapping_add(read::<usize>(entry + 8)))
            };
            Some(Self {
                bias,
                strings: entry(DT_STRTAB)?,
                symbols: entry(DT_SYMTAB)?,
                hash: entry(DT_HASH),
                gnu_hash: entry(DT_GNU_HASH),
            })
        }

        /// The table has no length of its own; the hash tables know it.
        fn symbol_count(&self) -> usize {
            if let Some(hash) = self.hash {
                return read::<u32>(hash + 4) as usize;
            }
            let Some(hash) = self.gnu_hash else { return 0 };
            let buckets = read::<u32>(hash) as usize;
            let first = read::<u32>(hash + 4) as usize;
            let bloom_words = read::<u32>(hash + 8) as usize;
            let table = hash + 16 + bloom_words * 8;
            let chains = table + buckets * 4;
            let last = (0..buckets).map(|i| read::<u32>(table + i * 4) as usize).max();
            let Some(mut last) = last.filter(|&last| last >= first) else { return 0 };
            while read::<u32>(chains + (last - first) * 4) & 1 == 0 {
                last += 1;
            }
            last + 1
        }
    }

    /// Reads a field of the image, which the kernel made and which stays mapped for ever.
    fn read<T: Copy>(address: usize) -> T {
        // SAFETY: the callers follow the image's own tables; the kernel built them for this use.
        unsafe { core::ptr::read_unaligned(address as *const T) }
    }
}

#[cfg(not(all(
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod image {
    use super::{CStr, c_void};

    pub(super) fn symbol(_names: &[&CStr]) -> Option<*mut c_void> {
        None
    }
}
