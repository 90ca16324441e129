//! Generates the output in pieces, on one thread or several, and passes them on in order.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use zeroize::Zeroizing;

use super::output::Broken;
use super::plan::Plan;

/// Buffers of each producer: one is filled while the other is written.
const BUFFERS: usize = 2;

/// Generates the output of `plan` and passes it to `write`, piece by piece.
pub(crate) fn run(
    plan: &Plan,
    threads: usize,
    mut write: impl FnMut(&[u8]) -> Result<(), Broken>,
) -> Result<(), Broken> {
    // No more threads than there are pieces.
    let threads = (1..threads as u64).take_while(|&i| plan.piece(i).is_some()).count() + 1;
    if threads > 1 {
        return parallel(plan, threads, write);
    }
    let mut buffer = Buffer::new(plan);
    for (len, last) in (0..).map_while(|index| plan.piece(index)) {
        write(buffer.fill(plan, len, last)?)?;
    }
    Ok(())
}

/// Uses `threads` producers in turn; the caller's thread writes.
fn parallel(
    plan: &Plan,
    threads: usize,
    mut write: impl FnMut(&[u8]) -> Result<(), Broken>,
) -> Result<(), Broken> {
    thread::scope(|scope| {
        let mut producers = Vec::with_capacity(threads);
        for first in 0..threads {
            let (give, full) = channel();
            let (give_back, empty) = channel();
            for _ in 0..BUFFERS {
                // This cannot fail: the receiver is in this function.
                let _ = give_back.send(Buffer::new(plan));
            }
            let work = move || produce(plan, first, threads, &give, &empty);
            thread::Builder::new().spawn_scoped(scope, work).map_err(Broken::Thread)?;
            producers.push((full, give_back));
        }
        // An early return drops the channels, which ends the producers.
        for (full, give_back) in producers.iter().cycle() {
            let Ok(result) = full.recv() else { break };
            let buffer: Buffer = result?;
            write(buffer.filled())?;
            // A producer that has made its last piece takes nothing back.
            let _ = give_back.send(buffer);
        }
        Ok(())
    })
}

/// Generates every `step`th piece, beginning with `first`, until the last piece or until the
/// receiver is gone.
fn produce(
    plan: &Plan,
    first: usize,
    step: usize,
    give: &Sender<Result<Buffer, Broken>>,
    empty: &Receiver<Buffer>,
) {
    let pieces = (first as u64..).step_by(step).map_while(|index| plan.piece(index));
    for (len, last) in pieces {
        let Ok(mut buffer) = empty.recv() else { return };
        let result = buffer.fill(plan, len, last).map(|_| ());
        if give.send(result.map(|()| buffer)).is_err() {
            return;
        }
    }
}

/// Room for one piece; wiped when it is dropped.
struct Buffer {
    /// Random bytes before they are encoded; empty if they are written raw.
    raw: Zeroizing<Vec<u8>>,
    out: Zeroizing<Vec<u8>>,
    filled: usize,
}

impl Buffer {
    fn new(plan: &Plan) -> Self {
        let len = plan.piece(0).map_or(0, |(len, _)| len);
        let text = plan.format.is_text();
        Self {
            raw: Zeroizing::new(vec![0; if text { len } else { 0 }]),
            out: Zeroizing::new(vec![0; plan.format.encoded(len) + usize::from(text)]),
            filled: 0,
        }
    }

    /// Generates a piece of `len` random bytes and returns it in its output form.
    fn fill(&mut self, plan: &Plan, len: usize, last: bool) -> Result<&[u8], Broken> {
        self.filled = plan.format.encoded(len);
        let out = &mut self.out[..self.filled];
        if plan.format.is_text() {
            plan.source.fill(&mut self.raw[..len]).map_err(Broken::Entropy)?;
            plan.format.encode(&self.raw[..len], out);
            if last {
                self.out[self.filled] = b'\n';
                self.filled += 1;
            }
        } else {
            plan.source.fill(out).map_err(Broken::Entropy)?;
        }
        Ok(self.filled())
    }

    fn filled(&self) -> &[u8] {
        &self.out[..self.filled]
    }
}
