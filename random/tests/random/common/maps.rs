//! The memory of this process that the kernel empties in a forked child, as the kernel lists it.

use core::ops::Range;

/// Part of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) address: usize,
    pub(crate) length: usize,
    /// Whether the kernel may drop its pages: states of the kernel's generator, not pages of ours.
    pub(crate) droppable: bool,
    /// Bytes of it that are in memory.
    pub(crate) resident: usize,
}

/// Bytes of a generator's page, and of its buffer, which comes first.
pub(crate) const PAGE: usize = 8192;
pub(crate) const BUFFER: usize = PAGE - 64;
/// Where the generator keeps the number of bytes left, whether it is seeded, and the lock.
const LEFT: Range<usize> = BUFFER..BUFFER + 4;
const LIVE: Range<usize> = BUFFER + 4..BUFFER + 8;
const LOCK: usize = BUFFER + 10;
/// Pages of the processor, at which mappings and generators' pages begin.
const ALIGNMENT: usize = 4096;

/// All mappings that are emptied on fork.
pub(crate) fn wiped_on_fork() -> Vec<Mapping> {
    wiped_on_fork_of("self")
}

/// All mappings of a process that are emptied on fork.
pub(crate) fn wiped_on_fork_of(process: &str) -> Vec<Mapping> {
    let list = std::fs::read_to_string(format!("/proc/{process}/smaps")).expect("/proc is mounted");
    let mut found = Vec::new();
    let mut range = (0, 0);
    let mut resident = 0;
    for line in list.lines() {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        if first == "VmFlags:" {
            let flags: Vec<&str> = words.collect();
            if flags.contains(&"wf") {
                let droppable = flags.contains(&"dp");
                let length = range.1 - range.0;
                found.push(Mapping { address: range.0, length, droppable, resident });
            }
        } else if first == "Rss:" {
            let kibibytes = words.next().and_then(|number| number.parse::<usize>().ok());
            resident = 1024 * kibibytes.expect("the kernel lists a number");
        } else if let Some((begin, end)) = first.split_once('-') {
            let number = |text| usize::from_str_radix(text, 16).ok();
            if let (Some(begin), Some(end)) = (number(begin), number(end)) {
                range = (begin, end);
            }
        }
    }
    found
}

impl Mapping {
    /// The bytes as they are now.
    pub(crate) fn read(self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        let source = core::ptr::with_exposed_provenance::<u8>(self.address);
        // SAFETY: the kernel listed the range as mapped, and generators never unmap pages.
        unsafe { source.copy_to_nonoverlapping(bytes.as_mut_ptr(), self.length) };
        bytes
    }

    /// Puts bytes back that were read before.
    pub(crate) fn write(self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.length);
        let target = core::ptr::with_exposed_provenance_mut::<u8>(self.address);
        // SAFETY: as in `read`; the caller is not inside of a draw.
        unsafe { target.copy_from_nonoverlapping(bytes.as_ptr(), self.length) };
    }
}

/// The seeded pages among `mappings`.
pub(crate) fn live_pages(mappings: &[Mapping]) -> Vec<Vec<u8>> {
    mappings.iter().filter(|m| !m.droppable).flat_map(|m| seeded(&m.read())).collect()
}

/// The seeded pages in the bytes of a mapping.
pub(crate) fn seeded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let pages = (0..bytes.len()).step_by(ALIGNMENT).filter_map(|at| bytes.get(at..at + PAGE));
    pages
        .filter(|page| is_live(page) && unused_length(page) <= BUFFER)
        .map(<[u8]>::to_vec)
        .collect()
}

/// Whether the page is seeded, by a generator of any kind.
pub(crate) fn is_live(page: &[u8]) -> bool {
    page[LIVE] == 1_u32.to_ne_bytes()
}

/// How many pages are seeded, with those that keep no bytes but make them as they are asked
/// for.
pub(crate) fn live_count(mappings: &[Mapping]) -> usize {
    let count = |bytes: Vec<u8>| {
        let pages = (0..bytes.len()).step_by(ALIGNMENT).filter_map(|at| bytes.get(at..at + PAGE));
        pages.filter(|page| is_live(page)).count()
    };
    mappings.iter().filter(|m| !m.droppable).map(|m| count(m.read())).sum()
}

/// Whether the page is locked.
pub(crate) fn is_locked(page: &[u8]) -> bool {
    page[LOCK] != 0
}

/// How many bytes of a page are still to be handed out.
pub(crate) fn unused_length(page: &[u8]) -> usize {
    page[LEFT].try_into().map_or(0, u32::from_ne_bytes) as usize
}

/// The bytes of a page that are still to be handed out.
pub(crate) fn unused(page: &[u8]) -> &[u8] {
    &page[BUFFER - unused_length(page)..BUFFER]
}
