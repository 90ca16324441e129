//! The same program run twice, with other secrets, under qemu.
//!
//! Two processes are forked from one, so that all addresses agree. The plugin of qemu
//! (`testing/qemu/plugin.c`) hashes the addresses of the blocks of instructions that they execute
//! and of the memory that they access, between marks. If the hashes differ, both run once more, and
//! the plugin writes each step, up to the first that differs.

use core::ffi::c_long;
use std::io::{self, BufReader, PipeReader, Read};
use std::os::fd::AsRawFd as _;

use crate::secrets::Secrets;
use crate::traces::{Code, Leak};

/// Secrets on which a planted leak is run: so many that some of them go the rare way.
pub(crate) const DRAWS: usize = 2048;

/// A system call that Linux does not have, which the plugin sees.
const MARK: c_long = 10_000;
const PAUSE: c_long = 0;
const RESUME: c_long = 1;
/// Writes four numbers to a file.
const RECORD: c_long = 2;
/// Writes all steps to a file.
const STEPS: c_long = 3;

fn mark(what: c_long, file: c_long) {
    // SAFETY: the kernel knows no call of this number; the plugin reads these numbers only.
    unsafe { libc::syscall(MARK, what, file) };
}

/// Runs `work` untraced, in a traced process too. It must not depend on what is checked.
pub(crate) fn unseen<T>(work: impl FnOnce() -> T) -> T {
    mark(PAUSE, 0);
    let result = work();
    mark(RESUME, 0);
    result
}

/// Traces `run` with two sources of secrets; the first leak.
///
/// The process must have one thread. Errors: whatever `fork` says; a run that fails; no plugin.
pub(crate) fn leaks(code: &Code, run: &dyn Fn(&mut Secrets)) -> io::Result<Vec<Leak>> {
    let start = |is_stepped| {
        // Both at a time, for there may be two processors. Nothing is allocated in between, so that
        // both have the same heap.
        let first = Run::start(run, 0x0123_4567_89ab_cdef, is_stepped)?;
        Ok::<_, io::Error>([first, Run::start(run, 0x7e57_5eed, is_stepped)?])
    };
    let [a, b] = start(false)?;
    if a.record()? == b.record()? {
        return Ok(Vec::new());
    }
    let runs = start(true)?;
    let [mut a, mut b] = [&runs[0], &runs[1]].map(|run| BufReader::new(&run.reader));
    let mut branch = 0;
    loop {
        let [x, y] = [step(&mut a)?, step(&mut b)?];
        let (kind, pointer) = match [x, y] {
            [Some([at, _]), _] if x == y => {
                if at & IS_ACCESS == 0 {
                    branch = at;
                }
                continue;
            }
            [Some([at, _]), Some([other, _])] if at == other && at & IS_ACCESS != 0 => {
                ("address", at & !IS_ACCESS)
            }
            [None, None] => return Err(io::Error::other("two runs differ only at times")),
            _ => ("branch", branch),
        };
        // What is outside of the program's own code has no line there.
        let [function, instruction] = code.at(pointer).unwrap_or_default();
        return Ok(vec![[kind, function, instruction]]);
    }
}

/// In the address of an instruction of a step: it accesses memory. Otherwise it ends a block.
const IS_ACCESS: u64 = 1;

/// The next step: the address of an instruction with [`IS_ACCESS`], and that of what it
/// accesses or of the block that it ends.
fn step(reader: &mut impl Read) -> io::Result<Option<[u64; 2]>> {
    let mut bytes = [0; 16];
    match reader.read_exact(&mut bytes) {
        Ok(()) => {
            let [at, address] = [0, 8].map(|i| bytes[i..].first_chunk().expect("8 bytes"));
            Ok(Some([u64::from_ne_bytes(*at), u64::from_ne_bytes(*address)]))
        }
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// A process that is traced.
struct Run {
    child: libc::pid_t,
    reader: PipeReader,
}

impl Run {
    /// Forks a process that calls `run`.
    fn start(run: &dyn Fn(&mut Secrets), seed: u64, is_stepped: bool) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let file = c_long::from(writer.as_raw_fd());
        // SAFETY: this process has one thread, so the child may do whatever this one may.
        let child = unsafe { libc::fork() };
        if child == -1 {
            return Err(io::Error::last_os_error());
        }
        if child == 0 {
            let mut secrets = Secrets::new(seed);
            if is_stepped {
                mark(STEPS, file);
            }
            mark(RESUME, 0);
            run(&mut secrets);
            mark(RECORD, file);
            // SAFETY: ends the process at once; nothing of it is needed again.
            unsafe { libc::_exit(0) }
        }
        Ok(Self { child, reader })
    }

    /// The plugin's line, once the process has ended.
    fn record(mut self) -> io::Result<String> {
        let mut record = String::new();
        self.reader.read_to_string(&mut record)?;
        let mut status = 0;
        // SAFETY: the status is a valid place for a number.
        if unsafe { libc::waitpid(self.child, &raw mut status, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
        self.child = 0;
        if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
            return Err(io::Error::other(format!("a traced process failed: status {status:#x}")));
        }
        if record.is_empty() || record.starts_with("0 ") {
            return Err(io::Error::other(
                "no trace: `cargo xtask arm64` starts qemu with a plugin",
            ));
        }
        Ok(record)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.child != 0 {
            // SAFETY: the process is a child that has not been waited for.
            unsafe { libc::kill(self.child, libc::SIGKILL) };
            // SAFETY: as above; no status is asked for.
            unsafe { libc::waitpid(self.child, core::ptr::null_mut(), 0) };
        }
    }
}
