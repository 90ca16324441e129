//! The layout of the shared memory.

/// The length of a page, to which the parts are aligned.
const PAGE: usize = 4096;

/// The places of the parts. They depend on two numbers, which the daemon chooses.
///
/// ```text
/// | words: a cache line each | submissions: 64 bytes each | completions: 16 bytes each | arena |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The number of places in each ring, a power of two.
    depth: u32,
    /// The length of the arena in bytes.
    arena: u32,
}

/// Invalid numbers for a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// The words at the beginning, each in its own pair of cache lines.
#[derive(Clone, Copy, Debug)]
pub(super) enum Word {
    /// The number of requests that the client has submitted, modulo 2^32. The client writes it.
    Submitted,
    /// The number of completions that the daemon has published, modulo 2^32. The daemon writes it.
    Completed,
    /// Whether the daemon sleeps. Both write it.
    DaemonAsleep,
    /// Whether the client sleeps; it waits for this word to change. Both write it.
    ClientAsleep,
    /// The processor that the daemon runs on, plus one. A hint.
    DaemonProcessor,
    /// The processor that the client waits on, plus one. A hint.
    ClientProcessor,
}

impl Layout {
    /// The fewest and the most places of a ring.
    pub(crate) const DEPTHS: (u32, u32) = (2, 1 << 12);
    /// The shortest and the longest arena in bytes.
    pub(crate) const ARENAS: (u32, u32) = (1 << 12, 1 << 26);
    /// The length of a submission in bytes.
    pub(crate) const SUBMISSION: usize = 64;
    /// The length of a completion in bytes.
    pub(crate) const COMPLETION: usize = 16;

    /// # Errors
    ///
    /// [`Refused`] if a number is out of bounds, or no power of two (the depth), or no whole number
    /// of pages (the arena).
    pub(crate) fn new(depth: u32, arena: u32) -> Result<Self, Refused> {
        let within = |number, (least, most)| (least..=most).contains(&number);
        let whole = depth.is_power_of_two() && (arena as usize).is_multiple_of(PAGE);
        match whole && within(depth, Self::DEPTHS) && within(arena, Self::ARENAS) {
            true => Ok(Self { depth, arena }),
            false => Err(Refused),
        }
    }

    /// The layout that is closest to a client's request, with an arena of at most `most` bytes.
    pub(crate) fn nearest(depth: u32, arena: u32, most: u32) -> Self {
        let depth = depth.clamp(Self::DEPTHS.0, Self::DEPTHS.1).next_power_of_two();
        let most = most.clamp(Self::ARENAS.0, Self::ARENAS.1);
        // The bounds are whole pages, so that rounding up stays within them if it is done before.
        let page = Self::ARENAS.0;
        let arena = arena.min(most).div_ceil(page).max(1) * page;
        Self { depth, arena: arena.min(most / page * page) }
    }

    pub(crate) fn depth(self) -> u32 {
        self.depth
    }

    pub(crate) fn arena(self) -> u32 {
        self.arena
    }

    /// The length of everything in bytes.
    pub(crate) fn length(self) -> usize {
        self.arena_at() + self.arena as usize
    }

    pub(super) fn word_at(word: Word) -> usize {
        // Two lines, because processors fetch them in pairs.
        word as usize * 128
    }

    pub(super) fn submission_at(self, number: u32) -> usize {
        PAGE + (number & (self.depth - 1)) as usize * Self::SUBMISSION
    }

    pub(super) fn completion_at(self, number: u32) -> usize {
        let completions = PAGE + self.depth as usize * Self::SUBMISSION;
        completions + (number & (self.depth - 1)) as usize * Self::COMPLETION
    }

    pub(super) fn arena_at(self) -> usize {
        let rings = self.depth as usize * (Self::SUBMISSION + Self::COMPLETION);
        PAGE + rings.next_multiple_of(PAGE)
    }

    /// The place of bytes of the arena; `None` if they are not all in it.
    pub(super) fn in_arena(self, offset: u32, length: usize) -> Option<usize> {
        let end = (offset as usize).checked_add(length)?;
        (end <= self.arena as usize).then_some(self.arena_at() + offset as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap() {
        for depth in (1..=12).map(|bits| 1 << bits) {
            let layout = Layout::new(depth, 1 << 16).expect("it is within bounds");
            let words = Layout::word_at(Word::ClientProcessor) + 128;
            assert!(words <= layout.submission_at(0));
            let last = depth - 1;
            assert_eq!(layout.submission_at(last) + 64, layout.completion_at(0));
            assert!(layout.completion_at(last) + 16 <= layout.arena_at());
            assert_eq!(layout.submission_at(depth), layout.submission_at(0));
            assert_eq!(layout.completion_at(u32::MAX), layout.completion_at(last));
        }
    }

    #[test]
    fn only_bytes_of_the_arena_have_a_place() {
        let layout = Layout::new(2, 1 << 12).expect("it is within bounds");
        assert_eq!(layout.in_arena(0, 4096), Some(layout.arena_at()));
        assert_eq!(layout.in_arena(4096, 0), Some(layout.length()));
        assert_eq!(layout.in_arena(1, 4096), None);
        assert_eq!(layout.in_arena(u32::MAX, 1), None);
        assert_eq!(layout.in_arena(1, usize::MAX), None);
    }

    #[test]
    fn wishes_are_granted_within_bounds() {
        let nearest = |depth, arena, most| {
            let layout = Layout::nearest(depth, arena, most);
            assert_eq!(Layout::new(layout.depth, layout.arena), Ok(layout));
            (layout.depth, layout.arena)
        };
        assert_eq!(nearest(100, 5000, 1 << 20), (128, 8192));
        assert_eq!(nearest(0, 0, 1 << 20), (2, 4096));
        assert_eq!(nearest(u32::MAX, u32::MAX, 1 << 20), (4096, 1 << 20));
        assert_eq!(nearest(2, u32::MAX, u32::MAX), (2, 1 << 26));
        assert_eq!(nearest(2, 9000, 8999), (2, 8192));
        for numbers in [(3, 4096), (0, 4096), (1 << 13, 4096), (2, 0), (2, 4097), (2, 1 << 27)] {
            assert_eq!(Layout::new(numbers.0, numbers.1), Err(Refused), "{numbers:?}");
        }
    }
}
