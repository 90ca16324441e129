//! The page that holds a generator's state, and the take: the few instructions that every small
//! request consists of.
//!
//! # Who uses a page
//!
//! Pages stay mapped for ever, and every field of a [`Page`] can change through a shared reference.
//! So anybody may hold a reference, which names the page and no more. The right to use it is a
//! [`PageMut`]. There is one of these at a time. It is made where a thread claims its page
//! ([`crate::per_thread`]), where a page is locked ([`crate::turn`], [`crate::rseq`]), or from the
//! value that owns the page ([`crate::pool::Slot`]).
//!
//! The kernel, too, writes to a page: it zeroes it in a forked child ([`lanecrypt_kernels::fork`]).
//! Only a fork inside a signal handler can do that under a running take, which then goes on in the
//! child. So there are no data races; but the compiler must keep the order of reads, wipes and
//! checks. Compiler fences see to that.
//!
//! A zeroed page reads as: no bytes left, not live. A take that a fork cut in two reads zeros from
//! the buffer. So a take looks at `live` after it has copied its bytes; a take of one word, read by
//! one instruction, only if the word is zero. A fork after that look gives both processes the same
//! bytes: they are the caller's by then.

use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU8, Ordering, compiler_fence};

use lanecrypt_kernels::{Isa, wipe};

use crate::hand_out::{hand_out, hand_out_short};
use crate::mixing::Chain;
use crate::volatile::Volatile;
use crate::word::{Unaligned, Word};

/// Bytes of a generator's page: two pages of the processor. Half as much would cost a tenth more in
/// a request of 256 bytes, because kernel bytes and a new key are paid for at each refill.
pub(crate) const SIZE: usize = 8192;
/// Bytes from one generator's page to the next. The processor fetches the start of the next page in
/// advance when the end of one is read; the gap, which is never touched, keeps two owners from
/// taking each other's cache lines that way.
pub(crate) const STRIDE: usize = SIZE + 4096;
/// Bytes of keystream that one refill makes; the first 32 become the next key.
pub(crate) const BUFFER: usize = SIZE - 64;
/// Bytes that a refill leaves to hand out where it makes the next key, too.
pub(crate) const YIELD: u32 = 8096;

/// The whole secret state of a generator of the kind `G`; all zero means empty and not seeded.
#[repr(C, align(4096))]
pub(crate) struct Page<G> {
    /// Keystream; bytes that were handed out are zero. The kind may keep other things in it.
    buffer: UnsafeCell<[u8; BUFFER]>,
    /// Bytes still to be handed out: the last ones of `buffer`. At most [`YIELD`].
    left: Volatile<u32>,
    /// Not zero while the key is good. Written only when seeding begins, never after, so that a
    /// fork from then on is noticed.
    live: Volatile<u32>,
    /// Units of bytes made since a system call's bytes were mixed in ([`crate::mixing`]).
    unmixed: Cell<u16>,
    /// One while somebody uses the page, where more than one may ([`crate::turn`]). Here, so that a
    /// forked child finds the page free, whoever used it in the parent.
    lock: AtomicU8,
    /// Second of the coarse monotonic clock at which they were mixed in.
    mixed_at: Cell<u32>,
    /// The next refill's key.
    key: UnsafeCell<[u8; 32]>,
    /// Whether the page is locked in memory ([`crate::memlock`]). Here, because a child inherits no
    /// locks. It stays when the page goes back to the pool.
    locked: Cell<bool>,
    kind: PhantomData<fn() -> G>,
}

const _: () = assert!(size_of::<Page<()>>() == SIZE && offset_of!(Page<()>, left) == BUFFER);
const _: () = assert!(YIELD as usize == BUFFER - 32);

/// Why a take gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Too few bytes are left, or a fork emptied the page.
    Empty,
    /// The word is zero; or a fork emptied the page before it was read, if the page is not live.
    Zero,
}

impl<G> Page<G> {
    /// Takes the page's lock if it is free. Pages that have one user only never use theirs.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        // Acquire pairs with the store in `unlock`.
        self.lock.load(Ordering::Relaxed) == 0
            && self.lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the page's lock up.
    #[inline(always)]
    pub(crate) fn unlock(&self) {
        // Release pairs with the exchange in `try_lock`.
        self.lock.store(0, Ordering::Release);
    }

    /// Where the buffer begins. The kind decides what it holds.
    #[inline(always)]
    pub(crate) fn buffer(&self) -> *mut [u8; BUFFER] {
        self.buffer.get()
    }
}

/// The right to use a page: all of it but the lock and the numbers that its kind lets others read.
pub(crate) struct PageMut<'a, G>(&'a Page<G>);

impl<'a, G> PageMut<'a, G> {
    /// Begins to use a page.
    ///
    /// # Safety
    ///
    /// Nobody else uses the page as long as this value exists; a signal handler that comes
    /// meanwhile does not, either. All that ever used it since it was empty were of the kind `G`.
    #[inline(always)]
    pub(crate) unsafe fn new(page: &'a Page<G>) -> Self {
        Self(page)
    }

