//! Instructions that requests take, counted one by one: exact, and the same in every run of a
//! program file on any processor that has the instruction set. A cycle costs what the machine makes
//! of it; an instruction more is a change of the code.
//!
//! A child makes the requests of a row, and this program lets it take one step after the other.
//! That needs no counters, which virtual machines seldom have. Each row has a child of its own, so
//! that the addresses of its buffers do not depend on the rows counted before.

use core::fmt;
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use lanecrypt_kernels::{Isa, Level};
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::ciphers::keep_built_in_lanes;
use crate::depth::Depth;
use crate::glob::Glob;
use crate::options::{Options, Peers};
use crate::peer_set::PeerSet;
use crate::processors::{self, Pinned};
use crate::row::{Arena, Row};
use crate::tables::{packets, random};

/// The ids of the rows that are counted: one request of each, or as many as are handed over
/// together.
const ROWS: [&str; 40] = [
    "packets/lanecrypt/batch/aes-128-cbc+hmac-sha256/seal/64/b8",
    "packets/lanecrypt/batch/aes-128-cbc/encrypt/64/b8",
    "packets/lanecrypt/batch/aes-128-gcm/seal/64/b8",
    "packets/lanecrypt/batch/aes-256-gcm-siv/seal/64/b8",
    "packets/lanecrypt/batch/chacha20-poly1305/seal/64/b16",
    "packets/lanecrypt/batch/chacha20-poly1305/seal/64/b8",
    "packets/lanecrypt/cipher/3des-cbc/encrypt/64",
    "packets/lanecrypt/cipher/aes-128-cbc+hmac-sha256/open/64",
    "packets/lanecrypt/cipher/aes-128-cbc+hmac-sha256/seal/64",
    "packets/lanecrypt/cipher/aes-128-cbc/decrypt/64",
    "packets/lanecrypt/cipher/aes-128-cbc/encrypt/64",
    "packets/lanecrypt/cipher/aes-128-ctr/encrypt/1500",
    "packets/lanecrypt/cipher/aes-128-ctr/encrypt/64",
    "packets/lanecrypt/cipher/aes-128-gcm/open/64",
    "packets/lanecrypt/cipher/aes-128-gcm/seal/1500",
    "packets/lanecrypt/cipher/aes-128-gcm/seal/64",
    "packets/lanecrypt/cipher/aes-128-gcm/seal/64/fresh",
    "packets/lanecrypt/cipher/aes-128-xts/decrypt/512",
    "packets/lanecrypt/cipher/aes-256-gcm-siv/open/64",
    "packets/lanecrypt/cipher/aes-256-gcm-siv/seal/64",
    "packets/lanecrypt/cipher/aes-256-gcm-siv/seal/64/fresh",
    "packets/lanecrypt/cipher/aes-256-gcm/open/64",
    "packets/lanecrypt/cipher/aes-256-gcm/seal/64",
    "packets/lanecrypt/cipher/chacha20-ietf/encrypt/1500",
    "packets/lanecrypt/cipher/chacha20-ietf/encrypt/64",
    "packets/lanecrypt/cipher/chacha20-poly1305/open/1500",
    "packets/lanecrypt/cipher/chacha20-poly1305/open/64",
    "packets/lanecrypt/cipher/chacha20-poly1305/seal/1500",
    "packets/lanecrypt/cipher/chacha20-poly1305/seal/64",
    "packets/lanecrypt/cipher/chacha20-poly1305/seal/64/fresh",
    "packets/lanecrypt/cipher/serpent-128-cbc/decrypt/64",
    "packets/lanecrypt/cipher/serpent-128-cbc/encrypt/64",
    "packets/lanecrypt/session/aes-128-cbc/encrypt/64",
    "packets/lanecrypt/session/aes-128-gcm/seal/64",
    "packets/lanecrypt/session/chacha20-poly1305/seal/64",
    "packets/lanecrypt/session/null/encrypt/64",
    "random/lanecrypt/per-thread/aes-256-ctr/u32/4/t1",
    "random/lanecrypt/held/chacha20/fill/1024/t1",
    "random/lanecrypt/per-thread/chacha20/fill/32/t1",
    "random/lanecrypt/per-thread/chacha20/u32/4/t1",
];

/// Makes glibc execute the same instructions on each processor: the same copy of `memcpy`, and a
/// heap that neither grows nor shrinks in the middle. Other C libraries ignore it.
const TUNABLES: &str = "glibc.malloc.top_pad=67108864:glibc.malloc.trim_threshold=1073741824:\
    glibc.malloc.mmap_threshold=1073741824:\
    glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512BW,-AVX512VL,-AVX_Fast_Unaligned_Load,\
    -BMI2,-ERMS,-FSRM,-SSSE3";

