//! Fast key erasure (Bernstein 2017): the first 32 bytes of each refill replace the key that made
//! it, before anything is handed out. A request that the buffer cannot hold runs under keys of its
//! own straight into the caller's memory, a new one each 1 MiB.

use core::marker::PhantomData;

use lanecrypt_kernels::chacha::ChaCha;
use lanecrypt_kernels::{Isa, wipe};

use crate::core_type::ErasingCore;
use crate::generator::{Cut, Generator, Mixing, Source, clean_up};
use crate::kernel;
use crate::owner::Owner;
use crate::page::{BUFFER, PagePtr, YIELD};
use crate::quiet::{self, Manner};
use crate::vdso::State;

/// The most bytes that one key makes.
const BYTES_PER_KEY: usize = 1 << 20;
/// Where kernel bytes cost a system call, refills between two mixings: 64 KiB.
const REFILLS_PER_MIXING: u16 = 8;
/// And seconds between two mixings, noticed at the next refill.
const SECONDS_PER_MIXING: u32 = 1;

/// The generator with fast key erasure over the core `C`: bytes are wiped as they leave, and each
/// refill of the 8 KiB buffer replaces the key first. Nothing in memory tells what was given out
/// before.
///
/// A type to place: [`PerThread<Erasing<C>>`](crate::PerThread), [`Held<Erasing<C>>`](crate::Held).
#[derive(Clone, Copy, Debug)]
pub struct Erasing<C = ChaCha<20>>(PhantomData<fn() -> C>);

impl<C: ErasingCore + 'static> Generator for Erasing<C> {}

impl<C: ErasingCore + 'static> Source for Erasing<C> {
    unsafe fn key(owner: Owner) -> Result<(), Cut> {
        // SAFETY: the caller owns the page.
        let Fields { key, unmixed, mixed_at, .. } = unsafe { Fields::of(owner.slot.page) };
        // By system call: the vDSO's state may lie in the frame of a signal.
        kernel::fill(State::NONE, key)?;
        *unmixed = 0;
        *mixed_at = now();
        Ok(())
    }

    unsafe fn serve(owner: Owner, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        if mixing != Mixing::EveryRequest && out.len() <= YIELD as usize {
            // SAFETY: the caller's promise.
            return unsafe { owner.drain(out, refill::<C>) };
        }
        for chunk in out.chunks_mut(BYTES_PER_KEY) {
            // SAFETY: the caller's promise.
            unsafe { one_off::<C>(owner, chunk)? };
        }
        Ok(())
    }
}

/// What this generator keeps in its page besides the cursor. Not the page as a whole: others may be
/// looking at its lock.
struct Fields<'page> {
    buffer: &'page mut [u8; BUFFER],
    key: &'page mut [u8; 32],
    unmixed: &'page mut u16,
    mixed_at: &'page mut u32,
}

impl Fields<'_> {
    /// # Safety
    ///
    /// The page is mapped, and the caller owns it as long as the references are used.
    unsafe fn of(page: PagePtr) -> Self {
        let page = page.0;
        // SAFETY: the caller's promise.
        let buffer = unsafe { &mut (*page).buffer };
        // SAFETY: the caller's promise.
        let key = unsafe { &mut (*page).key };
        // SAFETY: the caller's promise.
        let unmixed = unsafe { &mut (*page).unmixed };
        // SAFETY: the caller's promise.
        let mixed_at = unsafe { &mut (*page).mixed_at };
        Self { buffer, key, unmixed, mixed_at }
    }
}

/// Fills `out`, at most [`BYTES_PER_KEY`], under a key of its own; again under others if a signal may
/// have seen it.
///
/// # Safety
///
/// As for [`Source`].
unsafe fn one_off<C: ErasingCore>(owner: Owner, out: &mut [u8]) -> Result<(), Cut> {
    if let manner @ Manner::Watched(_) = Manner::cheapest() {
        // SAFETY: the caller's promise.
        if unsafe { one_key::<C>(owner, manner, out)? } {
            return Ok(());
        }
    }
    for piece in out.chunks_mut(quiet::PIECE) {
        // SAFETY: the caller's promise.
        unsafe { one_key::<C>(owner.without_vdso(), Manner::Blocked, piece)? };
    }
    Ok(())
}

