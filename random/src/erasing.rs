//! Fast key erasure (Bernstein 2017): the first 32 bytes that a key makes are the next key, and they
//! replace it before anything is handed out. What follows fills the buffer; or, where the buffer
//! cannot hold a request, the caller's memory, 1 MiB of it under each key. What the kernel adds to the
//! keys, and when, says [`crate::mixing`].

use core::marker::PhantomData;

use lanecrypt_kernels::{Isa, wipe};

use crate::core_type::ErasingCore;
use crate::fastest::Fastest;
use crate::generator::{Cut, Generator, Mixing, Source, clean_up};
use crate::mixing::Chain;
use crate::owner::Owner;
use crate::page::{BUFFER, YIELD};
use crate::quiet::{self, Manner};

/// The most bytes that one key makes.
const BYTES_PER_KEY: usize = 1 << 20;

/// The generator with fast key erasure over the core `C`: bytes are wiped as they leave, and each
/// refill of the 8 KiB buffer replaces the key first. Nothing in memory tells what was given out
/// before.
///
/// A type to place: [`PerThread<Erasing<C>>`](crate::PerThread), [`Held<Erasing<C>>`](crate::Held).
#[derive(Clone, Copy, Debug)]
pub struct Erasing<C = Fastest>(PhantomData<fn() -> C>);

impl<C: ErasingCore + 'static> Generator for Erasing<C> {}

impl<C: ErasingCore + 'static> Source for Erasing<C> {
    unsafe fn key(owner: Owner) -> Result<(), Cut> {
        // SAFETY: the caller owns the page.
        Ok(unsafe { Chain::of(owner.slot.page) }.seed()?)
    }

    unsafe fn serve(owner: Owner, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        let always = mixing == Mixing::EveryRequest;
        if !always && out.len() <= YIELD as usize {
            // SAFETY: the caller's promise.
            return unsafe { owner.drain(out, refill::<C>) };
        }
        for chunk in out.chunks_mut(BYTES_PER_KEY) {
            // SAFETY: the caller's promise.
            unsafe { one_off::<C>(owner, chunk, always)? };
        }
        Ok(())
    }
}

/// Fills `out`, at most [`BYTES_PER_KEY`], under a key of its own, and again under others if a signal
/// may have seen it; the buffer stays as it is.
///
/// # Safety
///
/// As for [`Source`].
unsafe fn one_off<C: ErasingCore>(owner: Owner, out: &mut [u8], always: bool) -> Result<(), Cut> {
    let mut always = always;
    if let manner @ Manner::Watched(_) = Manner::cheapest() {
        // SAFETY: the caller's promise.
        if unsafe { one_key::<C>(owner, manner, out, always)? } {
            return Ok(());
        }
        always = true;
    }
    for piece in out.chunks_mut(quiet::PIECE) {
        // SAFETY: the caller's promise.
        unsafe { one_key::<C>(owner, Manner::Blocked, piece, always)? };
    }
    Ok(())
}

/// Fills `out` under the page's key and replaces that; false if a signal may have seen them.
///
/// # Safety
///
/// As for [`Source`].
unsafe fn one_key<C: ErasingCore>(
    owner: Owner,
    manner: Manner,
    out: &mut [u8],
    always: bool,
) -> Result<bool, Cut> {
    // SAFETY: the caller owns the page.
    let mut chain = unsafe { Chain::of(owner.slot.page) };
    let mut fresh = chain.fresh(owner.slot.vdso, out.len(), always)?;
    let undisturbed = manner.run(|| {
        fresh.mix_into(chain.key);
        next_key_and::<C>(owner.isa, chain.key, out);
        clean_up(C::stack(owner.isa), out.len());
    });
    // SAFETY: the caller's promise.
    if unsafe { owner.slot.page.is_live() } { Ok(undisturbed) } else { Err(Cut::Forked) }
}

/// Makes a new key and a full buffer, and again under another key if a signal may have seen them.
///
/// # Safety
///
/// As for [`Source`], and no bytes are left.
unsafe fn refill<C: ErasingCore>(owner: Owner) -> Result<(), Cut> {
    let manner = Manner::cheapest();
    // SAFETY: the caller's promise.
    if !unsafe { renew::<C>(owner, manner, false)? } {
        // SAFETY: the caller's promise.
        unsafe { renew::<C>(owner, Manner::Blocked, true)? };
    }
    let page = owner.slot.page;
    // SAFETY: the caller's promise.
    if !unsafe { page.is_live() } {
        return Err(Cut::Forked);
    }
    // SAFETY: the caller's promise; the buffer was filled.
    unsafe { page.set_left(YIELD) };
    Ok(())
}

/// Makes a new key and a full buffer; false if a signal may have seen them.
///
/// # Safety
///
/// As for [`Source`], and no bytes are left.
unsafe fn renew<C: ErasingCore>(owner: Owner, manner: Manner, always: bool) -> Result<bool, Cut> {
    let page = owner.slot.page;
    // SAFETY: the caller owns the page.
    let mut chain = unsafe { Chain::of(page) };
    let mut fresh = chain.fresh(owner.slot.vdso, BUFFER, always)?;
    // SAFETY: the caller owns the page, and nothing else refers to its buffer.
    let buffer = unsafe { &mut (*page.0).buffer };
    Ok(manner.run(|| {
        fresh.mix_into(chain.key);
        keystream::<C>(owner.isa, chain.key, buffer);
        let (next, _) = buffer.split_at_mut(32);
        chain.key.copy_from_slice(next);
        wipe::memory(next);
        clean_up(C::stack(owner.isa), BUFFER);
    }))
}

/// Fills `out` with the keystream of `key`. Kept apart, so that what it leaves on the stack lies
/// below its caller's frame.
#[inline(never)]
fn keystream<C: ErasingCore>(isa: Isa, key: &[u8; 32], out: &mut [u8]) {
    C::from_seed(isa, key).keystream(out);
}

/// Replaces `key` by the first bytes of its keystream and fills `out` with what follows, from the
/// next block on. Kept apart like [`keystream`].
#[inline(never)]
fn next_key_and<C: ErasingCore>(isa: Isa, key: &mut [u8; 32], out: &mut [u8]) {
    let mut core = C::from_seed(isa, key);
    core.keystream(key);
    core.keystream(out);
}
