//! Running one draw instruction by instruction, with signals in between.
//!
//! A child process makes the draw; this process traces it. At a position of the tracer's choice it
//! lets the child's signal handler run, which draws, or forks and then draws in the new process.
//! Both then finish the interrupted draw and draw more. What everybody drew comes back through
//! shared memory.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::io::{Read, Seek, SeekFrom};
use std::sync::OnceLock;

use super::end;
use crate::common::drawer::Drawer;
use crate::common::maps;
use lanecrypt_testing::sys::{self, Fork};

/// The draw to step through.
#[derive(Clone, Copy)]
pub(crate) struct Stepped {
    pub(crate) drawer: &'static (dyn Drawer + Sync),
    /// Lengths of the requests made before.
    pub(crate) before: &'static [usize],
    /// Length of the request; 4 and 8 bytes are drawn as words.
    pub(crate) length: usize,
}

/// What the handler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It draws.
    Draw,
    /// It forks; the child draws.
    Fork,
}

/// What was drawn.
pub(crate) struct Pass {
    /// How many instructions the draw took.
    pub(crate) instructions: usize,
    /// The interrupted draw.
    pub(crate) result: Vec<u8>,
    /// Draws after it.
    pub(crate) more: Vec<u8>,
    pub(crate) signals: Vec<Signal>,
}

/// What was drawn because of one signal.
pub(crate) struct Signal {
    /// Before which instruction the signal came.
    pub(crate) position: usize,
    /// Drawn in the handler.
    pub(crate) handler: Vec<u8>,
    /// The interrupted draw as the forked child finished it.
    pub(crate) result: Option<Vec<u8>>,
    /// The forked child's draws after it.
    pub(crate) more: Vec<u8>,
}

/// The longest request, and the bytes drawn in a handler and after the interrupted draw.
const LONGEST: usize = 16_384;
const IN_HANDLER: usize = 36;
const MORE: usize = 112;
/// The most signals in one pass.
const SIGNALS: usize = 50_000;

/// One process's draws, in shared memory.
#[repr(C)]
struct Record {
    position: usize,
    has_result: bool,
    handler: [u8; IN_HANDLER],
    more: [u8; MORE],
    result: [u8; LONGEST],
}

/// What tracer and traced processes share.
#[repr(C)]
struct Shared {
    /// The position of the signal that comes next. Written while the traced process is stopped.
    position: AtomicUsize,
    /// One when the draw is over. Read while the traced process is stopped.
    done: AtomicU32,
    /// Records in use.
    used: AtomicUsize,
    /// The traced process's own draws.
    own: UnsafeCell<Record>,
    signals: [UnsafeCell<Record>; SIGNALS],
}

static SHARED: AtomicPtr<Shared> = AtomicPtr::new(null_mut());
static FORKS: AtomicBool = AtomicBool::new(false);
static STEPPED: OnceLock<Stepped> = OnceLock::new();
/// The record of this process; set in processes that a handler forked.
static FORKED: AtomicPtr<Record> = AtomicPtr::new(null_mut());

/// Whether processes may be traced here.
///
/// # Errors
///
/// The reason why not.
pub(crate) fn check_permitted() -> Result<(), String> {
    let child = sys::fork(Fork::Raw).map_err(|error| error.to_string())?;
    if child == 0 {
        let result = trace(libc::PTRACE_TRACEME, 0, 0, 0);
        if result == 0 {
            breakpoint();
        }
        sys::exit(1);
    }
    let status = sys::wait(child);
    if !libc::WIFSTOPPED(status) {
        return Err("a child cannot ask to be traced".to_owned());
    }
    let stepped = trace(libc::PTRACE_SINGLESTEP, child, 0, 0);
    let status = if stepped == 0 { sys::wait(child) } else { 0 };
    // SAFETY: the child is this function's own.
    unsafe { libc::kill(child, libc::SIGKILL) };
    sys::wait(child);
    let trapped = libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP;
    if trapped { Ok(()) } else { Err("a child cannot be stepped".to_owned()) }
}

/// How many instructions the draw takes when nothing interrupts it.
pub(crate) fn count(stepped: Stepped) -> usize {
    run(stepped, Action::Draw, |_| false).instructions
}

/// Makes the draw in a process of its own, with a signal wherever `signals` says so.
pub(crate) fn run(stepped: Stepped, action: Action, signals: impl Fn(usize) -> bool) -> Pass {
    run_with(stepped, action, |child, shared| follow(child, shared, signals))
}