/// Fills `out` under a key of its own, with kernel bytes in it; false if a signal may have seen it.
///
/// # Safety
///
/// As for [`Source`].
unsafe fn one_key<C: ErasingCore>(
    owner: Owner,
    manner: Manner,
    out: &mut [u8],
) -> Result<bool, Cut> {
    let (mut key, mut fresh) = ([0; 32], [0; 32]);
    // SAFETY: the caller's promise.
    let drained = unsafe { owner.drain(&mut key, refill::<C>) };
    let filled = drained.and_then(|()| Ok(kernel::fill(owner.slot.vdso, &mut fresh)?));
    let undisturbed = manner.run(|| {
        if filled.is_ok() {
            mix(&mut key, &fresh);
            keystream::<C>(owner.isa, &key, out);
        }
        wipe::memory(&mut key);
        wipe::memory(&mut fresh);
        clean_up(C::stack(owner.isa), out.len());
    });
    filled?;
    // SAFETY: the caller's promise.
    if unsafe { owner.slot.page.is_live() } { Ok(undisturbed) } else { Err(Cut::Forked) }
}

/// Makes a new key and a full buffer, with kernel bytes mixed in where it is time, or where a signal may
/// have seen the old key.
///
/// # Safety
///
/// As for [`Source`], and no bytes are left.
unsafe fn refill<C: ErasingCore>(owner: Owner) -> Result<(), Cut> {
    // SAFETY: the caller owns the page.
    let Fields { unmixed, mixed_at, .. } = unsafe { Fields::of(owner.slot.page) };
    let is_time = is_time_to_mix(owner, unmixed, mixed_at);
    // SAFETY: the caller's promise.
    if !unsafe { renew::<C>(owner, Manner::cheapest(), is_time)? } {
        // SAFETY: the caller's promise.
        unsafe { renew::<C>(owner.without_vdso(), Manner::Blocked, true)? };
    }
    // SAFETY: the caller's promise.
    if !unsafe { owner.slot.page.is_live() } {
        return Err(Cut::Forked);
    }
    // SAFETY: the caller's promise; the buffer was filled.
    unsafe { owner.slot.page.set_left(YIELD) };
    Ok(())
}

/// Makes a new key and a full buffer; false if a signal may have seen them.
///
/// # Safety
///
/// As for [`Source`], and no bytes are left.
unsafe fn renew<C: ErasingCore>(owner: Owner, manner: Manner, mixes: bool) -> Result<bool, Cut> {
    // SAFETY: the caller owns the page.
    let Fields { buffer, key, .. } = unsafe { Fields::of(owner.slot.page) };
    if mixes {
        // The buffer is about to be overwritten and serves as the place for fresh bytes.
        let (fresh, _) = buffer.split_at_mut(32);
        kernel::fill(owner.slot.vdso, fresh)?;
    }
    Ok(manner.run(|| {
        if mixes {
            let (fresh, _) = buffer.split_at(32);
            mix(key, fresh);
        }
        keystream::<C>(owner.isa, key, buffer);
        let (next, _) = buffer.split_at_mut(32);
        key.copy_from_slice(next);
        wipe::memory(next);
        clean_up(C::stack(owner.isa), BUFFER);
    }))
}

/// Whether the next refill takes kernel bytes; keeps count.
fn is_time_to_mix(owner: Owner, unmixed: &mut u16, mixed_at: &mut u32) -> bool {
    if !owner.slot.vdso.0.is_null() {
        return true;
    }
    let now = now();
    let elapsed = now.wrapping_sub(*mixed_at);
    *unmixed += 1;
    if *unmixed < REFILLS_PER_MIXING && elapsed < SECONDS_PER_MIXING {
        return false;
    }
    *unmixed = 0;
    *mixed_at = now;
    true
}

/// XORs `fresh` into `key`.
fn mix(key: &mut [u8; 32], fresh: &[u8]) {
    for (key, fresh) in key.iter_mut().zip(fresh) {
        *key ^= fresh;
    }
}

/// Fills `out` with the keystream of `key`. Kept apart, so that what it leaves on the stack lies
/// below its caller's frame.
#[inline(never)]
fn keystream<C: ErasingCore>(isa: Isa, key: &[u8; 32], out: &mut [u8]) {
    C::from_seed(isa, key).keystream(out);
}

/// Seconds of the coarse monotonic clock, which costs a few cycles; they wrap after 68 years.
fn now() -> u32 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a structure of the type that the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    // As many bits as every processor's `time_t` has besides the sign.
    u32::try_from(time.tv_sec & 0x7fff_ffff).unwrap_or(0)
}
