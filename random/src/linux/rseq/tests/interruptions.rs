//! Interruptions of the sequence before each of its instructions.
//!
//! A breakpoint instruction replaces one instruction of the running code. The handler of its signal
//! puts the instruction back, does what another thread of the processor may do meanwhile, and then
//! what the kernel does: it clears the registered sequence, and continues at the place for aborts
//! if the thread was inside. So the real instructions run under each interruption. The order in
//! which other processors see them is not tested.

use core::ptr::{null_mut, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize};

use super::*;
use crate::linux::rseq_area::tests::Description;

/// What happens while the thread is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// Another thread runs and does nothing.
    Nothing,
    /// Another thread takes the lock, if it is free, and keeps it.
    Taken,
    /// The thread continues on the other processor.
    Moved,
    /// Another thread takes the lock, and a kernel that does not abort sequences continues.
    TakenWithoutAbort,
    /// No interruption: a thread of another processor frees the lock, which was taken before.
    Freed,
}

/// The interruption to come, for the handler.
static MACHINE: AtomicPtr<Interrupted> = AtomicPtr::new(null_mut());

struct Interrupted {
    machine: Machine,
    event: Event,
    /// The place of the breakpoint, and the instruction that belongs there.
    place: usize,
    instruction: u32,
    /// Whether another thread has the lock; how often there was an interruption.
    is_taken: AtomicBool,
    count: AtomicUsize,
}

impl Machine {
    fn lock_of(&self, processor: usize) -> &'static AtomicBool {
        &self.table.entries()[processor].is_locked[0]
    }
}

/// `brk #0`.
const BREAKPOINT: u32 = 0xd420_0000;

/// A copy of the sequence that nobody else runs.
#[inline(never)]
fn lock_here(table: &'static Table<()>) -> Option<Own<(), 0>> {
    lock::<(), 0>(table)
}

/// Writes an instruction into the code.
fn write(place: usize, instruction: u32) {
    let code = with_exposed_provenance_mut::<u32>(place);
    // SAFETY: the place is in code that was made writable, and that only this thread runs.
    unsafe { AtomicU32::from_ptr(code) }.store(instruction, Ordering::Relaxed);
    // SAFETY: cleans the address's line of the data cache, and drops it from that of instructions.
    unsafe {
        core::arch::asm!("dc cvau, {0}", "dsb ish", "ic ivau, {0}", "dsb ish", "isb", in(reg) code);
    }
}

/// Whether it is a `strb`.
fn is_store(instruction: u32) -> bool {
    instruction >> 22 == 0x3900_0000 >> 22
}

fn read(place: usize) -> u32 {
    // SAFETY: the place is in the code of this program.
    unsafe { with_exposed_provenance_mut::<u32>(place).read_volatile() }
}

extern "C" fn interrupt(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a context to this kind of handler.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    // SAFETY: `interrupted` keeps it until the sequence has ended.
    let it = unsafe { &*MACHINE.load(Ordering::Acquire) };
    let place = usize::try_from(context.uc_mcontext.pc).unwrap_or(0);
    if place != it.place {
        // Not our breakpoint.
        std::process::abort();
    }
    write(place, it.instruction);
    it.count.fetch_add(1, Ordering::Relaxed);
    match it.event {
        Event::Nothing => {}
        Event::Taken | Event::TakenWithoutAbort => {
            let was_locked = it.machine.lock_of(0).swap(true, Ordering::Relaxed);
            it.is_taken.store(!was_locked, Ordering::Relaxed);
        }
        Event::Freed => {
            it.machine.lock_of(0).store(false, Ordering::Release);
            it.is_taken.store(false, Ordering::Relaxed);
        }
        Event::Moved => it.machine.area.processor.set(1),
    }
    if !matches!(it.event, Event::TakenWithoutAbort | Event::Freed) {
        context.uc_mcontext.pc = it.machine.area.interrupt(place) as u64;
    }
}

