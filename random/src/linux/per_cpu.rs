//! One generator for each processor: memory grows with the number of processors, not of threads.
//!
//! Each processor has three pages. Two are its *own*. They are locked by a restartable sequence
//! ([`crate::linux::rseq`]), which costs little and is possible only for threads on that processor.
//! The second own page is for draws while the holder of the first one is preempted, or is
//! interrupted by a handler that draws.
//!
//! If both own pages are locked, or if the C library has no restartable sequences, a draw tries the
//! *common* page of the processor and then that of the next processor, by an atomic instruction. If
//! that fails, it draws from the kernel. No draw ever waits.
//!
//! The locks of the own pages are outside of the pages and survive a fork. If a handler forks in
//! the middle of a draw, later draws in the child do not touch the page until the interrupted draw
//! has ended. If another thread held the lock, the child never uses this page.

use core::fmt;
use core::marker::PhantomData;

use lanecrypt_kernels::Isa;

use crate::error::{EntropyError, abort, or_abort};
use crate::linux::copy_and_wipe::LONG;
use crate::linux::core_type::SeedCore;
use crate::linux::erasing::Erasing;
use crate::linux::errno::Errno;
use crate::linux::generator::{Mix, Mixing, name_only, take_any};
use crate::linux::kernel;
use crate::linux::methods::found;
use crate::linux::owner::Owner;
use crate::linux::page::{PageMut, Refusal};
use crate::linux::page_guard::{Marked, PageGuard};
use crate::linux::rekeying::{Counters, Rekeying};
use crate::linux::rseq::{self, Own};
use crate::linux::static_generator::StaticGenerator;
use crate::linux::strict::Strict;
use crate::linux::table::{Entry, Place, this_processor};
use crate::linux::vdso::State;
use crate::linux::word::Word;

/// The generator of the processor that the calling thread runs on, of the kind `G`.
///
/// For programs with very many threads: the state takes three pages of 8 KiB for each processor and
/// kind, however many threads draw. A draw costs a few cycles more than from
/// [`PerThread`](crate::PerThread). No draw ever waits for another one. Safe in signal handlers and
/// after a fork.
///
/// The value is empty.
pub struct PerCpu<G = Erasing>(PhantomData<fn() -> G>);

found! {
    PerCpu,
    "Drops the buffer of a generator that the calling thread can use, which then takes a new key \
     from the kernel.",
    "if all generators that this thread can use are busy"
}

impl<G> PerCpu<G> {
    /// The same generators with kernel bytes mixed into every request.
    #[inline]
    #[must_use]
    pub const fn strict(self) -> Strict<Self> {
        Strict::new(self)
    }
}

impl<C: SeedCore + 'static> PerCpu<Rekeying<C>>
where
    Rekeying<C>: StaticGenerator,
{
    /// The counters of the generators: for each processor of its two own pages and its common page,
    /// in this order, if they were ever used.
    pub fn counters() -> impl Iterator<Item = Counters> {
        let pages = Rekeying::<C>::statics()
            .table
            .entries()
            .iter()
            .flat_map(|Entry { own: [first, second], common, .. }| [first, second, common]);
        pages.filter_map(|place| Some(place.page()?.made().counters()))
    }
}

impl<G: StaticGenerator> Mix for PerCpu<G> {
    fn fill_with(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        serve(Locked::<G>::any(), out, mixing)
    }
}

/// Locks the first page of the processor.
#[inline(always)]
fn lock_first<G: StaticGenerator>() -> Option<Own<G, 0>> {
    rseq::lock(G::statics().table)
}

#[inline(always)]
fn word<G: StaticGenerator, W: Word>() -> W {
    let Some(mut own) = lock_first::<G>() else { return word_elsewhere::<G, W>() };
    match G::take(&mut own.page()) {
        Ok(word) => word,
        Err(refusal) => word_slowly(Locked::First(own), refusal),
    }
}

/// A word from a page other than the first.
#[inline(never)]
fn word_elsewhere<G: StaticGenerator, W: Word>() -> W {
    let Some(mut locked) = Locked::<G>::other() else {
        return W::by(|bytes| serve::<G>(None, bytes, Mixing::Refills))
            .unwrap_or_else(|error| abort(error));
    };
    match G::take(&mut locked.page()) {
        Ok(word) => word,
        Err(refusal) => word_slowly(locked, refusal),
    }
}

/// A word that the page refused.
#[cold]
#[inline(never)]
fn word_slowly<G: StaticGenerator, W: Word>(mut locked: Locked<G>, refusal: Refusal) -> W {
    if locked.page().drew_zero(refusal) {
        return W::ZERO;
    }
    W::by(|bytes| serve(Some(locked), bytes, Mixing::Refills)).unwrap_or_else(|error| abort(error))
}

