//! What signals in the middle of a draw leave on the stacks of their handlers.
//!
//! A child process makes the draw; this process steps through it, lets signals come in between, and
//! reads what each leaves behind, as somebody could who reads the process's memory later.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::stepping::{self, RSP, Stop};
use super::{KEY, end};
use crate::common::drawer::Drawer;
use crate::common::maps;
use lanecrypt_testing::sys::{self, Fork};

/// A draw, and where the handlers run that interrupt it.
#[derive(Clone, Copy)]
pub(crate) struct Interrupted {
    pub(crate) drawer: &'static (dyn Drawer + Sync),
    /// Lengths of the requests made before.
    pub(crate) before: &'static [usize],
    pub(crate) length: usize,
    /// On an alternate stack; else on the thread's.
    pub(crate) alternate: bool,
}

/// What is found.
pub(crate) struct Found {
    pub(crate) instructions: usize,
    /// After each signal, and once more at the end: what is on the handler's stack.
    pub(crate) stacks: Vec<Vec<u8>>,
    /// All keys that the page had, the last one last.
    pub(crate) keys: Vec<[u8; 32]>,
    /// The page after the draw.
    pub(crate) page: Vec<u8>,
    /// What was drawn.
    pub(crate) result: Vec<u8>,
}

const LONGEST: usize = 16_384;
/// Bytes of the alternate stack, and so many below the stack pointer are looked at.
const STACK: usize = 32_768;

#[repr(C)]
struct Shared {
    /// Not zero when the draw is over. Read while the process is stopped.
    done: AtomicUsize,
    alternate: AtomicPtr<u8>,
    result: [u8; LONGEST],
}

extern "C" fn on_signal(_: libc::c_int) {
    stepping::breakpoint();
}

/// Makes handlers run on an alternate stack, if wanted; returns that stack.
pub(crate) fn handle(
    signal: libc::c_int,
    handler: extern "C" fn(libc::c_int),
    alternate: bool,
) -> *mut u8 {
    let stack = Box::leak(vec![0_u128; STACK / 16].into_boxed_slice()).as_mut_ptr();
    let description = libc::stack_t { ss_sp: stack.cast(), ss_flags: 0, ss_size: STACK };
    // SAFETY: the stack lives as long as the process, and its old description is not asked for.
    assert_eq!(unsafe { libc::sigaltstack(&raw const description, null_mut()) }, 0);
    // SAFETY: all zeros make a valid structure: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART | if alternate { libc::SA_ONSTACK } else { 0 };
    // SAFETY: the structure is filled in and the handler has the right type.
    assert_eq!(unsafe { libc::sigaction(signal, &raw const action, null_mut()) }, 0);
    stack.cast()
}

/// Bytes of the stack that [`handle`] made.
pub(crate) const fn stack_size() -> usize {
    STACK
}

/// Makes the draw in a process of its own, with a signal at every instruction that `signals` names.
pub(crate) fn run(draw: Interrupted, signals: impl Fn(usize) -> bool) -> Found {
    let memory = sys::shared(size_of::<Shared>()).cast::<Shared>();
    let child = sys::fork(Fork::Raw).expect("processes can be made");
    if child == 0 {
        traced(draw, memory);
    }
    // SAFETY: zeroed memory of this size makes a valid value, and it is unmapped only below.
    let shared = unsafe { &*memory };
    stepping::begin(child);
    let view = View::of(child, draw.alternate, shared);
    let mut found = Found {
        instructions: 0,
        stacks: Vec::new(),
        keys: vec![view.key()],
        page: Vec::new(),
        result: Vec::new(),
    };
    while shared.done.load(Ordering::Relaxed) == 0 {
        if signals(found.instructions) && !stepping::blocks_signals(child) {
            let sp = stepping::register(child, RSP);
            let stop = stepping::wait_for_trap(child, libc::PTRACE_CONT, Some(libc::SIGUSR1));
            assert_eq!(stop, Stop::Trap, "the handler comes to its end");
            while stepping::register(child, RSP) != sp {
                step(child);
            }
            found.stacks.push(view.stack());
        }
        step(child);
        found.instructions += 1;
        let key = view.key();
        if found.keys.last() != Some(&key) {
            found.keys.push(key);
        }
    }
    found.stacks.push(view.stack());
    found.page = view.read(view.page, maps::PAGE);
    let stop = stepping::wait_for_trap(child, libc::PTRACE_CONT, Some(0));
    assert_eq!(stop, Stop::Exit(0));
    found.result = shared.result[..draw.length].to_vec();
    // SAFETY: the memory was mapped above, and nothing refers to it any more.
    unsafe { libc::munmap(memory.cast(), size_of::<Shared>()) };
    found
}

