//! The symbols of the ELF image that the kernel maps into every process.
//!
//! Layouts after the System V ABI, ELF-64 object file format. Everything is read through bounds
//! checks, so a strange image gives `None`.

use core::ffi::CStr;

/// Bytes of the program header's fields: type, offset, virtual address, size in memory.
const SEGMENT: usize = 56;
const SEGMENT_LOAD: u32 = 1;
const SEGMENT_DYNAMIC: u32 = 2;

const TAG_END: u64 = 0;
const TAG_HASH: u64 = 4;
const TAG_STRINGS: u64 = 5;
const TAG_SYMBOLS: u64 = 6;
const TAG_GNU_HASH: u64 = 0x6fff_fef5;

const SYMBOL: usize = 24;

/// An ELF-64 image in memory, starting at its header.
#[derive(Clone, Copy)]
pub(super) struct Image<'a> {
    bytes: &'a [u8],
}

impl<'a> Image<'a> {
    /// The image that begins with `bytes`; `None` if there is no ELF-64 header.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        const CLASS_64: u8 = 2;
        (bytes.starts_with(b"\x7fELF") && bytes.get(4) == Some(&CLASS_64)).then_some(Self { bytes })
    }

    /// Bytes from the header to the end of the loaded segment.
    ///
    /// Needs the header and the program headers only.
    pub(super) fn loaded_len(self) -> Option<usize> {
        let load = self.segment(SEGMENT_LOAD)?;
        let starts_at_header = load.offset == 0;
        starts_at_header.then_some(load.size)
    }

    /// The offset from the header of the defined symbol called `name`.
    pub(super) fn symbol(self, name: &CStr) -> Option<usize> {
        let load = self.segment(SEGMENT_LOAD)?;
        let dynamic = self.segment(SEGMENT_DYNAMIC)?;
        let place = |address: usize| address.checked_sub(load.address);

        let (mut strings, mut symbols, mut hash, mut gnu_hash) = (None, None, None, None);
        let mut at = place(dynamic.address)?;
        loop {
            let value = self.address(at.checked_add(8)?)?;
            match self.u64(at)? {
                TAG_END => break,
                TAG_HASH => hash = place(value),
                TAG_STRINGS => strings = place(value),
                TAG_SYMBOLS => symbols = place(value),
                TAG_GNU_HASH => gnu_hash = place(value),
                _ => {}
            }
            at = at.checked_add(16)?;
        }

        let (strings, symbols) = (strings?, symbols?);
        let count = match (hash, gnu_hash) {
            (Some(hash), _) => self.index(hash.checked_add(4)?)?,
            (None, Some(gnu_hash)) => self.gnu_count(gnu_hash)?,
            (None, None) => return None,
        };
        for number in 0..count {
            let entry = symbols.checked_add(number.checked_mul(SYMBOL)?)?;
            let undefined = self.u16(entry.checked_add(6)?)? == 0;
            let found = self.text(strings.checked_add(self.index(entry)?)?)?;
            if !undefined && found == name {
                return place(self.address(entry.checked_add(8)?)?);
            }
        }
        None
    }

    /// The number of symbols, which a GNU hash table does not contain: one more than the last one
    /// of the last chain.
    fn gnu_count(self, table: usize) -> Option<usize> {
        let field = |number: usize| self.index(table.checked_add(number.checked_mul(4)?)?);
        let (buckets, first, bloom) = (field(0)?, field(1)?, field(2)?);
        // Four 32-bit fields, then the Bloom filter in 64-bit words, then the buckets.
        let bucket_at = bloom.checked_mul(2)?.checked_add(4)?;
        let mut last = 0;
        for bucket in 0..buckets {
            last = last.max(field(bucket_at.checked_add(bucket)?)?);
        }
        if last < first {
            return Some(first);
        }
        let chain_at = bucket_at.checked_add(buckets)?;
        while field(chain_at.checked_add(last - first)?)? & 1 == 0 {
            last += 1;
        }
        last.checked_add(1)
    }

    /// The first segment of a type.
    fn segment(self, wanted: u32) -> Option<Segment> {
        let table = self.address(32)?;
        let size = usize::from(self.u16(54)?);
        if size < SEGMENT {
            return None;
        }
        for number in 0..usize::from(self.u16(56)?) {
            let at = table.checked_add(number.checked_mul(size)?)?;
            if self.u32(at)? == wanted {
                return Some(Segment {
                    offset: self.address(at.checked_add(8)?)?,
                    address: self.address(at.checked_add(16)?)?,
                    size: self.address(at.checked_add(40)?)?,
                });
            }
        }
        None
    }

    fn text(self, at: usize) -> Option<&'a CStr> {
        CStr::from_bytes_until_nul(self.bytes.get(at..)?).ok()
    }

    fn index(self, at: usize) -> Option<usize> {
        self.u32(at)?.try_into().ok()
    }

    fn address(self, at: usize) -> Option<usize> {
        self.u64(at)?.try_into().ok()
    }

    fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_ne_bytes)
    }

    fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_ne_bytes)
    }

    fn u64(self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_ne_bytes)
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }
}

/// The necessary fields of a program header.
struct Segment {
    offset: usize,
    address: usize,
    size: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::vdso;

    #[test]
    fn the_kernels_image_has_a_clock() {
        let Some((image, bytes)) = image() else { return };
        let clock = if cfg!(target_arch = "x86_64") {
            c"__vdso_clock_gettime"
        } else {
            c"__kernel_clock_gettime"
        };
        let at = image.symbol(clock).expect("every vDSO has a clock");
        assert!(at > 0 && at < bytes.len());
        assert_eq!(image.symbol(c"__vdso_no_such_function"), None);
    }

    #[test]
    fn both_hash_tables_give_the_same_count() {
        let Some((image, _)) = image() else { return };
        let load = image.segment(SEGMENT_LOAD).expect("found before").address;
        let mut at = image.segment(SEGMENT_DYNAMIC).expect("found before").address - load;
        let (mut plain, mut gnu) = (None, None);
        while image.u64(at) != Some(TAG_END) {
            let value = image.address(at + 8).expect("inside the image");
            match image.u64(at) {
                Some(TAG_HASH) => plain = image.index(value - load + 4),
                Some(TAG_GNU_HASH) => gnu = image.gnu_count(value - load),
                _ => {}
            }
            at += 16;
        }
        assert!(plain.is_some() || gnu.is_some());
        if plain.is_some() && gnu.is_some() {
            assert_eq!(plain, gnu);
        }
    }

    #[test]
    fn damaged_images_are_refused_without_a_panic() {
        let Some((_, bytes)) = image() else { return };
        for len in (0..bytes.len()).step_by(7) {
            if let Some(image) = Image::new(&bytes[..len]) {
                let _ = image.loaded_len();
                let _ = image.symbol(c"__vdso_no_such_function");
            }
        }
        let mut damaged = bytes.to_vec();
        for at in 4..bytes.len().min(2048) {
            damaged[at] ^= 0xff;
            if let Some(image) = Image::new(&damaged) {
                let _ = image.loaded_len();
                let _ = image.symbol(c"__vdso_no_such_function");
            }
            damaged[at] ^= 0xff;
        }
        assert!(Image::new(b"\x7fELF").is_none());
    }

    fn image() -> Option<(Image<'static>, &'static [u8])> {
        let bytes = vdso::image()?;
        Some((Image::new(bytes)?, bytes))
    }
}