    /// The page.
    #[inline(always)]
    pub(crate) fn page(&self) -> &'a Page<G> {
        self.0
    }

    /// The bytes left.
    #[inline(always)]
    pub(crate) fn left(&self) -> u32 {
        self.0.left.get()
    }

    /// Says how many bytes can be handed out: the last ones of the buffer, of which the kind has
    /// just made so many.
    pub(crate) fn set_left(&mut self, left: u32) {
        self.0.left.set(left.min(YIELD));
    }

    /// Whether the page is seeded and no fork has emptied it since. What was read from the page
    /// before was read before this look.
    #[inline(always)]
    pub(crate) fn is_live(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        self.0.live.get() != 0
    }

    /// Whether a take was refused because it drew the number zero, as it may.
    pub(crate) fn drew_zero(&self, refusal: Refusal) -> bool {
        refusal == Refusal::Zero && self.is_live()
    }

    /// Marks the page live, before it is seeded, or not live; either way no bytes are left.
    pub(crate) fn begin(&mut self, live: bool) {
        self.0.left.set(0);
        self.0.live.set(u32::from(live));
        // The key is written after that.
        compiler_fence(Ordering::SeqCst);
    }

    /// The page's key, and what goes with it.
    pub(crate) fn chain(&mut self) -> Chain<'_> {
        // SAFETY: only the page's user touches its key, and this borrows the right to it.
        let key = unsafe { &mut *self.0.key.get() };
        Chain { key, made: &self.0.unmixed, asked_at: &self.0.mixed_at }
    }

    /// Whether the page is locked in memory, for whoever changes that.
    pub(crate) fn locked(&mut self) -> &Cell<bool> {
        &self.0.locked
    }

    /// Takes one word from the page and wipes it there.
    #[inline(always)]
    pub(crate) fn take<W: Word>(&mut self) -> Result<W, Refusal> {
        let left = self.left();
        if left < W::SIZE {
            return Err(Refusal::Empty);
        }
        let place = self.unused(left).cast::<Unaligned<W>>();
        // SAFETY: at least the word's size is left at `place`, and any bits make a word. Volatile:
        // read once, by one instruction.
        let Unaligned(word) = unsafe { place.read_volatile() };
        // A volatile store of a packed value would go through the stack; the fence keeps this one
        // before the next look at the page.
        // SAFETY: the same bytes.
        unsafe { place.write(Unaligned(W::ZERO)) };
        compiler_fence(Ordering::SeqCst);
        self.0.left.set(left - W::SIZE);
        if word == W::ZERO {
            return Err(Refusal::Zero);
        }
        if !W::ONE_LOAD && !self.is_live() {
            return Err(Refusal::Empty);
        }
        Ok(word)
    }

    /// Fills `out` from the page and wipes the bytes there.
    ///
    /// Refused also when a fork emptied the page meanwhile: `out` must then be filled anew.
    #[inline(always)]
    pub(crate) fn take_bytes(&mut self, isa: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        self.take_by(out, |source, out| {
            // SAFETY: `take_by` says so.
            unsafe { hand_out(isa, source, out) };
        })
    }

    /// [`PageMut::take_bytes`] for fewer than [`LONG`](crate::hand_out::LONG) bytes, without calls.
    #[inline(always)]
    pub(crate) fn take_few_bytes(&mut self, out: &mut [u8]) -> Result<(), Refusal> {
        self.take_by(out, |source, out| {
            // SAFETY: `take_by` says so.
            unsafe { hand_out_short(source, out) };
        })
    }

    /// Has `hand_out` move bytes from where it is told to `out`: as many lie there, and nobody else
    /// uses them.
    #[inline(always)]
    fn take_by(
        &mut self,
        out: &mut [u8],
        hand_out: impl FnOnce(*mut u8, &mut [u8]),
    ) -> Result<(), Refusal> {
        let left = self.left();
        let length = u32::try_from(out.len()).map_err(|_| Refusal::Empty)?;
        if length > left {
            return Err(Refusal::Empty);
        }
        hand_out(self.unused(left), out);
        self.0.left.set(left - length);
        if self.is_live() { Ok(()) } else { Err(Refusal::Empty) }
    }

    /// Fills as much of `out` as the buffer holds; returns the rest.
    pub(crate) fn drain<'out>(&mut self, isa: Isa, out: &'out mut [u8]) -> &'out mut [u8] {
        let (now, later) = out.split_at_mut(out.len().min(self.left() as usize));
        // A fork is noticed when all is done.
        let _ = self.take_bytes(isa, now);
        later
    }

    /// The first byte that has not been handed out, when `left` bytes are left.
    #[inline(always)]
    fn unused(&self, left: u32) -> *mut u8 {
        self.0.buffer().cast::<u8>().wrapping_add(BUFFER - left as usize)
    }

    /// Wipes all of the page; whether it is locked in memory stays known.
    pub(crate) fn empty(&mut self) {
        self.begin(false);
        // SAFETY: only the page's user touches its buffer.
        wipe::memory(unsafe { &mut *self.0.buffer.get() });
        let Chain { key, made, asked_at } = self.chain();
        wipe::memory(key);
        made.set(0);
        asked_at.set(0);
        // Whoever had it may have left in the middle of a draw.
        self.0.unlock();
    }
}
