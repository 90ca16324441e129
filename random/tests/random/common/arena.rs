//! Memory shared by forked processes, in which each of them writes what it drew.

use core::sync::atomic::{AtomicU32, Ordering};

use super::drawer::Drawer;
use super::windows;
use lanecrypt_testing::sys;

/// Words that each process draws.
const WORDS: usize = 1024;
/// The fills that each process draws besides.
const FILLS: [usize; 6] = [16, 1, 32, 3, 64, 200];
/// Bytes of all of it.
const SLOT: usize = 4 * WORDS + 316;
const _: () = assert!(FILLS[0] + FILLS[1] + FILLS[2] + FILLS[3] + FILLS[4] + FILLS[5] == 316);

/// Shared memory for the draws of a number of processes.
#[derive(Clone, Copy)]
pub(crate) struct Arena {
    memory: *mut u8,
    slots: usize,
    used: &'static AtomicU32,
}

// SAFETY: each slot is given to one thread of one process, by the shared counter.
unsafe impl Sync for Arena {}
// SAFETY: as above.
unsafe impl Send for Arena {}

impl Arena {
    /// Room for the draws of `slots` processes.
    pub(crate) fn new(slots: usize) -> Self {
        Self { memory: sys::shared(slots * SLOT), slots, used: sys::shared_counter() }
    }

    /// How many times somebody drew.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Acquire) as usize
    }

    /// Draws words and fills into the next slot. Safe in a signal handler.
    pub(crate) fn draw(&self, drawer: &dyn Drawer) {
        let slot = self.used.fetch_add(1, Ordering::AcqRel) as usize;
        if slot >= self.slots {
            sys::exit(99);
        }
        let slot = self.memory.wrapping_add(slot * SLOT);
        // SAFETY: the slot lies in the mapping, and the counter gives it to nobody else.
        let slot = unsafe { core::slice::from_raw_parts_mut(slot, SLOT) };
        let (words, mut fills) = slot.split_at_mut(4 * WORDS);
        for (i, place) in words.chunks_exact_mut(8).enumerate() {
            if i % 2 == 0 {
                place[..4].copy_from_slice(&drawer.u32().to_ne_bytes());
                place[4..].copy_from_slice(&drawer.u32().to_ne_bytes());
            } else {
                place.copy_from_slice(&drawer.u64().to_ne_bytes());
            }
        }
        for length in FILLS {
            let (now, later) = fills.split_at_mut(length);
            drawer.fill(now);
            fills = later;
        }
    }

    /// What everybody drew.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: so much of the mapping was handed out, and all processes are done.
        unsafe { core::slice::from_raw_parts(self.memory, self.used().min(self.slots) * SLOT) }
    }

    /// Whether nothing was drawn twice.
    pub(crate) fn check(&self) -> Result<(), String> {
        windows::unique([self.bytes()])
            .map_err(|fault| format!("{fault} (a process draws {SLOT} bytes)"))
    }
}
