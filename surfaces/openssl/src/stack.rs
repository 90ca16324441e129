//! A stack for operations that need more than OpenSSL gives: asynchronous jobs have 32 KiB, without
//! a page that guards them.

use core::cell::Cell;

use corosensei::on_stack;
use corosensei::stack::DefaultStack;

/// Room for operations in eight lanes. What is not touched takes no memory.
const SIZE: usize = 512 << 10;

thread_local! {
    static STACK: Cell<Option<DefaultStack>> = const { Cell::new(None) };
}

/// Calls a function on a stack of the thread's own. None if there is no memory for it.
pub(crate) fn with_room<T>(work: impl FnOnce() -> T) -> Option<T> {
    // A thread that ends, and a call within a call, get another one.
    let kept = STACK.try_with(Cell::take).ok().flatten();
    let mut stack = kept.or_else(|| DefaultStack::new(SIZE).ok())?;
    let done = on_stack(&mut stack, work);
    let _ = STACK.try_with(|kept| kept.set(Some(stack)));
    Some(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes more memory than a job has.
    fn deep(depth: usize) -> usize {
        let page = core::hint::black_box([depth; 512]);
        if depth == 0 { 0 } else { deep(depth - 1) + page[depth] / depth }
    }

    #[test]
    fn there_is_room() {
        assert_eq!(with_room(|| deep(60)), Some(60));
        assert_eq!(with_room(|| with_room(|| deep(60))), Some(Some(60)));
        assert!(STACK.with(|kept| kept.take().is_some()));
    }
}
