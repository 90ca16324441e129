//! The same program run twice, with other secrets, instruction by instruction.
//!
//! Two processes are forked from one, so that all addresses agree. Each sets its processor's trap
//! flag and so gets a signal before every instruction, whose handler writes down the registers.
//! Then the two records are compared. Where the instruction pointers part, a branch depended on a
//! secret. Wherever a register differs, it holds a secret; whether the instruction uses it for an
//! address, the disassembly says. The processor runs every instruction itself, so this sees what
//! Valgrind does not know.

use core::arch::asm;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::collections::BTreeMap;
use std::io;

use crate::secrets::Secrets;
use crate::traces::{Code, Leak};

/// Secrets on which a planted leak is run. Flags differ with every one.
pub(crate) const DRAWS: usize = 8;

/// What two runs had in common.
struct Trace {
    /// Where they parted, if they did.
    parted: Option<u64>,
    /// By instruction pointer: which of [`NAMES`] differed before it, a bit each.
    differed: BTreeMap<u64, u32>,
}

/// General-purpose registers, and two parts of the flags: what conditional jumps read.
///
/// Flags say more than where a jump goes: after a comparison of unequal numbers they differ with
/// the numbers. Increments leave the carry as some older instruction left it.
#[rustfmt::skip]
const NAMES: [&str; 18] = [
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "flags", "carry",
];

/// Where a signal's frame has the registers of the same names.
#[rustfmt::skip]
const PLACES: [libc::c_int; 16] = [
    libc::REG_RAX, libc::REG_RBX, libc::REG_RCX, libc::REG_RDX, libc::REG_RSI, libc::REG_RDI,
    libc::REG_RBP, libc::REG_RSP, libc::REG_R8, libc::REG_R9, libc::REG_R10, libc::REG_R11,
    libc::REG_R12, libc::REG_R13, libc::REG_R14, libc::REG_R15,
];

const CARRY: u64 = 1;
/// Parity, zero, sign and overflow.
const FLAGS: u64 = 1 << 2 | 1 << 6 | 1 << 7 | 1 << 11;
/// The processor's trap flag.
const TRAP: i32 = 1 << 8;

/// What there was before one instruction.
#[repr(C)]
#[derive(Clone, Copy)]
struct Step {
    pointer: u64,
    registers: [u64; NAMES.len()],
}

/// The most instructions of a run.
const LONGEST: usize = 1 << 22;

/// All steps of one run, in memory that the traced process shares with this one.
#[repr(C)]
struct Steps {
    count: usize,
    steps: [Step; LONGEST],
}

/// In a traced process: what it writes.
static STEPS: AtomicPtr<Steps> = AtomicPtr::new(null_mut());
/// Whether this process is traced.
static TRACED: AtomicBool = AtomicBool::new(false);

/// Traces `run` with two sources of secrets.
///
/// The process must have one thread. Errors: whatever `fork` and `mmap` say; a run that fails.
pub(crate) fn leaks(code: &Code, run: &dyn Fn(&mut Secrets)) -> io::Result<Vec<Leak>> {
    let trace = compare(run)?;
    let differed = trace.differed.iter().filter_map(|(&pointer, &bits)| {
        let [function, instruction] = code.at(pointer)?;
        let mut registers = NAMES.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
        let kind = registers.find_map(|(_, register)| kind(instruction, register))?;
        Some([kind, function, instruction])
    });
    // A branch outside of the program's own code has no line there.
    let parted = trace.parted.map(|pointer| code.at(pointer).unwrap_or_default());
    let parted = parted.map(|[function, instruction]| ["branch", function, instruction]);
    Ok(parted.into_iter().chain(differed).collect())
}

/// The kind of leak that an instruction is when this register, or these flags, differ.
fn kind(instruction: &str, register: &str) -> Option<&'static str> {
    let name = instruction.split(' ').next()?;
    match register {
        // The only jump that reads a register, and no flag.
        "rcx" if name == "jrcxz" => Some("branch"),
        _ if name == "jrcxz" => None,
        "flags" => (name.starts_with('j') && name != "jmp").then_some("branch"),
        "carry" => ["ja", "jae", "jb", "jbe", "jc", "jnc"].contains(&name).then_some("branch"),
        // These only look as if they read memory.
        _ if ["lea", "nop", "cs nop", "data16"].iter().any(|n| instruction.starts_with(n)) => None,
        _ => {
            let place = instruction.split_once('[')?.1.split(']').next()?;
            let mut parts = place.split(|c: char| !c.is_ascii_alphanumeric());
            parts.any(|part| part == register).then_some("address")
        }
    }
}