fn step(child: libc::pid_t) {
    let stop = stepping::wait_for_trap(child, libc::PTRACE_SINGLESTEP, Some(0));
    assert_eq!(stop, Stop::Trap);
}

/// The traced process.
fn traced(draw: Interrupted, memory: *mut Shared) -> ! {
    let Interrupted { drawer, before, length, alternate } = draw;
    let stack = handle(libc::SIGUSR1, on_signal, alternate);
    // SAFETY: the tracer keeps the memory mapped and does not write to it.
    let shared = unsafe { &mut *memory };
    shared.alternate.store(stack, Ordering::Relaxed);
    for &length in before {
        drawer.fill(&mut shared.result[..length]);
    }
    shared.result.fill(0);
    // So much of the thread's stack is there to be looked at.
    lanecrypt_kernels::wipe::stack::<{ 2 * STACK }>();
    assert_eq!(stepping::trace(libc::PTRACE_TRACEME, 0, 0, 0), 0);
    stepping::breakpoint();
    drawer.fill(&mut shared.result[..length]);
    shared.done.store(1, Ordering::Relaxed);
    sys::exit(0)
}

/// The memory of the traced process.
struct View {
    child: libc::pid_t,
    memory: File,
    page: usize,
    /// The alternate stack, if that is the one to look at.
    alternate: Option<usize>,
}

impl View {
    fn of(child: libc::pid_t, alternate: bool, shared: &Shared) -> Self {
        let memory = File::open(format!("/proc/{child}/mem")).expect("it is traced");
        let alternate = alternate.then(|| shared.alternate.load(Ordering::Relaxed).addr());
        let mut view = Self { child, memory, page: 0, alternate };
        let mappings = maps::wiped_on_fork_of(&child.to_string());
        let pages = mappings.iter().filter(|mapping| !mapping.droppable).flat_map(|mapping| {
            (mapping.address..=end(*mapping).saturating_sub(maps::PAGE)).step_by(4096)
        });
        let is_live = |&page: &usize| maps::is_live(&view.read(page, maps::PAGE));
        let live: Vec<usize> = pages.filter(is_live).collect();
        assert_eq!(live.len(), 1, "one generator");
        view.page = live[0];
        view
    }

    fn read(&self, address: usize, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.memory.read_exact_at(&mut bytes, address as u64).expect("it is mapped");
        bytes
    }

    fn key(&self) -> [u8; 32] {
        let key = self.read(self.page + KEY.start, KEY.len());
        key.try_into().expect("32 bytes")
    }

    /// The stack without the zeros before and behind what was written: there is one for each
    /// signal.
    fn stack(&self) -> Vec<u8> {
        let sp = stepping::register(self.child, RSP).cast_unsigned();
        let sp = usize::try_from(sp).expect("64-bit addresses");
        let all = self.read(self.alternate.unwrap_or(sp - STACK), STACK);
        let written = |&byte: &u8| byte != 0;
        let first = all.iter().position(written).unwrap_or(0);
        let end = all.iter().rposition(written).map_or(0, |last| last + 1);
        all[first.min(end)..end].to_vec()
    }
}
