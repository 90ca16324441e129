//! The same program run twice, with other secrets, instruction by instruction.
//!
//! Two processes are forked from one, so that all addresses agree, and single-stepped side by
//! side. Where their instruction pointers part, a branch depended on a secret. Wherever a register
//! differs, it holds a secret; whether the instruction uses it for an address is for the reader of
//! the disassembly to say, `scripts/constant-time.sh`. The processor runs every instruction
//! itself, so this sees what Valgrind does not know.

use std::collections::BTreeMap;
use std::io;

use crate::secrets::Secrets;

/// What two runs had in common.
pub(crate) struct Trace {
    /// Where they parted, if they did.
    pub(crate) parted: Option<u64>,
    /// By instruction pointer: which of [`NAMES`] differed before it, a bit each.
    pub(crate) differed: BTreeMap<u64, u32>,
}

/// General-purpose registers, and two parts of the flags: what conditional jumps read.
///
/// Flags say more than where a jump goes: after a comparison of unequal numbers they differ with
/// the numbers. Increments leave the carry as some older instruction left it.
#[rustfmt::skip]
pub(crate) const NAMES: [&str; 18] = [
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "flags", "carry",
];

const CARRY: u64 = 1;
/// Parity, zero, sign and overflow.
const FLAGS: u64 = 1 << 2 | 1 << 6 | 1 << 7 | 1 << 11;

/// Traces `run` with two sources of secrets.
///
/// The process must have one thread. Errors: whatever `fork` and `ptrace` say.
pub(crate) fn compare(run: impl Fn(&mut Secrets)) -> io::Result<Trace> {
    let mut runs = [Run::start(&run, 0x0123_4567_89ab_cdef)?, Run::start(&run, 0x7e57_5eed)?];
    let mut trace = Trace { parted: None, differed: BTreeMap::new() };
    loop {
        let [a, b] = &mut runs;
        let (x, y) = match (a.registers()?, b.registers()?) {
            (None, None) => return Ok(trace),
            (Some(x), Some(y)) => (x, y),
            (Some((pointer, _)), None) | (None, Some((pointer, _))) => {
                trace.parted = Some(pointer);
                return Ok(trace);
            }
        };
        if x.0 != y.0 {
            // The last instruction that both ran is the branch.
            trace.parted = a.last;
            return Ok(trace);
        }
        let bits = (0..NAMES.len()).filter(|&i| x.1[i] != y.1[i]).fold(0, |bits, i| bits | 1 << i);
        if bits != 0 {
            *trace.differed.entry(x.0).or_default() |= bits;
        }
        // Both at a time, for there may be two processors.
        a.step(x.0)?;
        b.step(y.0)?;
        a.wait()?;
        b.wait()?;
    }
}

/// A process that is stepped.
struct Run {
    child: libc::pid_t,
    ended: bool,
    /// The instruction that was run last.
    last: Option<u64>,
}

impl Run {
    /// Forks a process that stops before it calls `run`.
    fn start(run: &impl Fn(&mut Secrets), seed: u64) -> io::Result<Self> {
        // SAFETY: this process has one thread, so the child may do whatever this one may.
        let child = unsafe { libc::fork() };
        if child == -1 {
            return Err(io::Error::last_os_error());
        }
        if child != 0 {
            let mut started = Self { child, ended: false, last: None };
            started.wait()?;
            return if started.ended {
                Err(io::Error::other("ptrace is not permitted here"))
            } else {
                Ok(started)
            };
        }
        if ptrace(libc::PTRACE_TRACEME, 0, 0).is_ok() {
            // SAFETY: stopping itself has no preconditions.
            unsafe { libc::raise(libc::SIGSTOP) };
            run(&mut Secrets::new(seed));
        }
        // SAFETY: ends the process at once; nothing of it is needed again.
        unsafe { libc::_exit(0) }
    }

    /// The instruction pointer and [`NAMES`], or nothing once the process has ended.
    fn registers(&self) -> io::Result<Option<(u64, [u64; NAMES.len()])>> {
        if self.ended {
            return Ok(None);
        }
        let mut registers = core::mem::MaybeUninit::<libc::user_regs_struct>::zeroed();
        ptrace(libc::PTRACE_GETREGS, self.child, registers.as_mut_ptr().expose_provenance())?;
        // SAFETY: any numbers make a value of this type, and all were set.
        let r = unsafe { registers.assume_init() };
        Ok(Some((
            r.rip,
            [
                r.rax,
                r.rbx,
                r.rcx,
                r.rdx,
                r.rsi,
                r.rdi,
                r.rbp,
                r.rsp,
                r.r8,
                r.r9,
                r.r10,
                r.r11,
                r.r12,
                r.r13,
                r.r14,
                r.r15,
                r.eflags & FLAGS,
                r.eflags & CARRY,
            ],
        )))
    }

    /// Starts the one instruction at `pointer`; [`Run::wait`] sees its end.
    fn step(&mut self, pointer: u64) -> io::Result<()> {
        self.last = Some(pointer);
        ptrace(libc::PTRACE_SINGLESTEP, self.child, 0)
    }

    fn wait(&mut self) -> io::Result<()> {
        let mut status = 0;
        // SAFETY: the status is a valid place for a number.
        if unsafe { libc::waitpid(self.child, &raw mut status, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
        self.ended = libc::WIFEXITED(status) || libc::WIFSIGNALED(status);
        let expected = if self.ended {
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        } else {
            matches!(libc::WSTOPSIG(status), libc::SIGTRAP | libc::SIGSTOP)
        };
        if expected {
            Ok(())
        } else {
            Err(io::Error::other(format!("a traced process failed: status {status:#x}")))
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.ended {
            // SAFETY: the child has not been waited for, so the number is still its own.
            unsafe { libc::kill(self.child, libc::SIGKILL) };
            // SAFETY: no status is asked for, so nothing is written.
            unsafe { libc::waitpid(self.child, core::ptr::null_mut(), 0) };
        }
    }
}

fn ptrace(request: libc::c_uint, child: libc::pid_t, data: usize) -> io::Result<()> {
    // SAFETY: the requests above use no address but `data`, which is 0 or a place for registers.
    match unsafe { libc::ptrace(request, child, 0_usize, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
