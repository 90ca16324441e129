//! The cipher's table.

use lanecrypt_kernels::wipe;

/// A permutation of the numbers 0 to 255. Wiped by its owner.
///
/// Words, because the processor forwards a stored byte to a nearby load more slowly.
#[derive(Clone)]
#[repr(transparent)]
pub(super) struct Table {
    entries: [u32; 256],
}

impl Table {
    /// Every number at its own place.
    pub(super) const IDENTITY: Self = {
        let mut entries = [0; 256];
        let mut i = 0;
        while i < 256 {
            entries[i as usize] = i;
            i += 1;
        }
        Self { entries }
    };

    /// The entry whose number has the low 8 bits of `i`.
    #[inline(always)]
    pub(super) fn at(&self, i: u32) -> u32 {
        self.entries[(i & 255) as usize]
    }

    /// The entries at `i + 1` and `i + 2`.
    #[inline(always)]
    pub(super) fn ahead(&self, i: u32) -> [u32; 2] {
        [self.at(i.wrapping_add(1)), self.at(i.wrapping_add(2))]
    }

    /// Swaps the entries at `i` and `j`, both below 256; gives the one that was at `j`.
    ///
    /// `ahead` holds the entries at `i` and `i + 1`, and is advanced by one. Entries are loaded so
    /// early because a load waits until the processor knows the addresses of the stores before it.
    /// Loaded just before use, each step would wait for the one before.
    #[inline(always)]
    pub(super) fn swap(&mut self, i: u32, j: u32, ahead: &mut [u32; 2]) -> u32 {
        let [x, next] = *ahead;
        let (y, later) = (self.at(j), self.at(i + 2));
        self.entries[(i & 255) as usize] = y;
        self.entries[(j & 255) as usize] = x;
        *ahead = [next, later];
        if j.wrapping_sub(i + 1) & 255 < 2 {
            // The swap has changed one of them.
            unlikely();
            *ahead = self.ahead(i);
        }
        y
    }

    pub(super) fn wipe(&mut self) {
        wipe::words(&mut self.entries);
    }
}

/// Keeps the branch to it a branch: a conditional move would make each step wait for
/// the one before it.
#[cold]
#[inline(never)]
fn unlikely() {}