/// What a budget may be exceeded by, in per cent: compilers differ.
const TOLERANCE: u64 = 2;

/// Instructions by level and row: of how many requests, and how many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<(String, String), (u64, u64)>);

/// Counts the rows, or those that fit, at the process's level and at each lower one. `command`
/// starts a process that calls [`counted`] with its id.
///
/// # Errors
///
/// If the child cannot be started or traced, as in some containers, or a row fails.
pub fn count(only: Option<&Glob>, command: impl Fn(&str) -> Command + Sync) -> io::Result<Counts> {
    let own = Isa::detect();
    let levels = Level::built().iter().filter(|&&level| own.has(level));
    let ids = ROWS.into_iter().filter(|id| only.is_none_or(|only| only.matches(id)));
    let jobs = Mutex::new(levels.flat_map(|level| ids.clone().map(move |id| (level.name(), id))));
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    // Steps wake this thread and the child in turn, so that both are on one processor.
    let of_processor = |processor| {
        let _pinned = Pinned::to(processor);
        let mut counts = Counts::default();
        while let Some((level, id)) = next() {
            let count = of_child(command(id), level)?;
            counts.0.insert((level.to_owned(), id.to_owned()), count);
        }
        Ok(counts)
    };
    thread::scope(|scope| {
        let workers =
            processors::allowed().into_iter().map(|it| scope.spawn(move || of_processor(it)));
        let workers: Vec<_> = workers.collect();
        let mut all = Counts::default();
        for worker in workers {
            let counts: io::Result<Counts> =
                worker.join().map_err(|_| io::Error::other("a thread panicked"))?;
            all.0.extend(counts?.0);
        }
        Ok(all)
    })
}

/// Makes the requests of a row between two stops, in a process that [`count`] has started.
///
/// # Errors
///
/// If it is not traced, there is no such row, or it fails.
pub fn counted(id: &str) -> io::Result<()> {
    let failed = || io::Error::other(format!("{id} failed"));
    keep_built_in_lanes();
    ptrace::traceme()?;
    let stop = || raise(Signal::SIGSTOP);
    let row = rows().into_iter().find(|row| row.point.id == id).ok_or_else(failed)?;
    let mut arena = Arena::new();
    let mut work = (row.make)().ok_or_else(failed)?;
    let requests = row.batches.multiple;
    work.check(&mut arena).map_err(|_| failed())?;
    work.begin(&mut arena).map_err(|_| failed())?;
    // The first calls look things up, and leave the heap otherwise than they found it.
    for requests in [0, requests].repeat(4) {
        work.run(&mut arena, requests);
    }
    // Without requests there is what comes before the first.
    for requests in [0, requests] {
        stop()?;
        work.run(&mut arena, requests);
        stop()?;
    }
    writeln!(io::stdout(), "{requests}")
}

/// The rows in the order of the tables.
fn rows() -> Vec<Row> {
    let options = Options { peers: Peers::None, ..Options::default() };
    let Ok(peers) = PeerSet::new(&options) else { return Vec::new() };
    let tables = [packets::TABLE, random::TABLE].into_iter();
    let mut rows: Vec<Row> = tables.flat_map(|it| (it.rows)(&peers, Depth::Normal)).collect();
    rows.retain(|row| ROWS.contains(&row.point.id.as_str()));
    rows
}

/// The requests of a child, and the instructions that they take.
fn of_child(mut command: Command, level: &str) -> io::Result<(u64, u64)> {
    // The environment lies on the stack, whose frames must begin at the same place in each run.
    command.env_clear().env("GLIBC_TUNABLES", TUNABLES).env("LANECRYPT_ISA", level);
    // At the same addresses in each run, if that is permitted; some containers refuse it.
    let usual = personality::get();
    if let Ok(usual) = usual {
        let _ = personality::set(usual | Persona::ADDR_NO_RANDOMIZE);
    }
    let child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn();
    if let Ok(usual) = usual {
        let _ = personality::set(usual);
    }
    let mut child = child?;
    let pid = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    let counts = stepped(pid);
    if counts.is_err() {
        // It has ended, or is of no more use.
        let _ = child.kill();
        let _ = child.wait();
    }
    let [before, count] = counts?[..] else {
        return Err(io::Error::other("the counted process stopped at other places"));
    };
    let mut requests = String::new();
    child
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("no output"))?
        .read_to_string(&mut requests)?;
    let requests = requests.trim_end().parse().map_err(io::Error::other)?;
    Ok((requests, count.saturating_sub(before)))
}

