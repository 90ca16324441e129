//! The design of NetBSD's `cprng_fast`: one cipher state continues from request to request, and
//! gets a new key from the kernel after a number of bytes.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering};

use lanecrypt_kernels::{Isa, StreamCore, wipe};

use crate::linux::core_type::SeedCore;
use crate::linux::generator::{Generator, Mixing, clean_up};
use crate::linux::kernel;
use crate::linux::owner::{FillError, Owner};
use crate::linux::page::{BUFFER, Page, PageMut};
use crate::linux::rseq_watch::{self, Manner};

/// The default number of bytes of keystream for one key: 512 MiB.
pub const REKEY_INTERVAL: u64 = 512 << 20;

/// The setting of the process. Relaxed: it publishes nothing else.
static INTERVAL: AtomicU64 = AtomicU64::new(REKEY_INTERVAL);

/// The generator of NetBSD's `cprng_fast` over the core `C`: the state of the cipher continues from
/// request to request and takes a new key from the kernel every 512 MiB.
///
/// Buffered bytes are wiped as they are handed out, but **there is no backtracking resistance
/// within an interval**: an attacker who reads the state can compute all output under the present
/// key. It is here for comparison, and for ciphers whose keys take too long to set up at each
/// refill. Programs should use [`Erasing`](crate::Erasing).
///
/// To be used with a place: [`PerCpu<Rekeying<C>>`](crate::PerCpu),
/// [`Shared<Rekeying<C>>`](crate::Shared).
#[derive(Clone, Copy, Debug)]
pub struct Rekeying<C>(PhantomData<fn() -> C>);

/// Sets the number of bytes of keystream for one key, for all [`Rekeying`] generators of the
/// process without their own setting. It is rounded up to whole blocks of 64 bytes.
///
/// It takes effect at each generator's next refill. With inlined HC-128 it takes effect at the end
/// of the present interval, or after 1 GiB of it.
pub fn set_rekey_interval(bytes: NonZeroU64) {
    INTERVAL.store(bytes.get(), Ordering::Relaxed);
}

/// The counters of a [`Rekeying`] generator since it was seeded. A forked child starts over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// The number of keys that it received from the kernel.
    pub keys: u64,
    /// The number of bytes of keystream made under the present key. Up to 8 KiB of them are still
    /// in the buffer.
    pub bytes: u64,
}

#[expect(private_interfaces, reason = "this is the inside of a generator")]
impl<C: SeedCore + 'static> Generator for Rekeying<C> {
    fn key(owner: &mut Owner<'_, Self>) -> Result<(), FillError> {
        owner.new_key()
    }

    fn serve(owner: &mut Owner<'_, Self>, out: &mut [u8], mixing: Mixing) -> Result<(), FillError> {
        // A request that the buffer cannot hold has at least one whole block.
        const {
            assert!(C::BLOCK <= Running::<C>::BUFFERED);
            assert!(rseq_watch::PIECE.is_multiple_of(C::BLOCK));
        };
        if mixing == Mixing::EveryRequest {
            owner.page.set_left(0);
            owner.new_key()?;
        }
        let mut rest = owner.page.drain(owner.isa, out);
        while rest.len() > Running::<C>::BUFFERED {
            let room = owner.room()?;
            let whole = rest.len() / C::BLOCK * C::BLOCK;
            // Less than `whole` fits into the same type.
            let length = usize::try_from(room).unwrap_or(whole).min(whole);
            let (now, later) = rest.split_at_mut(length);
            // Counted first, because a fork clears both.
            owner.page.page().made().add(length as u64);
            make::<C>(owner.isa, owner.page.running().core, now);
            owner.check()?;
            rest = later;
        }
        while !rest.is_empty() {
            owner.refill()?;
            rest = owner.page.drain(owner.isa, rest);
        }
        Ok(())
    }
}

/// The running cipher, at the head of its page. The keystream follows.
///
/// All bytes zero is also a value of this type, because a forked child's page is zero.
#[repr(C)]
struct Running<C> {
    made: Made,
    /// Overwritten by the next cipher and not dropped. Every byte of it is overwritten.
    core: ManuallyDrop<C>,
}

/// The counters. The page's user writes both numbers, and anybody may read them. Relaxed: they
/// publish nothing else.
#[repr(C)]
pub(crate) struct Made {
    keys: AtomicU64,
    /// The bytes under the present key.
    bytes: AtomicU64,
}

impl<C> Running<C> {
    /// The number of bytes of keystream for which the page has room.
    const BUFFERED: usize = {
        assert!(align_of::<Self>() <= 4096 && size_of::<Self>() + 1024 <= BUFFER);
        (BUFFER - size_of::<Self>()) / 64 * 64
    };
}

