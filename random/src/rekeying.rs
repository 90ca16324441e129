//! The design of NetBSD's `cprng_fast`: one cipher state runs on, request after request, and gets a
//! new key from the kernel after a number of bytes.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering};

use lanecrypt_kernels::{Isa, StreamCore, wipe};

use crate::core_type::SeedCore;
use crate::generator::{Cut, Generator, Mixing, clean_up};
use crate::kernel;
use crate::owner::Owner;
use crate::page::{BUFFER, Page, PageMut};
use crate::quiet::{self, Manner};

/// Bytes of keystream that one key makes, unless the program sets another number: 512 MiB.
pub const REKEY_INTERVAL: u64 = 512 << 20;

/// The setting of the process. Relaxed: a plain number.
static INTERVAL: AtomicU64 = AtomicU64::new(REKEY_INTERVAL);

/// The generator of NetBSD's `cprng_fast` over the core `C`: the cipher's state runs on and takes a
/// new key from the kernel every 512 MiB.
///
/// Buffered bytes are wiped as they leave, but **there is no backtracking resistance within an
/// interval**: an attacker who reads the state can compute what was given out under the present
/// key. It is here for comparison, and for ciphers whose keys take too long to set up to be
/// replaced at each refill; [`Erasing`](crate::Erasing) is what programs should use.
///
/// A type to place: [`PerCpu<Rekeying<C>>`](crate::PerCpu), [`Shared<Rekeying<C>>`](crate::Shared).
#[derive(Clone, Copy, Debug)]
pub struct Rekeying<C>(PhantomData<fn() -> C>);

/// Sets how many bytes of keystream one key makes, for all [`Rekeying`] generators of the process
/// that have no setting of their own; rounded up to whole blocks of 64 bytes.
///
/// It counts from each generator's next refill on; with HC-128 inlined, when the present interval
/// has ended or 1 GiB of it.
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

#[expect(private_interfaces, reason = "this is the inside of a generator")]
impl<C: SeedCore + 'static> Generator for Rekeying<C> {
    fn key(owner: &mut Owner<'_, Self>) -> Result<(), Cut> {
        owner.new_key()
    }

    fn serve(owner: &mut Owner<'_, Self>, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        // A request that the buffer cannot hold has at least one whole block.
        const { assert!(C::BLOCK <= Running::<C>::BUFFERED && quiet::PIECE.is_multiple_of(C::BLOCK)) };
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
            // Counted first: a fork makes both void.
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

/// A cipher that runs on, at the head of its page; keystream waits behind it.
///
/// All bytes zero is a value of this type, too: a forked child's page.
#[repr(C)]
struct Running<C> {
    made: Made,
    /// Overwritten by the next one, not dropped: every byte of it is.
    core: ManuallyDrop<C>,
}

/// What was made. Both numbers are written by the page's user and read by whoever asks; they
/// publish nothing. Relaxed.
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
}

impl<C: SeedCore> Page<Rekeying<C>> {
    /// What the generator of this page has made.
    pub(crate) fn made(&self) -> &Made {
        // SAFETY: pages of this kind begin with these numbers, and nothing else refers to them but
        // as atomics.
        unsafe { &*self.buffer().cast() }
    }
}

/// What a page of this kind has for its user.
pub(crate) struct Parts<'page, C> {
    key: &'page mut [u8; 32],
    pub(crate) core: &'page mut ManuallyDrop<C>,
    /// Room for keystream; bytes are handed out from its end.
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

impl<C: SeedCore> Owner<'_, Rekeying<C>> {
    /// Bytes that one key of this generator makes.
    fn interval(&self) -> u64 {
        let bytes = self.interval.map_or_else(|| INTERVAL.load(Ordering::Relaxed), NonZeroU64::get);
        bytes.checked_next_multiple_of(64).unwrap_or(u64::MAX - 63)
    }

    /// Keys the running cipher anew.
    pub(crate) fn new_key(&mut self) -> Result<(), Cut> {
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

    /// Bytes that may still be made under the present key, or under a new one if that is none.
    pub(crate) fn room(&mut self) -> Result<u64, Cut> {
        let interval = self.interval();
        let made = self.page.page().made().counters().bytes;
        if made < interval {
            return Ok(interval - made);
        }
        self.new_key()?;
        Ok(interval)
    }

    /// Fills the buffer, of which no bytes are left.
    fn refill(&mut self) -> Result<(), Cut> {
        let room = self.room()?;
        let length = usize::try_from(room).unwrap_or(usize::MAX).min(Running::<C>::BUFFERED);
        // Counted first: a fork makes both void.
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

/// Kept apart, so that what it leaves on the stack lies below its caller's frame.
#[inline(never)]
fn key_core<C: SeedCore>(isa: Isa, seed: &[u8; 32], core: &mut ManuallyDrop<C>) {
    *core = ManuallyDrop::new(C::from_seed(isa, seed));
}

/// Makes keystream, of which there is room, straight into `out`.
fn make<C: SeedCore>(isa: Isa, core: &mut C, out: &mut [u8]) {
    // Not watched: a new key each time that the thread is preempted would not be this design.
    for piece in out.chunks_mut(quiet::PIECE) {
        Manner::Blocked.run(|| {
            keystream(core, piece);
            clean_up(C::stack(isa), piece.len());
        });
    }
}

/// Kept apart, so that what it leaves on the stack lies below its caller's frame.
#[inline(never)]
fn keystream<C: StreamCore>(core: &mut C, out: &mut [u8]) {
    core.keystream(out);
}