/// Lets a child run to each first stop, and step by step to each second one; the steps of each
/// pair.
fn stepped(pid: Pid) -> io::Result<Vec<u64>> {
    let mut counts = Vec::new();
    // Of the pair that is open.
    let mut steps = None;
    loop {
        match waitpid(pid, None)? {
            WaitStatus::Exited(_, 0) => return Ok(counts),
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                return Err(io::Error::other("the counted process failed"));
            }
            WaitStatus::Stopped(_, Signal::SIGSTOP) => match steps.take() {
                None => {
                    steps = Some(0);
                    ptrace::step(pid, None)?;
                }
                Some(count) => {
                    counts.push(count);
                    ptrace::cont(pid, None)?;
                }
            },
            WaitStatus::Stopped(_, Signal::SIGTRAP) => match &mut steps {
                Some(count) => {
                    *count += 1;
                    ptrace::step(pid, None)?;
                }
                None => ptrace::cont(pid, None)?,
            },
            WaitStatus::Stopped(_, other) => match steps {
                Some(_) => ptrace::step(pid, other)?,
                None => ptrace::cont(pid, other)?,
            },
            _ => ptrace::cont(pid, None)?,
        }
    }
}

impl Counts {
    /// Reads what [`Counts`] writes: `LEVEL ROW REQUESTS INSTRUCTIONS` a line; `#` begins a
    /// comment.
    ///
    /// # Errors
    ///
    /// The first line that is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut counts = Self::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let parsed = match words[..] {
                [level, id, requests, count] => requests
                    .parse()
                    .ok()
                    .zip(count.parse().ok())
                    .map(|numbers| ((level.to_owned(), id.to_owned()), numbers)),
                _ => None,
            };
            let (row, numbers) =
                parsed.ok_or_else(|| format!("no count of instructions: {line}"))?;
            counts.0.insert(row, numbers);
        }
        Ok(counts)
    }

    /// The rows that take more instructions than their budget, of those that both have, in words;
    /// and the rows without a budget.
    #[must_use]
    pub fn over(&self, budgets: &Self) -> Vec<String> {
        let lines = self.0.iter().filter_map(|((level, id), &(requests, count))| {
            let Some(&(of, budget)) = budgets.0.get(&(level.clone(), id.clone())) else {
                return Some(format!("{level} {id}: no budget"));
            };
            let per_cent = |by| count * of * 100 > budget * requests * (100 + by);
            per_cent(TOLERANCE).then(|| {
                format!(
                    "{level} {id}: {count} instructions for {requests} requests, budget {budget}"
                )
            })
        });
        lines.collect()
    }

    /// The number of rows that were counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes over the counts of the levels that were not counted here.
    #[must_use]
    pub fn with_rest_of(mut self, other: Self) -> Self {
        let levels: Vec<String> = self.0.keys().map(|(level, _)| level.clone()).collect();
        for (row, count) in other.0 {
            if !levels.contains(&row.0) {
                self.0.insert(row, count);
            }
        }
        self
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# level row requests instructions-of-all")?;
        for ((level, id), (requests, count)) in &self.0 {
            writeln!(f, "{level:<9} {id:<56} {requests:>4} {count:>9}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_are_written() {
        let counts =
            Counts::parse("# a\navx2 t/x/1 8 100\nportable t/x/1 8 900\n").expect("counts");
        assert_eq!(Counts::parse(&counts.to_string()).as_ref(), Ok(&counts));
        assert_eq!(counts.len(), 2);
        assert!(Counts::parse("avx2 t/x/1 8").is_err_and(|line| line.contains("t/x/1")));
    }

    #[test]
    fn more_than_the_budget_is_said() {
        let budgets = Counts::parse("avx2 a 8 1000\navx2 b 8 1000\nssse3 a 8 1").expect("counts");
        let counts = Counts::parse("avx2 a 8 1020\navx2 b 16 2042\navx2 c 8 1").expect("counts");
        let over = counts.over(&budgets);
        assert_eq!(over.len(), 2, "{over:?}");
        assert!(over[0].starts_with("avx2 b: 2042") && over[1] == "avx2 c: no budget", "{over:?}");
    }

    #[test]
    fn levels_that_are_not_here_keep_their_budgets() {
        let old = Counts::parse("avx2 a 8 1000\navx512 a 8 500\navx2 gone 8 1").expect("counts");
        let new = Counts::parse("avx2 a 8 900").expect("counts").with_rest_of(old);
        assert_eq!(new, Counts::parse("avx2 a 8 900\navx512 a 8 500").expect("counts"));
    }

    #[test]
    fn every_row_is_there() {
        let rows = rows();
        let ids: Vec<&str> = rows.iter().map(|row| row.point.id.as_str()).collect();
        let missing: Vec<&&str> = ROWS.iter().filter(|id| !ids.contains(id)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(ids.len(), ROWS.len());
    }
}
