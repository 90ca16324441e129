//! The page with a generator's state, and the take: the short fast path of every small request.
//!
//! # Who uses a page
//!
//! Pages stay mapped for ever, and every field of a [`Page`] can change through a shared reference.
//! So any code may hold a reference, which identifies the page but gives no right to use it. That
//! right is a [`PageMut`], of which there is only one at a time. Four places create one: a thread's
//! claim ([`crate::linux::local`]), a page's lock ([`crate::linux::turn`]), a processor's lock
//! ([`crate::linux::rseq`]), and the value that owns the page ([`crate::linux::pool::Slot`]).
//!
//! The kernel also writes to a page: it zeroes it in a forked child ([`lanecrypt_kernels::fork`]).
//! Only a fork inside a signal handler can do that during a take, which then continues in the
//! child. So there are no data races, but the compiler must keep the order of reads, wipes and
//! checks. Compiler fences ensure that.
//!
//! A zeroed page means: no bytes left, not live. A take that a fork interrupted reads zeros from
//! the buffer. So a take checks `live` after it has copied its bytes. A take of one word, read by
//! one instruction, checks it only if the word is zero. After a fork later than this check, both
//! processes have the same bytes, which already belong to the caller.

use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering, compiler_fence};

use lanecrypt_kernels::{Isa, wipe};

use crate::linux::arch::ONE_LOAD;
use crate::linux::copy_and_wipe::{hand_out, hand_out_short};
use crate::linux::lock_word::LockWord;
use crate::linux::mixing::Chain;
use crate::linux::volatile::Volatile;
use crate::linux::word::{Unaligned, Word};

/// The size of a generator's page in bytes: two pages of the processor. With half of it, a request
/// of 256 bytes would cost a tenth more, because each refill pays for kernel bytes and a new key.
pub(crate) const SIZE: usize = 8192;
/// The distance from one generator's page to the next. When the end of a page is read, the
/// processor prefetches the start of the next one. The gap, which is never touched, prevents two
/// owners from evicting each other's cache lines in this way.
pub(crate) const STRIDE: usize = SIZE + 4096;
/// The number of bytes of keystream of one refill. The first 32 become the next key.
pub(crate) const BUFFER: usize = SIZE - 64;
/// The number of bytes to hand out after a refill that also generates the next key.
pub(crate) const YIELD: u32 = 8096;

/// The whole secret state of a generator of the kind `G`. All zero means empty and not seeded.
#[repr(C, align(4096))]
pub(crate) struct Page<G> {
    /// Keystream. Bytes that were handed out are zero. A kind may keep other data in it.
    buffer: UnsafeCell<[u8; BUFFER]>,
    /// The number of bytes to hand out: the last ones of `buffer`. At most [`YIELD`].
    left: Volatile<u32>,
    /// Not zero while the key is valid. Written only when seeding begins, and never later, so that
    /// every later fork is detected.
    live: Volatile<u32>,
    /// Units of bytes generated since the last mixing by system call ([`crate::linux::mixing`]).
    unmixed: Cell<u16>,
    /// Held while the page is in use, if several threads may use it
    /// ([`crate::linux::page_guard`]). It is in the page so that a forked child finds the page
    /// free.
    lock: LockWord,
    /// The second of the coarse monotonic clock at that mixing.
    mixed_at: Cell<u32>,
    /// The next refill's key.
    key: UnsafeCell<[u8; 32]>,
    /// Whether a unit of memory is locked, for any thread ([`crate::linux::memlock`]). It is in the
    /// page because a child inherits no locks. It keeps its value when the page is returned to the
    /// pool.
    locked: AtomicBool,
    kind: PhantomData<fn() -> G>,
}

const _: () = assert!(size_of::<Page<()>>() == SIZE && offset_of!(Page<()>, left) == BUFFER);
const _: () = assert!(YIELD as usize == BUFFER - 32);

/// The reason for which a take failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Too few bytes are left, or a fork emptied the page.
    Empty,
    /// The word is zero; or, if the page is not live, a fork emptied the page before it was read.
    Zero,
}

impl<G> Page<G> {
    /// Takes the page's lock if it is free. Pages with a single user never use their lock.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.lock.try_lock()
    }

    /// Unlocks the page.
    #[inline(always)]
    pub(crate) fn unlock(&self) {
        self.lock.unlock();
    }

    /// The mark of a locked unit of memory.
    pub(crate) fn locked(&self) -> &AtomicBool {
        &self.locked
    }

    /// The start of the buffer. The kind defines its content.
    #[inline(always)]
    pub(crate) fn buffer(&self) -> *mut [u8; BUFFER] {
        self.buffer.get()
    }
}

/// The right to use a page: all of it except its two atomic numbers and those that its kind makes
/// readable for others.
pub(crate) struct PageMut<'a, G>(&'a Page<G>);

impl<'a, G> PageMut<'a, G> {
    /// Begins to use a page.
    ///
    /// # Safety
    ///
    /// Nobody else uses the page as long as this value exists, including signal handlers. All users
    /// since the page was empty were of the kind `G`.
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

    /// Sets the number of bytes to hand out. The kind has just generated them, as the last bytes of
    /// the buffer.
    pub(crate) fn set_left(&mut self, left: u32) {
        self.0.left.set(left.min(YIELD));
    }

