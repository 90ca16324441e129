//! The design of NetBSD's `cprng_fast`: one cipher state runs on, request after request, and gets a
//! new key from the kernel after a number of bytes.

use core::marker::PhantomData;
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering};

use lanecrypt_kernels::{Isa, StreamCore, wipe};

use crate::core_type::SeedCore;
use crate::generator::{Cut, Generator, Mixing, Source, clean_up};
use crate::kernel;
use crate::owner::Owner;
use crate::page::{BUFFER, PagePtr};
use crate::quiet::{self, Manner};

/// Bytes of keystream that one key makes, unless the program sets another number: 512 MiB.
pub const REKEY_INTERVAL: u64 = 512 << 20;

/// The setting of the process. Relaxed: a plain number.
static INTERVAL: AtomicU64 = AtomicU64::new(REKEY_INTERVAL);

/// The generator of NetBSD's `cprng_fast` over the core `C`: the cipher's state runs on and takes a
/// new key from the kernel every 512 MiB.
///
/// Buffered bytes are wiped as they leave, but **there is no backtracking resistance within an
/// interval**: who reads the state can compute what was given out under the present key. It is here
/// for comparison, and for ciphers whose keys take too long to set up to be replaced at each refill;
/// [`Erasing`](crate::Erasing) is what programs should use.
///
/// A type to place: [`PerCpu<Rekeying<C>>`](crate::PerCpu), [`Shared<Rekeying<C>>`](crate::Shared).
#[derive(Clone, Copy, Debug)]
pub struct Rekeying<C>(PhantomData<fn() -> C>);

/// Sets how many bytes of keystream one key makes, for all [`Rekeying`] generators of the process
/// that have no setting of their own; rounded up to whole blocks of 64 bytes.
///
/// It counts from each generator's next refill on; with HC-128 inlined, when the present interval has
/// ended or 1 GiB of it.
pub fn set_rekey_interval(bytes: NonZeroU64) {
    INTERVAL.store(bytes.get(), Ordering::Relaxed);
}

/// What a [`Rekeying`] generator has done since it was seeded; a forked child begins anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Keys that it had from the kernel.
    pub keys: u64,
    /// Bytes of keystream made under the present key; up to 8 KiB of them still wait in the buffer.
    pub bytes: u64,
}

impl<C: SeedCore + 'static> Generator for Rekeying<C> {}

impl<C: SeedCore + 'static> Source for Rekeying<C> {
    unsafe fn key(owner: Owner) -> Result<(), Cut> {
        // SAFETY: the caller's promise.
        unsafe { new_key::<C>(owner) }
    }

    unsafe fn serve(owner: Owner, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        // A request that the buffer cannot hold has at least one whole block.
        const { assert!(C::BLOCK <= Running::<C>::BUFFERED && quiet::PIECE.is_multiple_of(C::BLOCK)) };
        if mixing == Mixing::EveryRequest {
            // SAFETY: the caller's promise.
            unsafe { owner.slot.page.set_left(0) };
            // SAFETY: the caller's promise.
            unsafe { new_key::<C>(owner)? };
        }
        // SAFETY: the caller's promise.
        let mut rest = unsafe { owner.take_what_is_left(out) };
        while rest.len() > Running::<C>::BUFFERED {
            // SAFETY: the caller's promise.
            let room = unsafe { room::<C>(owner)? };
            let whole = rest.len() / C::BLOCK * C::BLOCK;
            // Less than `whole` fits into the same type.
            let length = usize::try_from(room).unwrap_or(whole).min(whole);
            let (now, later) = rest.split_at_mut(length);
            // SAFETY: the caller's promise; there is room.
            unsafe { make::<C>(owner, now)? };
            rest = later;
        }
        // SAFETY: the caller's promise.
        unsafe { owner.drain(rest, refill::<C>) }
    }
}

/// A cipher that runs on, at the head of its page; keystream waits behind it.
///
/// All bytes zero is a value of this type, too: a forked child's page.
#[repr(C)]
pub(crate) struct Running<C> {
    made: Made,
    core: C,
}

/// What was made. Both numbers are written by the owner and read by whoever asks; they publish
/// nothing. Relaxed.
#[repr(C)]
pub(crate) struct Made {
    keys: AtomicU64,
    /// Under the present key.
    bytes: AtomicU64,
}

impl<C> Running<C> {
    /// Bytes of keystream that the page has room for.
    const BUFFERED: usize = {
        assert!(align_of::<Self>() <= 4096 && size_of::<Self>() + 1024 <= BUFFER);
        (BUFFER - size_of::<Self>()) / 64 * 64
    };

    /// The running cipher of a page.
    ///
    /// # Safety
    ///
    /// The page is mapped.
    #[inline(always)]
    pub(crate) unsafe fn core(page: PagePtr) -> *mut C {
        // SAFETY: the caller's promise; it fits, as asserted above.
        unsafe { &raw mut (*page.0.cast::<Self>()).core }
    }
}

