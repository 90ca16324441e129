//! One generator for each processor: memory grows with processors, not with threads.
//!
//! Each processor has three pages. Two are its *own*, locked by a restartable sequence
//! ([`crate::rseq`]), which costs little and which only threads on that processor can do: one, and one
//! for when the first one's holder has lost the processor in the middle of a draw or is interrupted
//! by a handler that draws. Who finds both locked, or whose C library knows no restartable sequences,
//! tries the *common* page of the processor, then that of the next processor, by an atomic
//! instruction; then it asks the kernel. Nobody ever waits.
//!
//! The locks of the own pages lie outside of them and survive a fork. So, if a handler forks in the middle
//! of a draw, the child's later draws do not touch the page until the interrupted one has ended. If
//! another thread held it, the child does without this page for good.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicIsize, AtomicPtr, AtomicUsize, Ordering};

use lanecrypt_kernels::Isa;

use crate::core_type::SeedCore;
use crate::erasing::Erasing;
use crate::errno::Errno;
use crate::error::{EntropyError, abort};
use crate::generator::{Mixing, name_only};
use crate::kernel;
use crate::owner::Owner;
use crate::page::{PagePtr, Refusal, Word};
use crate::placed::{Placed, Statics};
use crate::pool::{self, Slot};
use crate::rekeying::{Counters, Made, Rekeying};
use crate::rseq::{self, Entry, Own, Place, Table};
use crate::slab::User;
use crate::strict::{Mix, Strict};
use crate::turn::Mark;
use crate::vdso::State;

/// The generator of the processor that the calling thread runs on, of the kind `G`.
///
/// For programs of very many threads: the state takes three pages of 8 KiB for each processor and kind,
/// however many threads draw. A draw costs a few cycles more than from
/// [`PerThread`](crate::PerThread). No draw ever waits for another; safe in signal handlers and after a
/// fork.
///
/// The value holds nothing.
pub struct PerCpu<G = Erasing>(PhantomData<fn() -> G>);

impl<G> PerCpu<G> {
    /// A value that stands for the processors' generators.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// The same generators with kernel bytes mixed into every request.
    #[inline]
    #[must_use]
    pub const fn strict(self) -> Strict<Self> {
        Strict::new(self)
    }
}

impl<G: Placed> PerCpu<G> {
    /// Fills `out` with random bytes, or says why it cannot.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes; `out` must then not be used.
    #[inline]
    pub fn try_fill(out: &mut [u8]) -> Result<(), EntropyError> {
        let Some(own) = rseq::lock::<0>(G::table()) else { return fill_elsewhere::<G>(out) };
        // SAFETY: the lock makes this call the page's owner.
        if unsafe { G::take_any(own.page, Isa::detect, out) }.is_err() {
            return serve::<G>(Some(Locked::Own(own)), out, Mixing::Refills);
        }
        own.unlock();
        Ok(())
    }

    /// Fills `out` with random bytes.
    ///
    /// Aborts the process, after one line on standard error, where [`PerCpu::try_fill`] would
    /// return an error.
    #[inline]
    pub fn fill(out: &mut [u8]) {
        if let Err(error) = Self::try_fill(out) {
            abort(error);
        }
    }

    /// A random 32-bit number. Aborts like [`PerCpu::fill`].
    #[inline]
    #[must_use]
    pub fn u32() -> u32 {
        word::<G, u32>()
    }

    /// A random 64-bit number. Aborts like [`PerCpu::fill`].
    #[inline]
    #[must_use]
    pub fn u64() -> u64 {
        word::<G, u64>()
    }

    /// Drops what is buffered in the generator that the calling thread finds, and has it take a new
    /// key from the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes.
    ///
    /// Does nothing if all generators that this thread may use are busy.
    pub fn reseed() -> Result<(), EntropyError> {
        Self::new().fill_with(&mut [], Mixing::NewKey)
    }
}

impl<C: SeedCore + 'static> PerCpu<Rekeying<C>>
where
    Rekeying<C>: Placed,
{
    /// What the generators have done so far: of each processor its two own and its common one, in
    /// order, as far as they were ever used.
    pub fn counters() -> impl Iterator<Item = Counters> {
        let table = Rekeying::<C>::table();
        let pages = entries(table)
            .iter()
            .flat_map(|Entry { own: [first, second], common, .. }| [first, second, common]);
        pages.filter_map(|place| {
            let page = place.page.load(Ordering::Acquire);
            // SAFETY: published pages stay mapped, and those of this table run over this core.
            (!page.is_null()).then(|| unsafe { Made::of(PagePtr(page)).counters() })
        })
    }
}

