//! Child processes of the tests, which are this program again, and what they report.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lanecrypt_testing::device::Memory;
use rustix::process::{Signal, set_parent_process_death_signal};

use super::roles;

/// The role of a child process, its number, the daemon's socket, and the file of its board.
const ROLE: &str = "LANECRYPT_ATTACK_ROLE";
const NUMBER: &str = "LANECRYPT_ATTACK_NUMBER";
const SOCKET: &str = "LANECRYPT_ATTACK_SOCKET";
const BOARD: &str = "LANECRYPT_ATTACK_BOARD";

/// The test that a child process runs.
const TEST: &str = "attack::children::a_child_plays_its_role";

/// The classes of times: eight for each power of two.
const CLASSES: usize = 8 * 64;

/// A word that a child process shares with the test.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    /// Not zero if the child is to end.
    Stop,
    /// Not zero when the attack has begun.
    Ready,
    /// The number of answers that the child has got.
    Done,
    /// The number of attempts that the system or the daemon has refused.
    Refused,
    /// The longest time of an answer in nanoseconds.
    Longest,
}

/// What a child process reports, in memory that it shares with the test.
#[derive(Debug)]
pub(crate) struct Board(Memory);

impl Board {
    fn map(path: &Path) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(path).expect("it was created");
        Self(Memory::map(file).expect("it can be mapped"))
    }

    fn cell(&self, cell: Cell) -> &AtomicU64 {
        self.0.cell(cell as usize)
    }

    fn class(&self, class: usize) -> &AtomicU64 {
        self.0.cell(16 + class.min(CLASSES - 1))
    }

    pub(crate) fn get(&self, cell: Cell) -> u64 {
        self.cell(cell).load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, cell: Cell, value: u64) {
        self.cell(cell).store(value, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, cell: Cell, count: u64) {
        self.cell(cell).fetch_add(count, Ordering::Relaxed);
    }

    /// Counts an answer that took so long.
    pub(crate) fn count(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(8);
        // The power of two, and the three bits below the highest.
        let power = nanoseconds.ilog2();
        let class = power as usize * 8 + (nanoseconds >> (power - 3) & 7) as usize;
        self.class(class).fetch_add(1, Ordering::Relaxed);
        self.cell(Cell::Longest).fetch_max(nanoseconds, Ordering::Relaxed);
        self.add(Cell::Done, 1);
    }

    /// The numbers of answers by their times.
    pub(crate) fn times(&self) -> Vec<u64> {
        (0..CLASSES).map(|class| self.class(class).load(Ordering::Relaxed)).collect()
    }
}

/// The upper bound of the times of a class in nanoseconds.
pub(crate) fn bound(class: usize) -> f64 {
    let power = i32::try_from(class / 8).expect("below 64");
    2_f64.powi(power) * (9.0 + (class % 8) as f64) / 8.0
}

/// What a child process knows.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) socket: PathBuf,
    pub(crate) board: Board,
    /// A seed, or how many.
    pub(crate) number: u64,
}

impl Post {
    pub(crate) fn stops(&self) -> bool {
        self.board.get(Cell::Stop) != 0
    }

    pub(crate) fn is_ready(&self) {
        self.board.set(Cell::Ready, 1);
    }
}

/// A child process, which is killed in the end.
#[derive(Debug)]
pub(crate) struct Spawned {
    role: String,
    child: Child,
    board: Board,
}

impl Spawned {
    /// Starts a child with a role, a client of this socket. Its board is a file in this folder.
    pub(crate) fn new(role: &str, number: u64, socket: &Path, folder: &Path) -> Self {
        static NAMES: AtomicU64 = AtomicU64::new(0);
        let path = folder.join(format!("board-{}", NAMES.fetch_add(1, Ordering::Relaxed)));
        fs::write(&path, vec![0; 8 * (16 + CLASSES)]).expect("it can be written");
        let board = Board::map(&path);
        let mut command = Command::new(std::env::current_exe().expect("it is known"));
        command.args(["--exact", TEST, "--quiet", "--test-threads", "1"]);
        command.env(ROLE, role).env(NUMBER, number.to_string());
        command.env(SOCKET, socket).env(BOARD, &path).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().expect("it can be run");
        Self { role: role.to_owned(), child, board }
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    pub(crate) fn done(&self) -> u64 {
        self.board.get(Cell::Done)
    }

    /// Whether its attack has begun.
    ///
    /// # Panics
    ///
    /// It has failed.
    pub(crate) fn check_ready(&mut self) -> bool {
        let is_ready = self.board.get(Cell::Ready) != 0;
        assert!(is_ready || !self.check_ended(), "{}: it ended before it began", self.role);
        is_ready
    }

    /// Whether it has ended.
    ///
    /// # Panics
    ///
    /// It has failed.
    pub(crate) fn check_ended(&mut self) -> bool {
        let status = self.child.try_wait().expect("it was started here");
        assert!(status.is_none_or(|status| status.success()), "{} has failed", self.role);
        status.is_some()
    }

    /// Ends it at once, wherever it is.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().expect("it was started here");
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Does nothing unless this process is a child.
#[test]
fn a_child_plays_its_role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    // It ends with the test that has started it, even if that fails.
    set_parent_process_death_signal(Some(Signal::KILL)).expect("it may be asked for");
    let path = |name| PathBuf::from(std::env::var_os(name).expect("the parent sets it"));
    let number = std::env::var(NUMBER).ok().and_then(|text| text.parse().ok());
    let post = Post {
        socket: path(SOCKET),
        board: Board::map(&path(BOARD)),
        number: number.expect("the parent sets it"),
    };
    roles::play(&role, &post);
}
