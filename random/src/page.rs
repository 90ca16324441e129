//! The page that holds a generator's state, and the take: the few instructions that every small
//! request consists of.
//!
//! # Who touches a page
//!
//! One owner at a time: the thread that the page belongs to ([`crate::per_thread`]), the holder of
//! the page's lock ([`crate::per_cpu`], [`crate::shared`]), or whoever owns it exclusively
//! ([`crate::Held`]); and the kernel, which zeroes the page in a forked child ([`lanecrypt_kernels::fork`]). Only a
//! fork inside a signal handler can do that under a running take, which then goes on in the child. So there are no data races; what is needed is that the compiler
//! keeps the order of reads, wipes and checks, which volatile accesses do.
//!
//! A zeroed page reads as: no bytes left, not live. A take that a fork cut in two reads zeros from
//! the buffer. So a take looks at `live` after it has copied its bytes; a take of one word, read
//! by one instruction, only if the word is zero. A fork after that look gives both processes the same
//! bytes: they are the caller's by then.

use core::mem::offset_of;
use core::sync::atomic::{AtomicU8, Ordering, compiler_fence};

use lanecrypt_kernels::{Isa, wipe};

use crate::hand_out::{hand_out, hand_out_short};

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

/// A generator's whole secret state; all zero means empty and not seeded.
#[repr(C, align(4096))]
pub(crate) struct Page {
    /// Keystream; bytes that were handed out are zero.
    pub(crate) buffer: [u8; BUFFER],
    /// Bytes still to be handed out: the last ones of `buffer`. At most [`YIELD`].
    left: u32,
    /// Not zero while the key is good. Written only when seeding begins, never after, so that a
    /// fork from then on is noticed.
    live: u32,
    /// Units of bytes made since a system call's bytes were mixed in ([`crate::mixing`]).
    pub(crate) unmixed: u16,
    /// One while somebody uses the page, where more than one may ([`crate::turn`]). Here, so that a
    /// forked child finds the page free, whoever used it in the parent.
    pub(crate) lock: AtomicU8,
    /// Second of the coarse monotonic clock at which they were mixed in.
    pub(crate) mixed_at: u32,
    /// The next refill's key.
    pub(crate) key: [u8; 32],
    /// Not zero if the page is locked in memory ([`crate::memlock`]). Here, because a child inherits no
    /// locks. Last, because it stays when the page goes back to the pool.
    pub(crate) locked: u64,
}

const _: () = assert!(size_of::<Page>() == SIZE && offset_of!(Page, left) == BUFFER);
const _: () = assert!(YIELD as usize == BUFFER - 32);

/// Why a take gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Too few bytes are left, or a fork emptied the page.
    Empty,
    /// The word is zero; or a fork emptied the page before it was read, if the page is not live.
    Zero,
}

/// A pointer to a page.
///
/// Every method asks for the same: the page is mapped, and the caller is its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PagePtr(pub(crate) *mut Page);

impl PagePtr {
    /// The bytes left.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it.
    #[inline(always)]
    pub(crate) unsafe fn left(self) -> u32 {
        // SAFETY: the caller vouches for the page.
        let left = unsafe { &raw const (*self.0).left };
        // SAFETY: the pointer is to a field of that page.
        unsafe { left.read_volatile() }
    }

    /// Sets the bytes left.
    ///
    /// # Safety
    ///
    /// The page is mapped, the caller owns it, and its generator can give so many.
    #[inline(always)]
    pub(crate) unsafe fn set_left(self, left: u32) {
        // SAFETY: the caller vouches for the page.
        let place = unsafe { &raw mut (*self.0).left };
        // SAFETY: the pointer is to a field of that page.
        unsafe { place.write_volatile(left) };
    }

    /// Whether the page is seeded and no fork has emptied it since.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it.
    #[inline(always)]
    pub(crate) unsafe fn is_live(self) -> bool {
        // SAFETY: the caller vouches for the page.
        let live = unsafe { &raw const (*self.0).live };
        // SAFETY: the pointer is to a field of that page.
        unsafe { live.read_volatile() != 0 }
    }

    /// Whether a take was refused because it drew the number zero, as it may.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it.
    pub(crate) unsafe fn drew_zero(self, refusal: Refusal) -> bool {
        // SAFETY: the caller's promise.
        refusal == Refusal::Zero && unsafe { self.is_live() }
    }

    /// Marks the page live; done before seeding it.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it.
    pub(crate) unsafe fn set_live(self, live: bool) {
        // SAFETY: the caller vouches for the page.
        let place = unsafe { &raw mut (*self.0).live };
        // SAFETY: the pointer is to a field of that page.
        unsafe { place.write_volatile(u32::from(live)) };
    }

    /// The first byte that has not been handed out, when `left` bytes are left.
    ///
    /// # Safety
    ///
    /// The page is mapped and `left` is at most [`YIELD`].
    #[inline(always)]
    pub(crate) unsafe fn unused(self, left: u32) -> *mut u8 {
        // SAFETY: the caller vouches for the page.
        let buffer = unsafe { &raw mut (*self.0).buffer };
        // SAFETY: `left` is at most the buffer's length, so the offset stays inside or at its end.
        unsafe { buffer.cast::<u8>().add(BUFFER - left as usize) }
    }

