//! The sequence with an area that the kernel does not know: the tests interrupt it themselves.

use core::alloc::Layout;

use super::*;
use crate::linux::rseq_area::Fields;
use crate::linux::table::Place;

#[cfg(all(target_arch = "aarch64", target_pointer_width = "64"))]
mod interruptions;

/// Processors of the table, of which the last has no page.
const PROCESSORS: usize = 3;

/// A table, and the area of a thread that draws.
struct Machine {
    table: &'static Table<()>,
    area: &'static Fields,
}

impl Machine {
    fn new() -> Self {
        let area = Box::leak(Box::new(Fields::on(0)));
        let entries = zeroed::<[Entry<()>; PROCESSORS]>();
        for entry in &entries[..PROCESSORS - 1] {
            for place in &entry.own {
                let page = core::ptr::from_ref(zeroed::<Page<()>>()).cast_mut();
                place.page.publish(page).expect("there is none yet");
            }
        }
        let table = Box::leak(Box::new(Table::new()));
        table.entries.agree(PROCESSORS);
        // SAFETY: the entries are never freed, and this is their number.
        assert!(unsafe { table.entries.publish(entries.as_ptr().cast_mut()) });
        let area_at = core::ptr::from_ref(area).expose_provenance();
        let offset = area_at.wrapping_sub(arch::thread_pointer()).cast_signed();
        table.area.store(offset, Ordering::Release);
        Self { table, area }
    }
}

/// A value that is all zero.
fn zeroed<T>() -> &'static T {
    // SAFETY: the size is not zero.
    let place = unsafe { std::alloc::alloc_zeroed(Layout::new::<T>()) };
    // SAFETY: all zero is a valid page and a valid entry. It is never freed.
    unsafe { place.cast::<T>().as_ref() }.expect("there is memory")
}

#[test]
fn each_page_is_locked_once() {
    // Other processors have no such sequence.
    if arch::unentered() == 0 {
        return;
    }
    let machine = Machine::new();
    let (table, entries) = (machine.table, machine.table.entries());
    for (processor, entry) in entries.iter().enumerate() {
        machine.area.processor.set(processor.try_into().expect("a small number"));
        if processor == PROCESSORS - 1 {
            assert!(lock::<(), 0>(table).is_none() && lock::<(), 1>(table).is_none(), "no page");
            continue;
        }
        let is_own = |place: &Place<()>, which: usize| core::ptr::eq(place, &entry.own[which]);
        let first = lock::<(), 0>(table).expect("it is free");
        assert!(lock::<(), 0>(table).is_none());
        let second = lock::<(), 1>(table).expect("it is another one");
        assert!(lock::<(), 1>(table).is_none());
        assert!(is_own(first.place(), 0) && is_own(second.place(), 1));
        let page_of = |place: &Place<()>| place.page().map(core::ptr::from_ref);
        assert_eq!(page_of(first.place()), Some(core::ptr::from_ref(first.page)));
        assert_eq!(page_of(second.place()), Some(core::ptr::from_ref(second.page)));
        drop(first);
        assert!(lock::<(), 1>(table).is_none() && lock::<(), 0>(table).is_some());
    }
    for none in [PROCESSORS.try_into().expect("a small number"), i32::MAX, -1, i32::MIN] {
        machine.area.processor.set(none);
        assert!(lock::<(), 0>(table).is_none() && lock::<(), 1>(table).is_none(), "{none}");
    }
    let is_locked = |entry: &Entry<()>| entry.is_locked[1].load(Ordering::Relaxed);
    assert!(!entries.iter().any(is_locked), "all were dropped");
}
