//! One generator for each processor: memory grows with processors, not with threads.
//!
//! Each processor has three pages. Two are its *own*, locked by a restartable sequence
//! ([`crate::rseq`]), which costs little and which only threads on that processor can do: one, and
//! one for when the first one's holder has lost the processor in the middle of a draw or is
//! interrupted by a handler that draws. A draw that finds both locked, or a C library without
//! restartable sequences, tries the *common* page of the processor, then that of the next
//! processor, by an atomic instruction; then it asks the kernel. No draw ever waits.
//!
//! The locks of the own pages lie outside of them and survive a fork. So, if a handler forks in the
//! middle of a draw, the child's later draws do not touch the page until the interrupted one has
//! ended. If another thread held it, the child does without this page for good.

use core::fmt;
use core::marker::PhantomData;

use lanecrypt_kernels::Isa;

use crate::core_type::SeedCore;
use crate::erasing::Erasing;
use crate::errno::Errno;
use crate::error::{EntropyError, abort};
use crate::generator::{Mixing, name_only, take_any};
use crate::kernel;
use crate::owner::Owner;
use crate::page::{PageMut, Refusal};
use crate::placed::Placed;
use crate::rekeying::{Counters, Rekeying};
use crate::rseq::{self, Own};
use crate::strict::{Mix, Strict};
use crate::table::{Entry, Place, this_processor};
use crate::turn::{Marked, Turn};
use crate::vdso::State;
use crate::word::Word;

/// The generator of the processor that the calling thread runs on, of the kind `G`.
///
/// For programs of very many threads: the state takes three pages of 8 KiB for each processor and
/// kind, however many threads draw. A draw costs a few cycles more than from
/// [`PerThread`](crate::PerThread). No draw ever waits for another; safe in signal handlers and
/// after a fork.
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
        let Some(mut own) = lock_first::<G>() else { return fill_elsewhere::<G>(out) };
        if take_any(&mut own.page(), Isa::detect, out).is_err() {
            return serve(Some(Locked::Own(own)), out, Mixing::Refills);
        }
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
        let pages = Rekeying::<C>::statics()
            .table
            .entries()
            .iter()
            .flat_map(|Entry { own: [first, second], common, .. }| [first, second, common]);
        pages.filter_map(|place| Some(place.page()?.made().counters()))
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
        serve(Locked::<G>::any(), out, mixing)
    }
}

/// Locks the first page of the processor.
#[inline(always)]
fn lock_first<G: Placed>() -> Option<Own<G>> {
    rseq::lock::<G, 0>(G::statics().table)
}

#[inline(always)]
fn word<G: Placed, W: Word>() -> W {
    let Some(mut own) = lock_first::<G>() else { return word_elsewhere::<G, W>() };
    match G::take(&mut own.page()) {
        Ok(word) => word,
        Err(refusal) => word_slowly(Locked::Own(own), refusal),
    }
}

/// A word from another page than the first.
#[inline(never)]
fn word_elsewhere<G: Placed, W: Word>() -> W {
    let Some(mut locked) = Locked::<G>::other() else {
        return W::by(|bytes| serve::<G>(None, bytes, Mixing::Refills))
            .unwrap_or_else(|error| abort(error));
    };
    match G::take(&mut locked.page()) {
        Ok(word) => word,
        Err(refusal) => word_slowly(locked, refusal),
    }
}

/// Bytes from another page than the first.
#[inline(never)]
fn fill_elsewhere<G: Placed>(out: &mut [u8]) -> Result<(), EntropyError> {
    let mut locked = Locked::<G>::other();
    if let Some(locked) = &mut locked
        && take_any(&mut locked.page(), Isa::detect, out).is_ok()
    {
        return Ok(());
    }
    serve(locked, out, Mixing::Refills)
}

/// A word that the page refused.
#[cold]
#[inline(never)]
fn word_slowly<G: Placed, W: Word>(mut locked: Locked<G>, refusal: Refusal) -> W {
    if locked.page().drew_zero(refusal) {
        return W::ZERO;
    }
    W::by(|bytes| serve(Some(locked), bytes, Mixing::Refills)).unwrap_or_else(|error| abort(error))
}

/// A request of any kind, with the lock that is held, or with none if no page was free. Gives the
/// lock up.
#[cold]
#[inline(never)]
fn serve<G: Placed>(
    locked: Option<Locked<G>>,
    out: &mut [u8],
    mixing: Mixing,
) -> Result<(), EntropyError> {
    let _errno = Errno::keep();
    let locked = locked.or_else(|| {
        G::statics().table.prepare();
        Locked::any()
    });
    // By system call: the draw that this one interrupted may be inside of the vDSO.
    let Some(mut locked) = locked else { return kernel::fill(State::NONE, out) };
    let (place, page) = (locked.place(), locked.page());
    let vdso = place.vdso(&page);
    Owner { page, vdso, isa: Isa::detect(), interval: None }.fill(out, mixing)
}

/// A page that this thread has locked; given up when dropped.
enum Locked<G: 'static> {
    /// The processor's own.
    Own(Own<G>),
    /// A common one.
    Common(Turn<'static, G>, &'static Place<G>),
}

impl<G: Placed> Locked<G> {
    /// Whatever page can be locked at once.
    fn any() -> Option<Self> {
        lock_first::<G>().map(Self::Own).or_else(Self::other)
    }

    /// Whatever page but the first can be locked at once.
    #[inline]
    fn other() -> Option<Self> {
        rseq::lock::<G, 1>(G::statics().table).map(Self::Own).or_else(Self::common)
    }

    /// The common page of this processor, or that of the next.
    #[inline]
    fn common() -> Option<Self> {
        let entries = G::statics().table.entries();
        let cpu = this_processor();
        // A processor that has no pages yet is to get them: the next one's must not stand in for
        // good.
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
            Self::Own(own) => own.page(),
            Self::Common(turn, _) => turn.page(),
        }
    }

    fn place(&self) -> &'static Place<G> {
        match self {
            Self::Own(own) => own.place(),
            Self::Common(_, place) => place,
        }
    }
}