fn compare(run: &dyn Fn(&mut Secrets)) -> io::Result<Trace> {
    // Both at a time, for there may be two processors.
    let runs = [Run::start(run, 0x0123_4567_89ab_cdef)?, Run::start(run, 0x7e57_5eed)?];
    let [a, b] = [runs[0].wait(), runs[1].wait()];
    let (a, b) = (a?, b?);
    let mut trace = Trace { parted: None, differed: BTreeMap::new() };
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        if x.pointer != y.pointer {
            // The last instruction that both ran is the branch.
            trace.parted = i.checked_sub(1).map(|last| a[last].pointer);
            return Ok(trace);
        }
        let differs = |i: &usize| x.registers[*i] != y.registers[*i];
        let bits = (0..NAMES.len()).filter(differs).fold(0, |bits, i| bits | 1 << i);
        if bits != 0 {
            *trace.differed.entry(x.pointer).or_default() |= bits;
        }
    }
    if a.len() != b.len() {
        trace.parted = a.iter().zip(b).next_back().map(|(last, _)| last.pointer);
    }
    Ok(trace)
}

/// Runs `work` untraced, in a traced process too. It must not depend on what is checked.
pub(crate) fn unseen<T>(work: impl FnOnce() -> T) -> T {
    let traced = TRACED.load(Ordering::Relaxed);
    if traced {
        trap(false);
    }
    let result = work();
    if traced {
        trap(true);
    }
    result
}

/// A process that is traced.
struct Run {
    child: libc::pid_t,
    steps: *mut Steps,
}

impl Run {
    /// Forks a process that calls `run`.
    fn start(run: &dyn Fn(&mut Secrets), seed: u64) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping touches no memory that is in use.
        let memory =
            unsafe { libc::mmap(null_mut(), size_of::<Steps>(), protection, flags, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let steps = memory.cast::<Steps>();
        // SAFETY: this process has one thread, so the child may do whatever this one may.
        let child = unsafe { libc::fork() };
        if child == -1 {
            return Err(io::Error::last_os_error());
        }
        if child == 0 {
            STEPS.store(steps, Ordering::Relaxed);
            install();
            let mut secrets = Secrets::new(seed);
            TRACED.store(true, Ordering::Relaxed);
            trap(true);
            run(&mut secrets);
            trap(false);
            // SAFETY: ends the process at once; nothing of it is needed again.
            unsafe { libc::_exit(0) }
        }
        Ok(Self { child, steps })
    }

    /// The steps, once the process has ended.
    fn wait(&self) -> io::Result<&[Step]> {
        let mut status = 0;
        // SAFETY: the status is a valid place for a number.
        if unsafe { libc::waitpid(self.child, &raw mut status, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
        if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
            return Err(io::Error::other(format!("a traced process failed: status {status:#x}")));
        }
        // SAFETY: zeros and what the ended process wrote make a value; it is unmapped only in
        // `drop`.
        let steps = unsafe { &*self.steps };
        steps.steps.get(..steps.count).ok_or_else(|| io::Error::other("a run is too long to trace"))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped in `start`, and what `wait` lent is not used any more.
        unsafe { libc::munmap(self.steps.cast(), size_of::<Steps>()) };
    }
}

/// Lets [`on_step`] handle traps.
fn install() {
    // SAFETY: all zeros make a valid structure: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = on_step as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the structure is filled in, and the handler has the type that goes with the flag.
    unsafe { libc::sigaction(libc::SIGTRAP, &raw const action, null_mut()) };
}

/// Comes before each instruction of a traced process. The kernel clears the trap flag for it.
extern "C" fn on_step(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes the interrupted context to handlers of this kind.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // SAFETY: mapped before the process was forked; the parent looks at it when this process has
    // ended.
    let steps = unsafe { &mut *STEPS.load(Ordering::Relaxed) };
    let read = |place: libc::c_int| registers[place.unsigned_abs() as usize].cast_unsigned();
    if let Some(step) = steps.steps.get_mut(steps.count) {
        step.pointer = read(libc::REG_RIP);
        for (register, place) in step.registers.iter_mut().zip(PLACES) {
            *register = read(place);
        }
        let flags = read(libc::REG_EFL);
        step.registers[PLACES.len()] = flags & FLAGS;
        step.registers[PLACES.len() + 1] = flags & CARRY;
    }
    steps.count += 1;
}

/// Sets or clears the trap flag.
#[inline(always)]
fn trap(on: bool) {
    let bits = i64::from(if on { TRAP } else { 0 });
    // SAFETY: with the flag set each instruction ends in a signal, whose handler is installed.
    unsafe {
        asm!(
            "pushfq",
            "and qword ptr [rsp], {keep}",
            "or qword ptr [rsp], {bits}",
            "popfq",
            keep = const !TRAP,
            bits = in(reg) bits,
        );
    }
}