/// Fills `out`. An error is returned, or ends the process. Everything except short requests that
/// the first page serves is a tail call, so that short requests need no stack.
#[inline(always)]
fn fill<G: StaticGenerator, const ABORT: bool>(out: &mut [u8]) -> Result<(), EntropyError> {
    let Some(mut own) = lock_first::<G>() else { return fill_elsewhere::<G, ABORT>(out) };
    if out.len() >= LONG {
        return fill_long::<G, ABORT>(own, out);
    }
    if G::take_few_bytes(&mut own.page(), out).is_err() {
        return fill_slowly::<G, ABORT>(own, out);
    }
    Ok(())
}

/// A long request.
#[inline(never)]
fn fill_long<G: StaticGenerator, const ABORT: bool>(
    mut own: Own<G, 0>,
    out: &mut [u8],
) -> Result<(), EntropyError> {
    if G::take_bytes(&mut own.page(), Isa::detect(), out).is_err() {
        return fill_slowly::<G, ABORT>(own, out);
    }
    Ok(())
}

/// A request that the first page refused.
#[cold]
#[inline(never)]
fn fill_slowly<G: StaticGenerator, const ABORT: bool>(
    own: Own<G, 0>,
    out: &mut [u8],
) -> Result<(), EntropyError> {
    or_abort::<ABORT>(serve(Some(Locked::First(own)), out, Mixing::Refills))
}

/// Bytes from a page other than the first.
#[inline(never)]
fn fill_elsewhere<G: StaticGenerator, const ABORT: bool>(
    out: &mut [u8],
) -> Result<(), EntropyError> {
    let mut locked = Locked::<G>::other();
    if let Some(locked) = &mut locked
        && take_any(&mut locked.page(), Isa::detect, out).is_ok()
    {
        return Ok(());
    }
    or_abort::<ABORT>(serve(locked, out, Mixing::Refills))
}

/// Serves any request, with the lock that is held, or with `None` if no page was free. Ends the
/// lock.
#[cold]
#[inline(never)]
fn serve<G: StaticGenerator>(
    locked: Option<Locked<G>>,
    out: &mut [u8],
    mixing: Mixing,
) -> Result<(), EntropyError> {
    let _errno = Errno::keep();
    let locked = locked.or_else(|| {
        G::statics().table.prepare();
        Locked::any()
    });
    // By system call, because the draw that this one interrupted may be inside of the vDSO.
    let Some(mut locked) = locked else { return kernel::fill(State::NONE, out) };
    let (place, page) = (locked.place(), locked.page());
    let vdso = place.vdso(&page);
    Owner { page, vdso, isa: Isa::detect(), interval: None }.fill(out, mixing)
}

/// A page that this thread has locked. Dropping it unlocks the page.
enum Locked<G: 'static> {
    /// The processor's first own page.
    First(Own<G, 0>),
    /// The processor's second own page.
    Second(Own<G, 1>),
    /// A common one.
    Common(PageGuard<'static, G>, &'static Place<G>),
}

impl<G: StaticGenerator> Locked<G> {
    /// Locks any page that is free.
    fn any() -> Option<Self> {
        lock_first().map(Self::First).or_else(Self::other)
    }

    /// Locks any page but the first that is free.
    #[inline]
    fn other() -> Option<Self> {
        rseq::lock(G::statics().table).map(Self::Second).or_else(Self::common)
    }

    /// Locks the common page of this processor, or that of the next one.
    #[inline]
    fn common() -> Option<Self> {
        let entries = G::statics().table.entries();
        let cpu = this_processor();
        // A processor without pages must get its own. The next processor's page must not replace
        // them permanently.
        if entries.get(cpu % entries.len().max(1))?.common.is_vacant() {
            return None;
        }
        let mut draw = Marked::of_thread()?;
        for next in 0..2 {
            let place = &entries.get((cpu + next) % entries.len().max(1))?.common;
            let Some(page) = place.page() else { continue };
            // SAFETY: a common page is used in this way only.
            match unsafe { draw.try_lock(page) } {
                Ok(turn) => return Some(Self::Common(turn, place)),
                Err(again) => draw = again,
            }
        }
        None
    }

    fn page(&mut self) -> PageMut<'_, G> {
        match self {
            Self::First(own) => own.page(),
            Self::Second(own) => own.page(),
            Self::Common(turn, _) => turn.page(),
        }
    }

    fn place(&self) -> &'static Place<G> {
        match self {
            Self::First(own) => own.place(),
            Self::Second(own) => own.place(),
            Self::Common(_, place) => place,
        }
    }
}