/// Runs the sequence with an interruption. Returns the processor whose page it locked, and whether
/// the other thread has the lock of the first one.
fn interrupted(event: Event, place: usize) -> (Option<usize>, bool) {
    let machine = Machine::new();
    machine.lock_of(0).store(event == Event::Freed, Ordering::Relaxed);
    let instruction = read(place);
    let (is_taken, count) = (AtomicBool::new(event == Event::Freed), AtomicUsize::new(0));
    let it = Interrupted { machine, event, place, instruction, is_taken, count };
    MACHINE.store(core::ptr::from_ref(&it).cast_mut(), Ordering::Release);
    write(place, BREAKPOINT);
    let own = lock_here(it.machine.table);
    write(place, instruction);
    // A thread that finds the page locked does not come to the store.
    let comes = event != Event::Freed || !is_store(instruction);
    assert_eq!(it.count.load(Ordering::Relaxed), usize::from(comes), "{event:?} at {place:#x}");
    let is_taken = it.is_taken.load(Ordering::Relaxed);
    let processor = own.as_ref().and_then(|own| {
        let entries = it.machine.table.entries();
        entries.iter().position(|entry| core::ptr::eq(entry, own.entry))
    });
    // Nothing but the lock of the page that was locked was written.
    for other in 0..PROCESSORS {
        let expected = processor == Some(other) || is_taken && other == 0;
        let is_locked = it.machine.lock_of(other).load(Ordering::Relaxed);
        assert_eq!(is_locked, expected, "{event:?} at {place:#x}, processor {other}");
    }
    (processor, is_taken)
}

/// The sequence, as it registered itself.
fn sequence() -> Description {
    let machine = Machine::new();
    assert!(lock_here(machine.table).is_some());
    Description::at(machine.area.sequence.get())
}

/// Makes code writable. Returns false if the system does not allow that.
fn make_writable(Description { start, length, .. }: Description) -> bool {
    // SAFETY: asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a size");
    let begin = (start - 4) / page * page;
    let end = (start + length + 4).next_multiple_of(page);
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: the pages stay readable and executable, as code is.
    unsafe { libc::mprotect(with_exposed_provenance_mut(begin), end - begin, protection) == 0 }
}

/// Checks that only the last instruction stores, and that the loads of page and lock acquire.
fn check_accesses(Description { start, length, .. }: Description) {
    let code: Vec<u32> = (start..start + length).step_by(4).map(read).collect();
    let is_access = |code: &u32| code >> 25 & 5 == 4;
    let is_load = |code: &u32| code >> 22 & 1 == 1;
    let (last, others) = code.split_last().expect("it has instructions");
    assert!(is_store(*last), "{code:x?}");
    assert!(others.iter().filter(|code| is_access(code)).all(is_load), "{code:x?}");
    let acquires = |size: u32| {
        others.iter().filter(|&code| code & 0xffff_fc00 == size << 30 | 0x08df_fc00).count()
    };
    assert_eq!((acquires(3), acquires(0)), (1, 1), "ldar, ldarb: {code:x?}");
}

#[test]
fn no_interruption_makes_two_holders() {
    let sequence = sequence();
    check_accesses(sequence);
    if !make_writable(sequence) {
        return println!("SKIPPED rseq-interruptions: code may not be made writable here");
    }
    // SAFETY: all zero is a valid action, whose handler is set below.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = interrupt as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the action is filled in. No other test of this program uses the signal.
    assert_eq!(unsafe { libc::sigaction(libc::SIGTRAP, &raw const action, null_mut()) }, 0);
    let Description { start, length, .. } = sequence;
    let last = start + length - 4;
    // From the instruction that registers the sequence to the first one after it.
    for place in (start - 4..=start + length).step_by(4) {
        let (is_before, is_after) = (place < start, place == start + length);
        let quiet = interrupted(Event::Nothing, place);
        assert_eq!(quiet, ((is_before || is_after).then_some(0), false), "at {place:#x}");
        let taken = interrupted(Event::Taken, place);
        assert_eq!(taken, (is_after.then_some(0), !is_after), "at {place:#x}");
        let moved = match (is_before, is_after) {
            (true, _) => Some(1),
            (_, true) => Some(0),
            _ => None,
        };
        assert_eq!(interrupted(Event::Moved, place), (moved, false), "at {place:#x}");
        let (_, is_taken) = interrupted(Event::Freed, place);
        assert_eq!(is_taken, place == last, "at {place:#x}");
    }
    // The test finds two holders if sequences are not aborted: the lock is loaded before the end.
    assert_eq!(interrupted(Event::TakenWithoutAbort, last), (Some(0), true));
}