    /// Takes one word from the page and wipes it there.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it.
    #[inline(always)]
    pub(crate) unsafe fn take<W: Word>(self) -> Result<W, Refusal> {
        // SAFETY: the caller's promise.
        let left = unsafe { self.left() };
        if left < W::SIZE {
            return Err(Refusal::Empty);
        }
        // SAFETY: nobody but this crate sets the count, and never beyond the buffer.
        let place = unsafe { self.unused(left) }.cast::<Unaligned<W>>();
        // SAFETY: at least the word's size is left at `place`, and any bits make a word.
        let Unaligned(word) = unsafe { place.read_volatile() };
        // A volatile store of a packed value would go through the stack; the fence keeps this one
        // before the next look at the page.
        // SAFETY: the same bytes.
        unsafe { place.write(Unaligned(W::ZERO)) };
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the caller's promise; the count only falls.
        unsafe { self.set_left(left - W::SIZE) };
        if word == W::ZERO {
            return Err(Refusal::Zero);
        }
        // SAFETY: the caller's promise.
        if !W::ONE_LOAD && !unsafe { self.is_live() } {
            return Err(Refusal::Empty);
        }
        Ok(word)
    }

    /// Fills `out` from the page and wipes the bytes there.
    ///
    /// Refused also when a fork emptied the page meanwhile: `out` must then be filled anew.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it.
    #[inline(always)]
    pub(crate) unsafe fn take_bytes(self, isa: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        // SAFETY: the caller's promise.
        let (source, left) = unsafe { self.begin(out.len())? };
        // SAFETY: that many bytes are left at `source`, and `out` is outside of the page.
        unsafe { hand_out(isa, source, out.as_mut_ptr(), out.len()) };
        // SAFETY: the caller's promise, and the bytes were handed out.
        unsafe { self.finish(left) }
    }

    /// [`PagePtr::take_bytes`] for fewer than [`LONG`](crate::hand_out::LONG) bytes, without calls.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it.
    #[inline(always)]
    pub(crate) unsafe fn take_few_bytes(self, out: &mut [u8]) -> Result<(), Refusal> {
        // SAFETY: the caller's promise.
        let (source, left) = unsafe { self.begin(out.len())? };
        // SAFETY: that many bytes are left at `source`, and `out` is outside of the page.
        unsafe { hand_out_short(source, out.as_mut_ptr(), out.len()) };
        // SAFETY: the caller's promise, and the bytes were handed out.
        unsafe { self.finish(left) }
    }

    /// Where `length` bytes can be taken from, and how many are left then.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it.
    #[inline(always)]
    unsafe fn begin(self, length: usize) -> Result<(*mut u8, u32), Refusal> {
        // SAFETY: the caller's promise.
        let left = unsafe { self.left() };
        let length = u32::try_from(length).map_err(|_| Refusal::Empty)?;
        if length > left {
            return Err(Refusal::Empty);
        }
        // SAFETY: nobody but this crate sets the count, and never beyond the buffer.
        Ok((unsafe { self.unused(left) }, left - length))
    }

    /// Moves the cursor; refused if a fork emptied the page meanwhile.
    ///
    /// # Safety
    ///
    /// The page is mapped, the caller owns it, and all but the last `left` bytes are handed out.
    #[inline(always)]
    unsafe fn finish(self, left: u32) -> Result<(), Refusal> {
        // SAFETY: the caller's promise; the count only falls.
        unsafe { self.set_left(left) };
        // SAFETY: the caller's promise.
        if unsafe { self.is_live() } { Ok(()) } else { Err(Refusal::Empty) }
    }
}

/// A number that a take yields: any bits make one.
pub(crate) trait Word: Copy + Eq {
    /// The number without bits.
    const ZERO: Self;
    /// Its size in bytes.
    const SIZE: u32;
    /// Whether the processor reads it by one instruction from any address, so that a fork finds it
    /// either unread or read.
    const ONE_LOAD: bool;

    /// The number that steps of 32 bits make, the first the lowest.
    #[cfg(feature = "legacy")]
    fn from_steps(step: impl FnMut() -> u32) -> Self;

    /// The number that `fill` gives; the bytes are wiped.
    fn by<E>(fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, E>;
}

macro_rules! word {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const ZERO: Self = 0;
            const SIZE: u32 = <$word>::BITS / 8;
            const ONE_LOAD: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

            #[cfg(feature = "legacy")]
            #[inline(always)]
            fn from_steps(mut step: impl FnMut() -> u32) -> Self {
                (0..Self::SIZE / 4).fold(0, |word, i| word | Self::from(step()) << (32 * i))
            }

            #[inline]
            fn by<E>(fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
                let mut bytes = [0; size_of::<$word>()];
                let word = fill(&mut bytes).map(|()| Self::from_ne_bytes(bytes));
                wipe::memory(&mut bytes);
                word
            }
        }
    )*};
}

word!(u32, u64);

/// A value at any address: volatile accesses come only in aligned form.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(crate) struct Unaligned<T>(pub(crate) T);