impl<C: SeedCore> Page<Rekeying<C>> {
    /// The counters of the generator of this page.
    pub(crate) fn made(&self) -> &Made {
        // SAFETY: pages of this kind begin with these numbers, and nothing else refers to them but
        // as atomics.
        unsafe { &*self.buffer().cast() }
    }
}

/// The content of a page of this kind, for its user.
pub(crate) struct Parts<'page, C> {
    key: &'page mut [u8; 32],
    pub(crate) core: &'page mut ManuallyDrop<C>,
    /// Room for keystream. Bytes are handed out from its end.
    keystream: &'page mut [u8],
}

impl<C: SeedCore> PageMut<'_, Rekeying<C>> {
    #[inline(always)]
    pub(crate) fn running(&mut self) -> Parts<'_, C> {
        let buffer = self.page().buffer();
        let core =
            buffer.cast::<u8>().wrapping_add(const { core::mem::offset_of!(Running<C>, core) });
        // SAFETY: behind the numbers such a page has a cipher, or zeros, which are one; it is used
        // here only, as long as `self` is borrowed.
        let core = unsafe { &mut *core.cast() };
        let keystream = buffer.cast::<u8>().wrapping_add(const { BUFFER - Running::<C>::BUFFERED });
        // SAFETY: these are the last bytes of the buffer, behind the cipher, likewise.
        let keystream =
            unsafe { core::slice::from_raw_parts_mut(keystream, Running::<C>::BUFFERED) };
        Parts { key: self.chain().key, core, keystream }
    }
}

impl Made {
    pub(crate) fn counters(&self) -> Counters {
        Counters {
            keys: self.keys.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Counts a key from the kernel.
    fn begin(&self) {
        self.keys.store(self.keys.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Counts `length` more bytes that are generated, or may be.
    pub(crate) fn add(&self, length: u64) {
        let bytes = self.bytes.load(Ordering::Relaxed).saturating_add(length);
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

impl<C: SeedCore> Owner<'_, Rekeying<C>> {
    /// The number of bytes that one key of this generator generates.
    fn interval(&self) -> u64 {
        let bytes = self.interval.map_or_else(|| INTERVAL.load(Ordering::Relaxed), NonZeroU64::get);
        bytes.checked_next_multiple_of(64).unwrap_or(u64::MAX - 63)
    }

    /// Sets a new key of the running cipher.
    pub(crate) fn new_key(&mut self) -> Result<(), FillError> {
        let isa = self.isa;
        let Parts { key: seed, core, .. } = self.page.running();
        kernel::ask(seed)?;
        Manner::Blocked.run(|| {
            key_core(isa, seed, core);
            wipe::memory(seed);
            clean_up(C::stack(isa), 0);
        });
        self.page.page().made().begin();
        Ok(())
    }

    /// The number of bytes that may still be made under the present key, or under a new one if
    /// there are none.
    pub(crate) fn room(&mut self) -> Result<u64, FillError> {
        let interval = self.interval();
        let made = self.page.page().made().counters().bytes;
        if made < interval {
            return Ok(interval - made);
        }
        self.new_key()?;
        Ok(interval)
    }

    /// Fills the buffer, which is empty.
    fn refill(&mut self) -> Result<(), FillError> {
        let room = self.room()?;
        let length = usize::try_from(room).unwrap_or(usize::MAX).min(Running::<C>::BUFFERED);
        // Counted first, because a fork clears both.
        self.page.page().made().add(length as u64);
        let isa = self.isa;
        let Parts { core, keystream, .. } = self.page.running();
        make::<C>(isa, core, &mut keystream[Running::<C>::BUFFERED - length..]);
        self.check()?;
        // At most the size of a page.
        self.page.set_left(u32::try_from(length).unwrap_or(0));
        Ok(())
    }
}

/// Not inlined, so that its residue on the stack is below its caller's frame.
#[inline(never)]
fn key_core<C: SeedCore>(isa: Isa, seed: &[u8; 32], core: &mut ManuallyDrop<C>) {
    *core = ManuallyDrop::new(C::from_seed(isa, seed));
}

/// Makes keystream directly into `out`. The interval has room for it.
fn make<C: SeedCore>(isa: Isa, core: &mut C, out: &mut [u8]) {
    // Not watched: this design does not take a new key each time the thread is preempted.
    for piece in out.chunks_mut(rseq_watch::PIECE) {
        Manner::Blocked.run(|| {
            keystream(core, piece);
            clean_up(C::stack(isa), piece.len());
        });
    }
}

/// Not inlined, so that its residue on the stack is below its caller's frame.
#[inline(never)]
fn keystream<C: StreamCore>(core: &mut C, out: &mut [u8]) {
    core.keystream(out);
}