impl Made {
    /// What the generator of a page has made.
    ///
    /// # Safety
    ///
    /// The page is mapped and belongs to a [`Rekeying`] generator as long as the reference is used.
    pub(crate) unsafe fn of<'page>(page: PagePtr) -> &'page Self {
        // SAFETY: the caller's promise; these numbers are only ever used as atomics.
        unsafe { &*page.0.cast::<Self>() }
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            keys: self.keys.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// A key came from the kernel.
    fn begin(&self) {
        self.keys.store(self.keys.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// So many bytes more are made, or may be.
    pub(crate) fn add(&self, length: u64) {
        let bytes = self.bytes.load(Ordering::Relaxed).saturating_add(length);
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// Bytes that one key of this generator makes.
pub(crate) fn interval(owner: Owner) -> u64 {
    let bytes = owner.interval.map_or_else(|| INTERVAL.load(Ordering::Relaxed), NonZeroU64::get);
    bytes.checked_next_multiple_of(64).unwrap_or(u64::MAX - 63)
}

/// Keys the running cipher anew.
///
/// # Safety
///
/// As for [`Source`].
pub(crate) unsafe fn new_key<C: SeedCore>(owner: Owner) -> Result<(), Cut> {
    // SAFETY: the caller owns the page, and nothing else refers to its key.
    let seed = unsafe { &mut (*owner.slot.page.0).key };
    kernel::ask(seed)?;
    // SAFETY: the caller's promise.
    let place = unsafe { Running::<C>::core(owner.slot.page) };
    Manner::Blocked.run(|| {
        // SAFETY: the caller owns the page, and the place is inside of it.
        unsafe { key_core(owner.isa, seed, place) };
        wipe::memory(seed);
        clean_up(C::stack(owner.isa), 0);
    });
    // SAFETY: the caller's promise.
    unsafe { Made::of(owner.slot.page) }.begin();
    Ok(())
}

/// Kept apart, so that what it leaves on the stack lies below its caller's frame. The core that was
/// there is overwritten, not dropped: every byte of it is.
///
/// # Safety
///
/// `place` can be written.
#[inline(never)]
unsafe fn key_core<C: SeedCore>(isa: Isa, seed: &[u8; 32], place: *mut C) {
    // SAFETY: the caller's promise.
    unsafe { place.write(C::from_seed(isa, seed)) };
}

/// Bytes that may still be made under the present key, or under a new one if that is none.
///
/// # Safety
///
/// As for [`Source`].
pub(crate) unsafe fn room<C: SeedCore>(owner: Owner) -> Result<u64, Cut> {
    let interval = interval(owner);
    // SAFETY: the caller's promise.
    let made = unsafe { Made::of(owner.slot.page) }.counters().bytes;
    if made < interval {
        return Ok(interval - made);
    }
    // SAFETY: the caller's promise.
    unsafe { new_key::<C>(owner)? };
    Ok(interval)
}

/// Makes keystream, of which there is room, straight into `out`.
///
/// # Safety
///
/// As for [`Source`].
unsafe fn make<C: SeedCore>(owner: Owner, out: &mut [u8]) -> Result<(), Cut> {
    let page = owner.slot.page;
    // SAFETY: the caller's promise. Counted first: a fork makes both void.
    unsafe { Made::of(page) }.add(out.len() as u64);
    // SAFETY: the caller's promise.
    let core = unsafe { Running::<C>::core(page) };
    // Not watched: a new key each time that the thread is preempted would not be this design.
    for piece in out.chunks_mut(quiet::PIECE) {
        Manner::Blocked.run(|| {
            // SAFETY: the caller owns the page, and nothing else refers to the core meanwhile.
            keystream(unsafe { &mut *core }, piece);
            clean_up(C::stack(owner.isa), piece.len());
        });
    }
    // SAFETY: the caller's promise.
    if unsafe { page.is_live() } { Ok(()) } else { Err(Cut::Forked) }
}

/// Fills the buffer.
///
/// # Safety
///
/// As for [`Source`], and no bytes are left.
unsafe fn refill<C: SeedCore>(owner: Owner) -> Result<(), Cut> {
    let page = owner.slot.page;
    // SAFETY: the caller's promise.
    let room = unsafe { room::<C>(owner)? };
    let length = usize::try_from(room).unwrap_or(usize::MAX).min(Running::<C>::BUFFERED);
    // At most the size of a page.
    let left = u32::try_from(length).unwrap_or(0);
    // SAFETY: the buffer ends with that many bytes.
    let start = unsafe { page.unused(left) };
    // SAFETY: they are behind the running cipher, and nothing else refers to them during this call.
    let buffer = unsafe { core::slice::from_raw_parts_mut(start, length) };
    // SAFETY: the caller's promise; there is room.
    unsafe { make::<C>(owner, buffer)? };
    // SAFETY: the caller's promise; the buffer was filled.
    unsafe { page.set_left(left) };
    Ok(())
}

/// Kept apart, so that what it leaves on the stack lies below its caller's frame.
#[inline(never)]
fn keystream<C: StreamCore>(core: &mut C, out: &mut [u8]) {
    core.keystream(out);
}