/// The same, but the draw runs freely until it comes to one of `addresses`, behind a restartable
/// sequence; signals come from there on. `None` if it did not lock a page by then.
pub(crate) fn run_from(
    stepped: Stepped,
    action: Action,
    addresses: &[usize],
    signals: impl Fn(usize) -> bool,
) -> Option<Pass> {
    let mut has_locked = false;
    let pass = run_with(stepped, action, |child, shared| {
        begin(child);
        has_locked = run_to(child, addresses);
        step(child, shared, |position| has_locked && signals(position))
    });
    has_locked.then_some(pass)
}

/// Where restartable sequences of the draw end, as a process that steps through it finds them: the
/// kernel aborts each at its first step, because it stops.
pub(crate) fn sequences(stepped: Stepped) -> Vec<usize> {
    let mut ends = Vec::new();
    run_with(stepped, Action::Draw, |child, shared| {
        begin(child);
        let mut instructions = 0;
        while shared.done.load(Ordering::Relaxed) == 0 {
            ends.extend(sequence_end(child).filter(|end| !ends.contains(end)));
            assert_eq!(wait_for_trap(child, libc::PTRACE_SINGLESTEP, Some(0)), Stop::Trap);
            instructions += 1;
        }
        assert_eq!(wait_for_trap(child, libc::PTRACE_CONT, Some(0)), Stop::Exit(0));
        instructions
    });
    ends
}

fn run_with(
    stepped: Stepped,
    action: Action,
    follow: impl FnOnce(libc::pid_t, &Shared) -> usize,
) -> Pass {
    let memory = sys::shared(size_of::<Shared>()).cast::<Shared>();
    // SAFETY: zeroed memory of this size makes a valid value, and it is unmapped only below.
    let shared = unsafe { &*memory };
    let child = sys::fork(Fork::Raw).expect("processes can be made");
    if child == 0 {
        SHARED.store(memory, Ordering::Relaxed);
        FORKS.store(action == Action::Fork, Ordering::Relaxed);
        let _ = STEPPED.set(stepped);
        traced();
    }
    let instructions = follow(child, shared);
    let used = shared.used.load(Ordering::Acquire);
    assert!(used <= SIGNALS);
    let take = |record: &UnsafeCell<Record>| {
        // SAFETY: all processes that wrote to it have ended.
        let record = unsafe { &*record.get() };
        Signal {
            position: record.position,
            handler: record.handler.to_vec(),
            result: record.has_result.then(|| record.result[..stepped.length].to_vec()),
            more: if record.has_result { record.more.to_vec() } else { Vec::new() },
        }
    };
    let own = take(&shared.own);
    let signals = shared.signals[..used].iter().map(take).collect();
    let result = own.result.expect("the traced process finished its draw");
    // SAFETY: the memory was mapped above, and nothing refers to it any more.
    unsafe { libc::munmap(memory.cast(), size_of::<Shared>()) };
    Pass { instructions, result, more: own.more, signals }
}

/// The traced process.
fn traced() -> ! {
    let Stepped { drawer, before, length } = *STEPPED.get().expect("set before");
    // SAFETY: the tracer keeps the memory mapped.
    let shared = unsafe { &*SHARED.load(Ordering::Relaxed) };
    sys::on_signal(libc::SIGUSR1, on_signal);
    let mut result = [0; LONGEST];
    for &length in before {
        drawer.fill(&mut result[..length]);
    }
    result.fill(0);
    assert_eq!(trace(libc::PTRACE_TRACEME, 0, 0, 0), 0);
    breakpoint();
    match length {
        4 => result[..4].copy_from_slice(&drawer.u32().to_ne_bytes()),
        8 => result[..8].copy_from_slice(&drawer.u64().to_ne_bytes()),
        _ => drawer.fill(&mut result[..length]),
    }
    let forked = FORKED.load(Ordering::Relaxed);
    if forked.is_null() {
        shared.done.store(1, Ordering::Relaxed);
    }
    let record = if forked.is_null() { shared.own.get() } else { forked };
    // SAFETY: the record belongs to this process.
    let record = unsafe { &mut *record };
    record.result = result;
    record.has_result = true;
    drawer.fill(&mut record.more[..100]);
    record.more[100..104].copy_from_slice(&drawer.u32().to_ne_bytes());
    record.more[104..].copy_from_slice(&drawer.u64().to_ne_bytes());
    sys::exit(0)
}

