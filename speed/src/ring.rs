//! The least that a queue with a worker can cost: numbers through two rings, to a thread on another
//! processor and back.

use core::hint::spin_loop;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rtrb::{Consumer, Producer, RingBuffer};

use crate::processors::{self, Pinned};
use crate::results::Point;
use crate::row::{Arena, Batches, Row, Workload};
use crate::verify::Defect;

/// Ends a run; it is not answered.
const END: u64 = u64::MAX;

/// The row of `depth` numbers in flight. The caller sets the point's id.
pub(crate) fn row(table: &str, depth: usize) -> Row {
    let point = Point {
        table: table.into(),
        source: "machine".into(),
        api: "ring".into(),
        subject: "null".into(),
        op: "process".into(),
        threads: Some(1),
        ..Point::default()
    };
    let processors = processors::allowed();
    let batches = Batches { multiple: depth, ..Batches::default() };
    let row = Row::new(point, batches, move || {
        let here = processors::allowed();
        Ring::new(depth, processors.iter().copied().find(|cpu| !here.contains(cpu))?)
    });
    Row { helpers: 1, ..row }
}

/// Rings to a thread that adds one to each number.
struct Ring {
    there: Producer<u64>,
    back: Consumer<u64>,
    /// Wakes the thread for a batch, so that it does not disturb other rows.
    wake: Sender<()>,
    depth: usize,
    next: u64,
    /// The sum of all answers.
    sum: u64,
}

impl Ring {
    fn new(depth: usize, processor: usize) -> Option<Self> {
        let (there, requests) = RingBuffer::new(depth + 1);
        let (answers, back) = RingBuffer::new(depth);
        let (wake, woken) = channel();
        let serve = move || serve(requests, answers, &woken);
        // It stays on the processor where it is made.
        let _there = Pinned::to(processor);
        thread::Builder::new().spawn(serve).ok()?;
        Some(Self { there, back, wake, depth, next: 0, sum: 0 })
    }

    fn requests(&mut self, requests: usize) {
        let (mut given, mut done) = (0, 0);
        while done < requests {
            let room = (self.depth - (given - done)).min(requests - given);
            if let Ok(chunk) = self.there.write_chunk_uninit(room) {
                given += chunk.fill_from_iter(self.next..);
                self.next += room as u64;
            }
            let ready = self.back.slots();
            let Ok(chunk) = self.back.read_chunk(ready) else { continue };
            self.sum = chunk.into_iter().fold(self.sum, u64::wrapping_add);
            done += ready;
            if ready == 0 {
                spin_loop();
            }
        }
    }
}

/// Answers until the other side is gone.
fn serve(mut requests: Consumer<u64>, mut answers: Producer<u64>, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        let mut ended = false;
        while !ended && !requests.is_abandoned() {
            let ready = requests.slots();
            if ready == 0 {
                spin_loop();
                continue;
            }
            let Ok(chunk) = requests.read_chunk(ready) else { continue };
            let room = answers.slots().min(ready);
            let Ok(answered) = answers.write_chunk_uninit(room) else { continue };
            let numbers = chunk.into_iter().take_while(|&number| number != END);
            let made = answered.fill_from_iter(numbers.map(|number| number.wrapping_add(1)));
            ended = made < ready;
        }
    }
}

impl Workload for Ring {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.wake.send(()).or(Err(Defect::Failed))?;
        self.requests(self.depth);
        Ok(())
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        self.requests(requests);
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        // There is room for it, because nothing is in flight.
        let _ = self.there.push(END);
        self.sum
    }

    fn check_again(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        let (first, before) = (self.next, self.sum);
        self.begin(arena)?;
        let right = (first..self.next).fold(before, |sum, n| sum.wrapping_add(n + 1));
        match self.digest(arena) == right {
            true => Ok(()),
            false => Err(Defect::Answer),
        }
    }
}
