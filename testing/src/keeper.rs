//! An allocator that keeps a copy of what is freed.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::RefCell;

use crate::counting::Counting;

/// The allocator of a test that looks at freed memory. It counts its calls, too.
pub struct Keeper;

thread_local! {
    /// What was freed since [`kept`] began. It has its room before, so that it never allocates.
    static FREED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// What `call` frees, as it gives it back.
pub fn kept(call: impl FnOnce()) -> Vec<u8> {
    let room = Vec::with_capacity(1 << 20);
    FREED.with(|freed| *freed.borrow_mut() = Some(room));
    call();
    FREED.with(|freed| freed.borrow_mut().take()).expect("it was put there")
}

// SAFETY: `Counting` does all of it. What grows or shrinks is allocated, copied and freed, which
// the trait does by default.
unsafe impl GlobalAlloc for Keeper {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller vouches for.
        unsafe { Counting.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // At the end of a thread there is no such value any more.
        let _ = FREED.try_with(|freed| {
            if let Ok(mut freed) = freed.try_borrow_mut()
                && let Some(freed) = freed.as_mut()
            {
                assert!(freed.len() + layout.size() <= freed.capacity(), "too much is freed");
                // SAFETY: the address is within the block, which is freed only below.
                let byte = |i| unsafe { block.wrapping_add(i).read_volatile() };
                freed.extend((0..layout.size()).map(byte));
            }
        });
        // SAFETY: what the caller vouches for.
        unsafe { Counting.dealloc(block, layout) }
    }
}
