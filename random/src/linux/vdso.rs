//! The kernel's generator in the vDSO (`__vdso_getrandom`, Linux 6.11): kernel random bytes without
//! a system call.
//!
//! The vDSO is a small ELF image that the kernel maps into every process. Its generator works on a
//! state that the caller allocates according to the function's own parameters. The kernel empties
//! that state on a fork. The function falls back to the system call if it is re-entered in a signal
//! handler, or if the kernel has reseeded.

use core::ffi::{CStr, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::linux::published::Published;
use crate::sync::AtomicPtr;

/// A page's state of the kernel's generator; null if there is none. It is used together with the
/// page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State(*mut u8);

/// No state may cross the end of a page. Larger pages than this one only have more room.
const PAGE: usize = 4096;
/// States of two owners share no cache line, and no pair of lines that is fetched together.
const APART: usize = 128;

impl State {
    pub(crate) const NONE: Self = Self(null_mut());

    pub(crate) fn is_there(self) -> bool {
        !self.0.is_null()
    }

    /// The state with this address.
    ///
    /// # Safety
    ///
    /// The address came from [`State::as_ptr`], and this thread uses the page to which the state
    /// belongs.
    pub(crate) unsafe fn from_ptr(state: *mut u8) -> Self {
        Self(state)
    }

    /// The address of the state, or null.
    pub(crate) fn as_ptr(self) -> *mut u8 {
        self.0
    }
}

/// `ssize_t __vdso_getrandom(void *buffer, size_t length, unsigned flags, void *state, size_t
/// size)`
type GetRandom = unsafe extern "C" fn(*mut c_void, usize, u32, *mut c_void, usize) -> isize;

/// The function's description of its states, for a call with a size of all ones.
#[repr(C)]
#[derive(Default)]
struct Parameters {
    size: u32,
    protection: u32,
    flags: u32,
    reserved: [u32; 13],
}

/// The function.
static FUNCTION: Published<c_void> = Published(AtomicPtr::new(null_mut()));
/// Bytes of one state. Relaxed: set before `FUNCTION` is published, and read after it. Threads that
/// race set the same.
static STATE_SIZE: AtomicUsize = AtomicUsize::new(0);
/// The value of `FUNCTION` if it does not exist.
const ABSENT: *mut c_void = core::ptr::dangling_mut::<u8>().cast();

/// Whether the kernel offers its generator in the vDSO.
pub(crate) fn is_present() -> bool {
    function().is_some()
}

/// Gets random bytes from the kernel's generator. Returns how many were written, or `None` if there
/// is no state or no such generator, or if it failed.
pub(crate) fn getrandom(state: State, out: &mut [u8]) -> Option<usize> {
    if !state.is_there() {
        return None;
    }
    let function = function()?;
    let size = STATE_SIZE.load(Ordering::Relaxed);
    // SAFETY: `out` may be written; the state was mapped as the function asks and has this size.
    let result = unsafe { function(out.as_mut_ptr().cast(), out.len(), 0, state.0.cast(), size) };
    usize::try_from(result).ok()
}

/// Maps states for `count` owners and calls `each` with them. Does not call it if there is no
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

/// The function, which is looked up once. Threads that race find the same one.
fn function() -> Option<GetRandom> {
    let known = FUNCTION.get();
    let address = match known.is_null() {
        true => FUNCTION.publish(find().unwrap_or(ABSENT)).unwrap_or_else(|first| first),
        false => known,
    };
    // SAFETY: `find` has found it.
    (address != ABSENT).then(|| unsafe { at(address) })
}

/// The address of the function in the vDSO, if it can be used; sets `STATE_SIZE`.
#[cold]
fn find() -> Option<*mut c_void> {
    let address = image::symbol(&[c"__vdso_getrandom", c"__kernel_getrandom"])?;
    // SAFETY: it is the address of that symbol.
    let parameters = parameters(unsafe { at(address) })?;
    STATE_SIZE.store(parameters.size as usize, Ordering::Relaxed);
    Some(address)
}

/// The function at its address.
///
/// # Safety
///
/// It is the address of the function of this name in the vDSO.
unsafe fn at(address: *mut c_void) -> GetRandom {
    // SAFETY: the function has this type.
    unsafe { transmute::<*mut c_void, GetRandom>(address) }
}

/// Reading the vDSO's symbol table (System V ABI, chapters 4 and 5; the GNU hash section).
mod image {
    use super::{CStr, PAGE, c_void};
    use crate::linux::arch::VDSO_IS_KNOWN;

    const PT_LOAD: u32 = 1;
    const PT_DYNAMIC: u32 = 2;
    const DT_HASH: u64 = 4;
    const DT_STRTAB: u64 = 5;
    const DT_SYMTAB: u64 = 6;
    const DT_GNU_HASH: u64 = 0x6fff_fef5;
    const DYNAMIC_SIZE: usize = 16;
    const SYMBOL_SIZE: usize = 24;

    /// The address of the first defined symbol with one of these `names`.
    pub(super) fn symbol(names: &[&CStr]) -> Option<*mut c_void> {
        let image = mapped()?;
        let place = Image::parse(image)?.symbol(names)?;
        Some(image.get(place..)?.as_ptr().cast_mut().cast())
    }

    /// The image that the kernel has mapped, if its form is known.
    fn mapped() -> Option<&'static [u8]> {
        if !VDSO_IS_KNOWN {
            return None;
        }
        // SAFETY: reads the process's auxiliary vector and has no preconditions.
        let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as *const u8;
        if base.is_null() {
            return None;
        }
        // SAFETY: the kernel has mapped an image there, which has at least one page and stays
        // mapped.
        let first = unsafe { core::slice::from_raw_parts(base, PAGE) };
        let load = Image(first).segment(PT_LOAD)?;
        // The headers are part of the loaded segments.
        let begins_with_headers = Image(first).word(load + 8)? == 0;
        let length = Image(first).word(load + 32).filter(|_| begins_with_headers)?;
        // SAFETY: the header says so of the same mapping.
        Some(unsafe { core::slice::from_raw_parts(base, length) })
    }

    /// An ELF image in memory. Nothing beyond its end is read, whatever it contains.
    #[derive(Clone, Copy)]
    struct Image<'a>(&'a [u8]);

    /// The offsets of an image's tables.
    pub(super) struct Tables<'a> {
        image: Image<'a>,
        /// The address for which the first byte was linked.
        base: usize,
        strings: usize,
        symbols: usize,
        hash: Option<usize>,
        gnu_hash: Option<usize>,
    }

    impl<'a> Image<'a> {
        fn parse(bytes: &'a [u8]) -> Option<Tables<'a>> {
            let image = Image(bytes);
            let base = image.word(image.segment(PT_LOAD)? + 16)?;
            let dynamic = image.word(image.segment(PT_DYNAMIC)? + 8)?;
            let table = |tag| {
                let entries = (0..).map(|i| dynamic + i * DYNAMIC_SIZE);
                let tags = entries.map_while(|entry| Some((entry, image.long(entry)?)));
                let (entry, _) =
                    tags.take_while(|(_, found)| *found != 0).find(|(_, found)| *found == tag)?;
                Some(image.word(entry + 8)?.wrapping_sub(base))
            };
            Some(Tables {
                image,
                base,
                strings: table(DT_STRTAB)?,
                symbols: table(DT_SYMTAB)?,
                hash: table(DT_HASH),
                gnu_hash: table(DT_GNU_HASH),
            })
        }

        /// The offset of the header of the first segment of this kind.
        fn segment(self, kind: u32) -> Option<usize> {
            let headers = self.word(32)?;
            let (size, count) = (self.short(54)?, self.short(56)?);
            let mut all = (0..count).map(|i| headers.wrapping_add(i * size));
            all.find(|&header| self.int(header) == Some(kind))
        }

        fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
            self.0.get(at..)?.first_chunk().copied()
        }

        fn short(self, at: usize) -> Option<usize> {
            self.bytes(at).map(|bytes| usize::from(u16::from_ne_bytes(bytes)))
        }

        fn int(self, at: usize) -> Option<u32> {
            self.bytes(at).map(u32::from_ne_bytes)
        }

        /// A count of 32 bits.
        fn count(self, at: usize) -> Option<usize> {
            self.int(at).map(|number| number as usize)
        }

        fn long(self, at: usize) -> Option<u64> {
            self.bytes(at).map(u64::from_ne_bytes)
        }

        fn word(self, at: usize) -> Option<usize> {
            self.bytes(at).map(usize::from_ne_bytes)
        }
    }

    impl Tables<'_> {
        /// The offset of the first defined symbol with one of these `names`.
        pub(super) fn symbol(&self, names: &[&CStr]) -> Option<usize> {
            let count = self.symbol_count()?;
            (0..count).find_map(|i| {
                let entry = self.symbols.wrapping_add(i * SYMBOL_SIZE);
                let name = self.strings.wrapping_add(self.image.count(entry)?);
                let name = CStr::from_bytes_until_nul(self.image.0.get(name..)?).ok()?;
                let (section, value) = (self.image.short(entry + 6)?, self.image.word(entry + 8)?);
                let wanted = section != 0 && value != 0 && names.contains(&name);
                wanted.then(|| value.wrapping_sub(self.base))
            })
        }

        /// The table does not contain its length; the hash tables do.
        fn symbol_count(&self) -> Option<usize> {
            let image = self.image;
            if let Some(hash) = self.hash {
                return image.count(hash.wrapping_add(4));
            }
            let hash = self.gnu_hash?;
            let buckets = image.count(hash)?;
            let first = image.count(hash.wrapping_add(4))?;
            let bloom_words = image.count(hash.wrapping_add(8))?;
            let table = hash.wrapping_add(16 + bloom_words * 8);
            let chains = table.wrapping_add(buckets * 4);
            let last = (0..buckets).map_while(|i| image.count(table.wrapping_add(i * 4))).max();
            let mut last = last.filter(|&last| last >= first)?;
            while image.int(chains.wrapping_add((last - first) * 4))? & 1 == 0 {
                last += 1;
            }
            Some(last + 1)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const NAMES: [&CStr; 2] = [c"__vdso_clock_gettime", c"__kernel_clock_gettime"];

        /// Every byte of an image may be invalid. Nothing outside of the image is read.
        #[test]
        fn a_damaged_image_is_refused_or_read_within_its_bounds() {
            let Some(image) = mapped() else { return };
            let place = |image: &[u8]| Image::parse(image)?.symbol(&NAMES);
            let found = place(image).expect("every vDSO tells the time");
            assert!(found < image.len());
            for length in 0..image.len() {
                assert!(place(&image[..length]).is_none_or(|place| place == found), "{length}");
            }
            let mut damaged = image.to_vec();
            for at in 0..image.len() {
                damaged[at] ^= 0xFF;
                let _ = place(&damaged);
                damaged[at] ^= 0xFF;
            }
        }
    }
}
