//! Pages in groups of sixteen, and the record of their users.
//!
//! The record is in ordinary memory, which a forked child inherits. So the child reuses its
//! parent's slabs and maps no others. A page that is free in the record is free in the child. The
//! pages of the parent's threads are free, too, except those of the thread that forked, which
//! continues in the child. Only that thread can identify itself: it took a page in an earlier
//! process, which is recorded in thread-local memory. Pages of [`Owned`](crate::Owned) and similar
//! values are never free before the values are dropped, because the child may still reach any of
//! them.
//!
//! A fork may occur in the middle of a change of the record by another thread. Such a change
//! affects a page that the child cannot reach. In the worst case the child cannot use that page.

use core::cell::Cell;
use core::hint::black_box;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use lanecrypt_kernels::fork::{Generation, NoPage, map_wiped};

use crate::linux::page::STRIDE;
use crate::linux::pool_lock::Lock;
use crate::linux::vdso::{self, State};

/// Pages of a slab.
const PAGES: usize = 16;

/// The user of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// A value, or the process. The holder of the value returns the page.
    Value,
    /// The calling thread, for the record at this address of its thread-local memory. It returns
    /// the page when it ends, unless the C library does not notify it.
    Thread(usize),
}

/// Sixteen pages and their users. Mapped for ever, and only used with the pool's lock ([`slabs`]).
struct Slab {
    next: Option<&'static Self>,
    base: NonNull<u8>,
    states: [State; PAGES],
    /// A bit for each free page.
    free: Cell<u16>,
    users: [Cell<Record>; PAGES],
}

/// The current or last user of a page.
#[derive(Clone, Copy)]
struct Record {
    user: User,
    /// The thread that took it.
    thread: usize,
    /// The process in which it was taken.
    taken_in: Generation,
}

/// The newest slab, under the pool's lock. Written with release and read with acquire, so that a
/// process that is forked in the middle of [`grow`] never finds a slab that is not whole.
static NEWEST: AtomicPtr<Slab> = AtomicPtr::new(null_mut());
/// Whether the kernel has refused another slab for good, and whether core dumps contain some slab.
/// Relaxed everywhere: they publish nothing else.
static REFUSED: AtomicBool = AtomicBool::new(false);
static DUMPED: AtomicBool = AtomicBool::new(false);

/// A thread's record of itself. Its address identifies the thread.
struct Here {
    /// The process in which it took its first page.
    began_in: Cell<Option<Generation>>,
    /// Its destructors are running.
    ends: Cell<bool>,
}

std::thread_local! {
    static HERE: Here = const { Here { began_in: Cell::new(None), ends: Cell::new(false) } };
}

/// Whether core dumps contain no slab.
pub(crate) fn is_kept_out_of_dumps() -> bool {
    !DUMPED.load(Ordering::Relaxed)
}

/// From now on the calling thread gets no page for itself, because it might not be notified to
/// return it.
pub(crate) fn thread_ends() {
    HERE.with(|here| here.ends.set(true));
}

/// Takes a page that is free or abandoned, or maps a slab. The page may still contain bytes.
///
/// # Errors
///
/// See [`NoPage`]; `Refused` also for a thread that ends.
pub(crate) fn take(lock: &Lock, user: User) -> Result<(NonNull<u8>, State), NoPage> {
    let (thread, began_in, ends) =
        HERE.with(|here| (core::ptr::from_ref(here).addr(), here.began_in.get(), here.ends.get()));
    if ends && user != User::Value {
        return Err(NoPage::Refused);
    }
    let now = Generation::now();
    if began_in.is_none() {
        HERE.with(|here| here.began_in.set(Some(now)));
    }
    let has_forked = began_in.is_some_and(|process| !process.is_current());
    let is_left_behind = |record: Record| match record.user {
        User::Value => false,
        // If a thread of this process has its record at this address and the record says that it
        // has no page, no living thread has this one.
        User::Thread(_) if record.user == user => true,
        User::Thread(_) => has_forked && record.thread != thread && !record.taken_in.is_current(),
    };
    let found = find_free(lock).or_else(|| find(lock, is_left_behind));
    let (slab, i) = found.map_or_else(|| grow(lock).map(|slab| (slab, 0)), Ok)?;
    slab.users[i].set(Record { user, thread, taken_in: now });
    slab.free.set(slab.free.get() & !(1 << i));
    // SAFETY: `i` is below the number of pages of a slab.
    Ok((unsafe { slab.base.add(i * STRIDE) }, slab.states[i]))
}