impl<G> Clone for PerCpu<G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for PerCpu<G> {}

impl<G> Default for PerCpu<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G> fmt::Debug for PerCpu<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        name_only("PerCpu", f)
    }
}

impl<G: Placed> Mix for PerCpu<G> {
    fn fill_with(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        serve::<G>(Locked::any(G::table()), out, mixing)
    }
}

#[inline(always)]
fn word<G: Placed, W: Word>() -> W {
    let Some(own) = rseq::lock::<0>(G::table()) else { return word_elsewhere::<G, W>() };
    // SAFETY: the lock makes this call the page's owner.
    match unsafe { G::take(own.page) } {
        Ok(word) => {
            own.unlock();
            word
        }
        Err(refusal) => word_slowly::<G, W>(Locked::Own(own), refusal),
    }
}

/// A word from another page than the first.
#[inline(never)]
fn word_elsewhere<G: Placed, W: Word>() -> W {
    let Some(locked) = Locked::other(G::table()) else {
        return W::by(|bytes| serve::<G>(None, bytes, Mixing::Refills))
            .unwrap_or_else(|error| abort(error));
    };
    // SAFETY: the lock makes this call the page's owner.
    match unsafe { G::take(locked.page()) } {
        Ok(word) => {
            locked.unlock();
            word
        }
        Err(refusal) => word_slowly::<G, W>(locked, refusal),
    }
}

/// Bytes from another page than the first.
#[inline(never)]
fn fill_elsewhere<G: Placed>(out: &mut [u8]) -> Result<(), EntropyError> {
    if let Some(locked) = Locked::other(G::table()) {
        // SAFETY: the lock makes this call the page's owner.
        if unsafe { G::take_any(locked.page(), Isa::detect, out) }.is_err() {
            return serve::<G>(Some(locked), out, Mixing::Refills);
        }
        locked.unlock();
        return Ok(());
    }
    serve::<G>(None, out, Mixing::Refills)
}

/// A word that the page refused.
#[cold]
#[inline(never)]
fn word_slowly<G: Placed, W: Word>(locked: Locked, refusal: Refusal) -> W {
    // SAFETY: the lock makes this call the page's owner.
    if unsafe { locked.page().drew_zero(refusal) } {
        locked.unlock();
        return W::ZERO;
    }
    W::by(|bytes| serve::<G>(Some(locked), bytes, Mixing::Refills))
        .unwrap_or_else(|error| abort(error))
}

/// A request of any kind, by the holder of a lock, which it gives up, or by somebody who found no page
/// that was free.
#[cold]
#[inline(never)]
fn serve<G: Placed>(
    locked: Option<Locked>,
    out: &mut [u8],
    mixing: Mixing,
) -> Result<(), EntropyError> {
    let _errno = Errno::keep();
    let locked = locked.or_else(|| {
        prepare(G::table());
        Locked::any(G::table())
    });
    // By system call: the draw that this one interrupted may be inside of the vDSO.
    let Some(locked) = locked else { return kernel::fill(State::NONE, out) };
    let vdso = State(locked.place().vdso.load(Ordering::Relaxed));
    let slot = Slot { page: locked.page(), vdso };
    let owner = Owner { slot, isa: Isa::detect(), interval: None };
    // SAFETY: the lock makes this call the page's owner.
    let result = unsafe { owner.fill::<G>(out, mixing) };
    locked.unlock();
    result
}

/// A page that this thread has locked.
#[derive(Clone, Copy)]
enum Locked {
    /// The processor's own.
    Own(Own),
    /// A common one; the thread's mark is set.
    Common(&'static Place, PagePtr),
}

impl Locked {
    /// Whatever page can be locked at once.
    fn any(table: &'static Table) -> Option<Self> {
        rseq::lock::<0>(table).map(Self::Own).or_else(|| Self::other(table))
    }

    /// Whatever page but the first can be locked at once.
    #[inline]
    fn other(table: &'static Table) -> Option<Self> {
        rseq::lock::<1>(table).map(Self::Own).or_else(|| Self::common(table))
    }