/// The traced process's handler.
extern "C" fn on_signal(_: libc::c_int) {
    let Some(&Stepped { drawer, .. }) = STEPPED.get() else { sys::exit(2) };
    // SAFETY: the tracer keeps the memory mapped.
    let shared = unsafe { &*SHARED.load(Ordering::Relaxed) };
    let Some(record) = shared.signals.get(shared.used.fetch_add(1, Ordering::AcqRel)) else {
        sys::exit(3)
    };
    let record = record.get();
    // SAFETY: the record belongs to this handler, and to the child that it makes.
    unsafe { (*record).position = shared.position.load(Ordering::Relaxed) };
    // SAFETY: as above.
    let bytes = unsafe { &mut (*record).handler };
    if FORKS.load(Ordering::Relaxed) {
        let Ok(child) = sys::fork(Fork::Raw) else { sys::exit(4) };
        if child != 0 {
            sys::wait_for_success(child);
            breakpoint();
            return;
        }
        FORKED.store(record, Ordering::Relaxed);
    }
    drawer.fill(&mut bytes[..32]);
    bytes[32..].copy_from_slice(&drawer.u32().to_ne_bytes());
    if FORKED.load(Ordering::Relaxed).is_null() {
        breakpoint();
    }
}

/// Steps through the traced process's draw; returns the number of instructions.
fn follow(child: libc::pid_t, shared: &Shared, signals: impl Fn(usize) -> bool) -> usize {
    begin(child);
    step(child, shared, signals)
}

/// Waits until the traced process is about to draw.
pub(crate) fn begin(child: libc::pid_t) {
    assert_eq!(wait_for_trap(child, libc::PTRACE_CONT, None), Stop::Trap);
    // Whatever happens to this process, the traced one does not outlive it.
    let options = libc::c_long::from(libc::PTRACE_O_EXITKILL);
    assert_eq!(trace(libc::PTRACE_SETOPTIONS, child, 0, options), 0);
}

/// Steps on until the draw is over; returns the number of instructions.
fn step(child: libc::pid_t, shared: &Shared, signals: impl Fn(usize) -> bool) -> usize {
    let mut instructions = 0;
    while shared.done.load(Ordering::Relaxed) == 0 {
        if signals(instructions) && !blocks_signals(child) {
            shared.position.store(instructions, Ordering::Relaxed);
            let sp = register(child, RSP);
            let stop = wait_for_trap(child, libc::PTRACE_CONT, Some(libc::SIGUSR1));
            assert_eq!(stop, Stop::Trap, "the handler comes to its end");
            // Out of the handler, back to the draw: where it was interrupted, or where a
            // restartable sequence continues that the signal aborted.
            while register(child, RSP) != sp {
                assert_eq!(wait_for_trap(child, libc::PTRACE_SINGLESTEP, Some(0)), Stop::Trap);
            }
        }
        let stop = wait_for_trap(child, libc::PTRACE_SINGLESTEP, Some(0));
        assert_eq!(stop, Stop::Trap, "at instruction {instructions}");
        instructions += 1;
    }
    assert_eq!(wait_for_trap(child, libc::PTRACE_CONT, Some(0)), Stop::Exit(0));
    instructions
}

/// Lets the traced process run to one of `addresses`; true if it has locked a page there.
fn run_to(child: libc::pid_t, addresses: &[usize]) -> bool {
    const TRAP: libc::c_long = 0xcc;
    let peek = |address| trace(libc::PTRACE_PEEKDATA, child, address, 0);
    let code: Vec<libc::c_long> = addresses.iter().map(|&address| peek(address)).collect();
    for (&address, &code) in addresses.iter().zip(&code) {
        assert_eq!(trace(libc::PTRACE_POKEDATA, child, address, code & !0xff | TRAP), 0);
    }
    assert_eq!(wait_for_trap(child, libc::PTRACE_CONT, Some(0)), Stop::Trap);
    // In reverse, because the words may overlap.
    for (&address, &code) in addresses.iter().zip(&code).rev() {
        assert_eq!(trace(libc::PTRACE_POKEDATA, child, address, code), 0);
    }
    let at = register(child, RIP) - 1;
    let is_one = |&address: &usize| libc::c_long::try_from(address) == Ok(at);
    if !addresses.iter().any(is_one) {
        // The draw never came there and is over, at a trap of its own.
        return false;
    }
    assert_eq!(trace(libc::PTRACE_POKEUSER, child, RIP, at), 0);
    let mut memory = std::fs::File::open(format!("/proc/{child}/mem")).expect("it is traced");
    // The sequence leaves the page's address in a register, and zero there if it was aborted.
    let registers = (0..RSP).step_by(8).filter(|&place| place != RIP);
    let registers: Vec<usize> = registers
        .filter_map(|place| usize::try_from(register(child, place).cast_unsigned()).ok())
        .collect();
    let mut is_there = |mapping: maps::Mapping| {
        let inside = |address: &&usize| (mapping.address..end(mapping)).contains(*address);
        registers.iter().filter(inside).any(|&address| {
            let mut page = [0; maps::PAGE];
            memory.seek(SeekFrom::Start(address as u64)).expect("an address is a position");
            memory.read_exact(&mut page).is_ok() && maps::seeded(&page).len() == 1
        })
    };
    let mappings = maps::wiped_on_fork_of(&child.to_string());
    mappings.into_iter().filter(|mapping| !mapping.droppable).any(&mut is_there)
}

