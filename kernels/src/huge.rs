//! Huge pages for large outputs.

/// Asks the system to back memory that has not been written yet by huge pages, where that is left
/// to programs, as it usually is. The content stays what it is. `errno` may change.
///
/// The first write to a page enters the kernel, and 512 small pages cost it several times what one
/// huge page does. In virtual machines that can take as long as what is written there. Memory
/// without a whole huge page, and systems other than Linux, are left as they are.
pub fn prefer_huge_pages(memory: &mut [u8]) {
    #[cfg(target_os = "linux")]
    linux::prefer(memory);
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

#[cfg(target_os = "linux")]
mod linux {
    /// The smallest huge page of x86-64, and of arm64 with pages of 4 KiB. Where huge pages are
    /// larger, the advice counts for those that lie in it.
    const HUGE_PAGE: usize = 2 << 20;

    pub(super) fn prefer(memory: &mut [u8]) {
        let before = memory.as_ptr().align_offset(HUGE_PAGE);
        let Some(inner) = memory.get_mut(before..) else { return };
        let bytes = inner.len() / HUGE_PAGE * HUGE_PAGE;
        if bytes == 0 {
            return;
        }
        // SAFETY: the range is part of the slice. The advice changes neither its content nor how it
        // may be used, only in what pages the kernel keeps it; memory of another kind is refused.
        unsafe { libc::madvise(inner.as_mut_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn content_stays_and_the_kernel_was_asked() {
            let mut memory = vec![0; 3 * HUGE_PAGE];
            memory[2 * HUGE_PAGE] = 7;
            let address = memory.as_ptr().addr() + 2 * HUGE_PAGE;
            prefer(&mut memory);
            assert!(
                memory[2 * HUGE_PAGE] == 7
                    && memory.iter().map(|&b| u32::from(b)).sum::<u32>() == 7
            );
            let Some(flags) = flags_at(address - HUGE_PAGE / 2 - HUGE_PAGE / 4) else { return };
            assert!(flags.split(' ').any(|flag| flag == "hg"), "{flags}");
        }

        #[test]
        fn memory_without_a_huge_page_is_left() {
            prefer(&mut []);
            prefer(&mut [1, 2, 3]);
            prefer(&mut vec![0; HUGE_PAGE - 1]);
        }

        /// What the kernel says about the mapping of an address; none where it has no huge pages.
        fn flags_at(address: usize) -> Option<String> {
            std::fs::metadata("/sys/kernel/mm/transparent_hugepage").ok()?;
            let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
            let mut is_here = false;
            for line in maps.lines() {
                if let Some((from, to)) =
                    line.split(' ').next().and_then(|word| word.split_once('-'))
                {
                    let number = |digits| usize::from_str_radix(digits, 16).ok();
                    is_here = number(from)? <= address && address < number(to)?;
                } else if is_here && let Some(flags) = line.strip_prefix("VmFlags: ") {
                    return Some(flags.to_owned());
                }
            }
            None
        }
    }
}
