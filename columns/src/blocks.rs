//! Rows in blocks, and blocks among threads.
//!
//! A block is one batch of the engine, and its nonces are drawn together. Threads take pieces of 64
//! blocks from a common list; the caller's thread is one of them.

use core::mem;
use core::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::Error;

/// The number of rows that are read and served as one batch: that of the widest lanes.
pub(crate) const BLOCK: usize = 256;

/// The rows of a piece for one thread: enough to make starting a thread cheap in comparison.
const PIECE: usize = 64 * BLOCK;

/// The cells of a block; `None` for each NULL.
pub(crate) type Cells<'a> = [Option<&'a [u8]>];

/// Rows that are served together, and the output that they fill.
pub(crate) struct Piece<'o> {
    pub(crate) rows: Range<usize>,
    pub(crate) out: &'o mut [u8],
}

/// The blocks of some rows.
pub(crate) fn blocks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(BLOCK).map(move |first| first..end.min(first + BLOCK))
}

/// Divides all rows into pieces. The output of row n begins at `position(n)`.
pub(crate) fn pieces(
    rows: usize,
    mut out: &mut [u8],
    position: impl Fn(usize) -> usize,
) -> Result<Vec<Piece<'_>>, Error> {
    let mut pieces = Vec::new();
    // The number of values without bytes may exceed the memory.
    pieces.try_reserve_exact(rows.div_ceil(PIECE)).map_err(|_| Error::Memory)?;
    for first in (0..rows).step_by(PIECE) {
        let rows = first..rows.min(first + PIECE);
        let bytes = position(rows.end) - position(first);
        let (own, rest) = mem::take(&mut out).split_at_mut(bytes);
        out = rest;
        pieces.push(Piece { rows, out: own });
    }
    Ok(pieces)
}

/// Processes each piece, in up to `threads` threads, including the caller's; in fewer if the system
/// cannot create as many.
///
/// # Errors
///
/// That of the first piece that failed.
pub(crate) fn share<T: Send, E: Send>(
    pieces: Vec<Piece<'_>>,
    threads: usize,
    work: impl Fn(Piece<'_>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let helpers = threads.min(pieces.len()).saturating_sub(1);
    if helpers == 0 {
        return pieces.into_iter().map(work).collect();
    }
    let mut done: Vec<_> = pieces.iter().map(|_| None).collect();
    let waiting = Mutex::new(pieces.into_iter().zip(&mut done));
    let run = || {
        loop {
            // The lock is held for this statement only.
            let Some((piece, place)) = lock(&waiting).next() else { break };
            *place = Some(work(piece));
        }
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    drop(waiting);
    done.into_iter().flatten().collect()
}

/// A thread that panics holds no lock, and no other thread has its pieces.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_block() {
        let lengths = |rows| blocks(rows).map(|block| block.len()).collect::<Vec<_>>();
        assert_eq!(lengths(0..0), [0; 0]);
        assert_eq!(lengths(0..BLOCK), [BLOCK]);
        assert_eq!(lengths(7..BLOCK + 8), [BLOCK, 1]);
    }

    #[test]
    fn pieces_fill_the_output() {
        let rows = 2 * PIECE + 5;
        for threads in [1, 2, 3, 100] {
            let mut out = vec![0; 3 * rows];
            let cut = pieces(rows, &mut out, |row| 3 * row).expect("few pieces");
            assert_eq!(cut.len(), 3);
            let sums = share(cut, threads, |piece| {
                assert_eq!(piece.out.len(), 3 * piece.rows.len());
                piece.out.fill(1);
                Ok::<_, ()>(piece.rows.len())
            });
            assert_eq!(sums, Ok(vec![PIECE, PIECE, 5]));
            assert!(out.iter().all(|&byte| byte == 1));
        }
    }

    #[test]
    fn more_rows_than_memory_has_room_for_are_refused() {
        assert_eq!(pieces(usize::MAX, &mut [], |_| 0).map(|_| ()), Err(Error::Memory));
    }

    #[test]
    fn the_first_error_counts() {
        for threads in [1, 4] {
            let cut = pieces(4 * PIECE, &mut [], |_| 0).expect("few pieces");
            let outcome = share(cut, threads, |piece| match piece.rows.start / PIECE {
                0 => Ok(()),
                number => Err(number),
            });
            assert_eq!(outcome, Err(1));
        }
    }
}