    /// Whether the page is seeded and no fork has emptied it since. Everything that was read from
    /// the page before was read before this check.
    #[inline(always)]
    pub(crate) fn is_live(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        self.0.live.get() != 0
    }

    /// Whether a take was refused because it drew the number zero, which is valid.
    pub(crate) fn drew_zero(&self, refusal: Refusal) -> bool {
        refusal == Refusal::Zero && self.is_live()
    }

    /// Marks the page live, before it is seeded, or not live. In either case no bytes are left.
    pub(crate) fn begin(&mut self, live: bool) {
        self.0.left.set(0);
        self.0.live.set(u32::from(live));
        // The key is written after that.
        compiler_fence(Ordering::SeqCst);
    }

    /// The page's key and its counts.
    pub(crate) fn chain(&mut self) -> Chain<'_> {
        // SAFETY: only the page's user touches its key, and this borrows the right to it.
        let key = unsafe { &mut *self.0.key.get() };
        Chain { key, made: &self.0.unmixed, asked_at: &self.0.mixed_at }
    }

    /// Takes one word from the page and wipes it there.
    #[inline(always)]
    pub(crate) fn take<W: Word>(&mut self) -> Result<W, Refusal> {
        let left = self.left();
        if left < W::SIZE {
            return Err(Refusal::Empty);
        }
        let place = self.unused(left).cast::<Unaligned<W>>();
        // SAFETY: at least the word's size is left at `place`, and any bits make a word. Volatile,
        // so that one instruction reads it once.
        let Unaligned(word) = unsafe { place.read_volatile() };
        // A volatile store of a packed value would go through the stack. The fence keeps this store
        // before the next check of the page.
        // SAFETY: the same bytes.
        unsafe { place.write(Unaligned(W::ZERO)) };
        compiler_fence(Ordering::SeqCst);
        self.0.left.set(left - W::SIZE);
        if word == W::ZERO {
            return Err(Refusal::Zero);
        }
        if !ONE_LOAD && !self.is_live() {
            return Err(Refusal::Empty);
        }
        Ok(word)
    }

    /// Fills `out` from the page and wipes the bytes there.
    ///
    /// Also refused if a fork emptied the page meanwhile. Then `out` must be filled again.
    #[inline(always)]
    pub(crate) fn take_bytes(&mut self, isa: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        self.take_by(out, |source, out| {
            // SAFETY: `take_by` says so.
            unsafe { hand_out(isa, source, out) };
        })
    }

    /// [`PageMut::take_bytes`] for fewer than [`LONG`](crate::linux::copy_and_wipe::LONG) bytes,
    /// without calls.
    #[inline(always)]
    pub(crate) fn take_few_bytes(&mut self, out: &mut [u8]) -> Result<(), Refusal> {
        self.take_by(out, |source, out| {
            // SAFETY: `take_by` says so.
            unsafe { hand_out_short(source, out) };
        })
    }

    /// Calls `hand_out` to move bytes from the buffer to `out`. There are enough of them, and no
    /// other code uses them.
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

    /// Fills as much of `out` as the buffer holds, and returns the rest.
    pub(crate) fn drain<'out>(&mut self, isa: Isa, out: &'out mut [u8]) -> &'out mut [u8] {
        let (now, later) = out.split_at_mut(out.len().min(self.left() as usize));
        // A fork is detected at the end of the request.
        let _ = self.take_bytes(isa, now);
        later
    }

    /// The first byte that has not been handed out, if `left` bytes are left.
    #[inline(always)]
    fn unused(&self, left: u32) -> *mut u8 {
        self.0.buffer().cast::<u8>().wrapping_add(BUFFER - left as usize)
    }

    /// Wipes the whole page, except the mark of a locked unit.
    pub(crate) fn empty(&mut self) {
        self.begin(false);
        // SAFETY: only the page's user touches its buffer.
        wipe::memory(unsafe { &mut *self.0.buffer.get() });
        let Chain { key, made, asked_at } = self.chain();
        wipe::memory(key);
        made.set(0);
        asked_at.set(0);
        // The last user may have ended in the middle of a draw.
        self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;
    use std::thread;

    use super::*;

    struct Shared<'page>(&'page Page<()>);

    // SAFETY: threads use the page by its lock only.
    unsafe impl Sync for Shared<'_> {}

    /// Counts a use of the page, if it is free.
    fn draw(Shared(page): &Shared<'_>) -> bool {
        let is_free = page.try_lock();
        if is_free {
            // SAFETY: the lock is held.
            let mut user = unsafe { PageMut::new(page) };
            user.begin(true);
            user.set_left(64);
            assert_eq!(user.take::<u32>(), Err(Refusal::Zero));
            let made = user.chain().made;
            made.set(made.get() + 1);
            page.unlock();
        }
        is_free
    }

    /// Miri reports a use that is not ordered after the last one.
    #[test]
    fn threads_use_a_page_by_its_lock() {
        let draws = if cfg!(miri) { 4 } else { 10_000 };
        let page = MaybeUninit::zeroed();
        // SAFETY: all zero is a page.
        let page = Shared(unsafe { page.assume_init_ref() });
        let count = || (0..draws).filter(|_| draw(&page)).count();
        let counted: usize = thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(count));
            threads.map(|thread| thread.join().expect("it only draws")).iter().sum()
        });
        assert_eq!(usize::from(page.0.unmixed.get()), counted);
    }
}