/// Where the restartable sequence ends that the traced process has entered, if it is in one.
fn sequence_end(child: libc::pid_t) -> Option<usize> {
    /// Places in the thread's area and in the description of a sequence, as the kernel has them.
    const SEQUENCE: usize = 8;
    const START: usize = 8;
    const LENGTH: usize = 16;
    // SAFETY: the name ends with a zero byte.
    let offset = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) };
    if offset.is_null() {
        return None;
    }
    // SAFETY: the C library's variable, which is never changed after the start.
    let offset = unsafe { offset.cast::<isize>().read() };
    let peek = |address| trace(libc::PTRACE_PEEKDATA, child, address, 0).cast_unsigned();
    let word = |address: usize| usize::try_from(peek(address)).expect("64-bit addresses");
    let thread = register(child, FS_BASE).cast_unsigned();
    let area = usize::try_from(thread).expect("64-bit addresses").wrapping_add_signed(offset);
    let sequence = word(area + SEQUENCE);
    (sequence != 0).then(|| word(sequence + START) + word(sequence + LENGTH))
}

/// Whether the traced process blocks the signal just now: then no handler can come.
pub(crate) fn blocks_signals(child: libc::pid_t) -> bool {
    let status =
        std::fs::read_to_string(format!("/proc/{child}/status")).expect("/proc is mounted");
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).map(str::trim);
    let blocked = blocked.and_then(|mask| u64::from_str_radix(mask, 16).ok());
    blocked.expect("the kernel lists blocked signals") >> (libc::SIGUSR1 - 1) & 1 != 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Trap,
    Exit(libc::c_int),
    Killed(libc::c_int),
}

/// Resumes the child, with a signal if one is given, and waits until it stops at a trap or ends.
/// The news that a child of its own has ended is dropped; other signals take their course.
pub(crate) fn wait_for_trap(
    child: libc::pid_t,
    how: libc::c_uint,
    signal: Option<libc::c_int>,
) -> Stop {
    let mut signal = signal;
    loop {
        if let Some(signal) = signal {
            assert_eq!(trace(how, child, 0, signal.into()), 0);
        }
        let status = sys::wait(child);
        if libc::WIFEXITED(status) {
            return Stop::Exit(libc::WEXITSTATUS(status));
        }
        if libc::WIFSIGNALED(status) {
            return Stop::Killed(libc::WTERMSIG(status));
        }
        if libc::WSTOPSIG(status) == libc::SIGTRAP {
            return Stop::Trap;
        }
        let other = libc::WSTOPSIG(status);
        signal = Some(if other == libc::SIGCHLD { 0 } else { other });
    }
}

/// Places of registers in the kernel's structure.
const RIP: usize = core::mem::offset_of!(libc::user_regs_struct, rip);
pub(crate) const RSP: usize = core::mem::offset_of!(libc::user_regs_struct, rsp);
const FS_BASE: usize = core::mem::offset_of!(libc::user_regs_struct, fs_base);

pub(crate) fn register(child: libc::pid_t, place: usize) -> libc::c_long {
    trace(libc::PTRACE_PEEKUSER, child, place, 0)
}

pub(crate) fn trace(
    request: libc::c_uint,
    child: libc::pid_t,
    address: usize,
    data: libc::c_long,
) -> libc::c_long {
    // SAFETY: none of the requests used here writes to this process's memory.
    unsafe { libc::ptrace(request, child, address, data) }
}

/// Stops a traced process. The trap comes after the instruction.
#[inline(always)]
pub(crate) fn breakpoint() {
    // SAFETY: a tracer is waiting for the trap.
    unsafe { asm!("int3", options(nomem, nostack)) }
}
