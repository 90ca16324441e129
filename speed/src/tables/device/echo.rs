//! What requests cost by other ways of the kernel: a pipe, and a process that returns what it gets.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::sync::Arc;

use super::NAME;
use super::daemons::Daemons;
use super::process::{Order, Process};
use super::setting::Setting;
use crate::ciphers::sessions;
use crate::results::Point;
use crate::row::{Arena, Batches, Row, Workload};
use crate::verify::Defect;

/// The entry points.
pub(super) const PIPE: &str = "pipe";
pub(super) const SOCKET: &str = "unix-socket";

/// A write and a read of a pipe by one thread: two system calls and two copies, and no switch.
pub(super) fn pipe_row(size: usize) -> Row {
    row(PIPE, None, size, move || {
        let (reader, writer) = pipe().ok()?;
        Some(Pipe { reader, writer })
    })
}

/// A message to a process that returns it, by a pair of stream sockets.
pub(super) fn socket_row(daemons: &Arc<Daemons>, setting: Setting, size: usize) -> Row {
    let daemons = daemons.clone();
    row(SOCKET, Some(setting), size, move || {
        let mut process = Process::start(daemons.command()).ok()?;
        let processors = setting.of_daemon(daemons.processors());
        process.tell(&Order::Echo { processors }).ok()?;
        Some(process)
    })
}

fn row<W: Way + 'static>(
    api: &str,
    setting: Option<Setting>,
    size: usize,
    make: impl Fn() -> Option<W> + Send + Sync + 'static,
) -> Row {
    let suffix = setting.map_or_else(String::new, |setting| format!("/{}", setting.suffix()));
    let mut point = Point {
        id: format!("{NAME}/kernel/{api}/null/process/{size}{suffix}"),
        table: NAME.into(),
        source: "kernel".into(),
        api: api.into(),
        subject: "null".into(),
        op: "process".into(),
        size: Some(size as u64),
        depth: Some(1),
        processes: Some(1),
        ..Point::default()
    };
    if let Some(setting) = setting {
        setting.describe(&mut point);
    }
    let batches = Batches { shared: setting.is_some(), ..Batches::default() };
    let helpers = setting.map_or(0, Setting::helpers);
    Row { helpers, ..Row::new(point, batches, move || Some(Echo::new(make()?, size))) }
}

/// A way to send bytes and to get them back.
trait Way {
    fn turn(&mut self, out: &[u8], back: &mut [u8]) -> std::io::Result<()>;
}

struct Pipe {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Way for Pipe {
    fn turn(&mut self, out: &[u8], back: &mut [u8]) -> std::io::Result<()> {
        self.writer.write_all(out)?;
        self.reader.read_exact(back)
    }
}

impl Way for Process {
    fn turn(&mut self, out: &[u8], back: &mut [u8]) -> std::io::Result<()> {
        self.stream().write_all(out)?;
        self.stream().read_exact(back)
    }
}

/// Messages that come back as they were sent.
struct Echo<W> {
    way: W,
    out: Vec<u8>,
    back: Vec<u8>,
    round: u64,
}

impl<W: Way> Echo<W> {
    fn new(way: W, size: usize) -> Self {
        Self { way, out: vec![0; size], back: vec![0; size], round: 0 }
    }

    fn requests(&mut self, requests: usize) -> Result<(), Defect> {
        let Self { way, out, back, .. } = self;
        (0..requests).try_for_each(|_| way.turn(out, back)).or(Err(Defect::Failed))
    }
}

impl<W: Way> Workload for Echo<W> {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.round += 1;
        sessions::fill(self.round, &mut self.out);
        self.requests(8)
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        if self.requests(requests).is_err() {
            panic!("an echo failed in the middle of a measurement");
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        sessions::digest(&self.back)
    }

    fn check_again(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        self.back.fill(0);
        self.begin(arena)?;
        if self.back == self.out { Ok(()) } else { Err(Defect::Answer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes with one bit changed.
    struct Liar;

    impl Way for Liar {
        fn turn(&mut self, out: &[u8], back: &mut [u8]) -> std::io::Result<()> {
            back.copy_from_slice(out);
            back[3] ^= 1;
            Ok(())
        }
    }

    #[test]
    fn what_comes_back_is_compared() {
        let mut arena = Arena::new();
        assert_eq!(Echo::new(Liar, 64).check(&mut arena), Err(Defect::Answer));
        let (reader, writer) = pipe().expect("there are descriptors");
        assert_eq!(Echo::new(Pipe { reader, writer }, 64).check(&mut arena), Ok(Vec::new()));
    }
}