/// Returns a page that is not in use.
pub(crate) fn put(lock: &Lock, page: NonNull<u8>) {
    for slab in slabs(lock) {
        if let Some(offset) = slab.offset_of(page) {
            slab.free.set(slab.free.get() | 1 << (offset / STRIDE));
            return;
        }
    }
}

/// The start of the slab with this page.
pub(crate) fn base_of(page: NonNull<u8>) -> Option<NonNull<u8>> {
    // Pairs with the store in `grow`.
    let newest = NEWEST.load(Ordering::Acquire);
    // SAFETY: slabs stay mapped. Without the lock only fields that never change are read.
    let newest = unsafe { newest.as_ref() };
    let mut slabs = core::iter::successors(newest, |slab| slab.next);
    slabs.find(|slab| slab.offset_of(page).is_some()).map(|slab| slab.base)
}

impl Slab {
    /// The offset of a page in bytes, if it is one of these.
    fn offset_of(&self, page: NonNull<u8>) -> Option<usize> {
        let offset = page.addr().get().wrapping_sub(self.base.addr().get());
        (offset < PAGES * STRIDE).then_some(offset)
    }
}

fn find_free(lock: &Lock) -> Option<(&Slab, usize)> {
    let slab = slabs(lock).find(|slab| slab.free.get() != 0)?;
    Some((slab, slab.free.get().trailing_zeros() as usize))
}

/// A page for whose record `is_wanted` returns true.
fn find(lock: &Lock, is_wanted: impl Fn(Record) -> bool) -> Option<(&Slab, usize)> {
    slabs(lock).find_map(|slab| {
        // The number is hidden from the compiler, which would unroll the loop to kilobytes.
        let mut users = slab.users.iter().take(black_box(PAGES));
        let i = users.position(|record| is_wanted(record.get()))?;
        Some((slab, i))
    })
}

/// All slabs, the newest first.
fn slabs(lock: &Lock) -> impl Iterator<Item = &Slab> {
    core::iter::successors(newest(lock), |slab| slab.next)
}

fn newest(_lock: &Lock) -> Option<&'static Slab> {
    let newest = NEWEST.load(Ordering::Acquire);
    // SAFETY: slabs stay mapped, and nobody else looks at them while the lock is held.
    unsafe { newest.as_ref() }
}

/// Maps a slab, all of it free.
fn grow(lock: &Lock) -> Result<&Slab, NoPage> {
    if REFUSED.load(Ordering::Relaxed) {
        return Err(NoPage::Refused);
    }
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping touches no memory that is in use.
    let record = unsafe { libc::mmap(null_mut(), size_of::<Slab>(), protection, flags, -1, 0) };
    if record == libc::MAP_FAILED {
        return Err(NoPage::NotNow);
    }
    let base = match map_wiped(PAGES * STRIDE) {
        Ok(base) => base,
        Err(error) => {
            REFUSED.store(error == NoPage::Refused, Ordering::Relaxed);
            // SAFETY: nobody else knows of the mapping.
            unsafe { libc::munmap(record, size_of::<Slab>()) };
            return Err(error);
        }
    };
    // SAFETY: the range is exactly the fresh mapping.
    if unsafe { libc::madvise(base.as_ptr().cast(), PAGES * STRIDE, libc::MADV_DONTDUMP) } != 0 {
        DUMPED.store(true, Ordering::Relaxed);
    }
    let mut states = [State::NONE; PAGES];
    vdso::map_states(PAGES, |i, state| states[i] = state);
    let nobody = Record { user: User::Value, thread: 0, taken_in: Generation::now() };
    let users = core::array::from_fn(|_| Cell::new(nobody));
    let slab: *mut Slab = record.cast();
    let next = newest(lock);
    // SAFETY: the mapping is large enough, aligned, and nobody else knows of it.
    unsafe { slab.write(Slab { next, base, states, free: Cell::new(u16::MAX), users }) };
    NEWEST.store(slab, Ordering::Release);
    newest(lock).ok_or(NoPage::NotNow)
}