    /// The common page of this processor, or that of the next.
    #[inline]
    fn common(table: &'static Table) -> Option<Self> {
        let entries = entries(table);
        let cpu = this_processor();
        // A processor that has no pages yet is to get them: the next one's must not stand in for good.
        let first = &entries.get(cpu % entries.len().max(1))?.common;
        if first.page.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let mark = Mark::here();
        if !mark.begin() {
            return None;
        }
        let found = (0..2).find_map(|next| {
            let place = &entries.get((cpu + next) % entries.len().max(1))?.common;
            let page = PagePtr(place.page.load(Ordering::Acquire));
            // SAFETY: published pages stay mapped; common ones are locked in this way only.
            let is_locked = !page.0.is_null() && unsafe { page.try_lock() };
            is_locked.then_some(Self::Common(place, page))
        });
        if found.is_none() {
            mark.end();
        }
        found
    }

    fn page(self) -> PagePtr {
        match self {
            Self::Own(own) => own.page,
            Self::Common(_, page) => page,
        }
    }

    fn place(self) -> &'static Place {
        match self {
            Self::Own(own) => own.place(),
            Self::Common(place, _) => place,
        }
    }

    #[inline]
    fn unlock(self) {
        match self {
            Self::Own(own) => own.unlock(),
            Self::Common(_, page) => {
                // SAFETY: this value stands for the lock.
                unsafe { page.unlock() };
                Mark::here().end();
            }
        }
    }
}

/// Makes the table, and gives this processor the pages that it lacks, as far as the kernel allows.
#[cold]
fn prepare(table: &'static Table) {
    let mut list = entries(table);
    if list.is_empty() {
        make_table(table);
        list = entries(table);
    }
    let cpu = this_processor();
    let Some(entry) = list.get(cpu % list.len().max(1)) else { return };
    // A processor beyond the table's end has no page of its own.
    let has_own = cpu < list.len() && table.area.load(Ordering::Relaxed) != 0;
    let own = if has_own { &entry.own[..] } else { &[] };
    for place in own.iter().chain([&entry.common]) {
        if place.page.load(Ordering::Relaxed).is_null() {
            give_page(place);
        }
    }
}

/// Gets a place its page. Of threads that race, one publishes its page and the others return theirs.
fn give_page(place: &Place) {
    let Ok(slot) = pool::take(User::Value) else { return };
    let published =
        place.page.compare_exchange(null_mut(), slot.page.0, Ordering::Release, Ordering::Relaxed);
    match published {
        Ok(_) => place.vdso.store(slot.vdso.0, Ordering::Relaxed),
        Err(_) => pool::give_back(slot),
    }
}

/// Maps the entries and publishes them; memory that is short can be had by the next draw.
fn make_table(table: &'static Table) {
    // SAFETY: asks for a number.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    let count = usize::try_from(count).unwrap_or(1).max(1);
    // Threads may be told different numbers; one is agreed on before anything is mapped.
    let agreed = table.count.compare_exchange(0, count, Ordering::Relaxed, Ordering::Relaxed);
    let count = agreed.map_or_else(|first| first, |_| count);
    let length = count * size_of::<Entry>();
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // Mapped, not allocated: this may be a signal handler.
    // SAFETY: a fresh anonymous mapping touches no memory that is in use.
    let base = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return;
    }
    // Release: whoever sees the entries sees their number, too.
    let published = table.entries.compare_exchange(
        null_mut(),
        base.cast(),
        Ordering::Release,
        Ordering::Acquire,
    );
    if published.is_err() {
        // SAFETY: this mapping was made above and nobody else has seen it.
        unsafe { libc::munmap(base, length) };
    }
    table.area.store(rseq::area(), Ordering::Release);
}

/// The entries that there are.
fn entries(table: &'static Table) -> &'static [Entry] {
    // Pairs with the exchange in `make_table`.
    let entries = table.entries.load(Ordering::Acquire);
    if entries.is_null() {
        return &[];
    }
    let count = table.count.load(Ordering::Relaxed);
    // SAFETY: the mapping holds that many, all zero at first, which is valid; it stays for ever,
    // and everything in it is atomic.
    unsafe { core::slice::from_raw_parts(entries, count) }
}

/// The number of the processor that this thread runs on, for the moment.
fn this_processor() -> usize {
    // SAFETY: asks for a number.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

impl Table {
    /// A table that nobody has drawn from.
    pub(crate) const fn new() -> Self {
        Self {
            entries: AtomicPtr::new(null_mut()),
            count: AtomicUsize::new(0),
            area: AtomicIsize::new(0),
        }
    }
}
