//! Unexpanded keys in locked memory, for sessions that may have to be reopened.

use lanecrypt_kernels::{LockedPage, wipe};

/// Keys take whole cells of this many bytes.
const CELL: usize = 64;
const CELLS: usize = LockedPage::LENGTH / CELL;

/// The keys of sessions.
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<Option<Page>>);

#[derive(Debug)]
struct Page {
    memory: LockedPage,
    /// A bit for each cell that is in use.
    used: u64,
}

const _: () = assert!(CELLS == u64::BITS as usize);

/// The place of a key.
#[derive(Debug)]
pub(super) struct Place {
    page: usize,
    cell: usize,
    length: usize,
}

impl Place {
    /// The longest key in bytes; no algorithm has longer ones.
    pub(super) const LONGEST: usize = 256;

    fn cells(&self) -> u64 {
        run_of(self.length.div_ceil(CELL)) << self.cell
    }
}

/// This many bits.
fn run_of(cells: usize) -> u64 {
    (1 << cells) - 1
}

impl Keys {
    /// Copies a key; none if it is too long, or if there is no locked memory for it.
    pub(super) fn keep(&mut self, key: &[u8]) -> Option<Place> {
        if key.len() > Place::LONGEST {
            return None;
        }
        let run = run_of(key.len().div_ceil(CELL));
        let last = CELLS - key.len().div_ceil(CELL);
        let free = |page: &Page| (0..=last).find(|&cell| page.used & run << cell == 0);
        let mut pages = self.0.iter().enumerate();
        let found = pages.find_map(|(at, page)| Some((at, free(page.as_ref()?)?)));
        let (page, cell) = match found {
            Some(found) => found,
            None => (self.another_page()?, 0),
        };
        let place = Place { page, cell, length: key.len() };
        let kept = self.0.get_mut(page)?.as_mut()?;
        kept.used |= place.cells();
        kept.memory.get_mut(cell * CELL..)?.get_mut(..key.len())?.copy_from_slice(key);
        Some(place)
    }

    /// A stored key.
    pub(super) fn read(&self, place: &Place) -> &[u8] {
        let page = self.0.get(place.page).and_then(Option::as_ref);
        let rest = page.and_then(|page| page.memory.get(place.cell * CELL..));
        rest.and_then(|rest| rest.get(..place.length)).unwrap_or_default()
    }

    /// Wipes a key. A page without keys is released.
    pub(super) fn wipe(&mut self, place: &Place) {
        let Some(slot) = self.0.get_mut(place.page) else { return };
        let Some(page) = slot else { return };
        let rest = page.memory.get_mut(place.cell * CELL..).unwrap_or_default();
        wipe::memory(rest.get_mut(..place.length).unwrap_or_default());
        page.used &= !place.cells();
        if page.used == 0 {
            *slot = None;
        }
    }

    fn another_page(&mut self) -> Option<usize> {
        let page = Some(Page { memory: LockedPage::new()?, used: 0 });
        match self.0.iter_mut().position(|page| page.is_none()) {
            Some(at) => {
                *self.0.get_mut(at)? = page;
                Some(at)
            }
            None => {
                self.0.push(page);
                Some(self.0.len() - 1)
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/keys.rs"]
mod tests;
