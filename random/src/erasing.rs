//! Fast key erasure (Bernstein 2017): the first 32 bytes that a key makes are the next key, and
//! they replace it before anything is handed out. What follows fills the buffer; or, where the
//! buffer cannot hold a request, the caller's memory, 1 MiB of it under each key. [`crate::mixing`]
//! says what the kernel adds to the keys, and when.

use core::marker::PhantomData;

use lanecrypt_kernels::{Isa, wipe};

use crate::core_type::ErasingCore;
use crate::fastest::Fastest;
use crate::generator::{Cut, Generator, Mixing, clean_up};
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

#[expect(private_interfaces, reason = "this is the inside of a generator")]
impl<C: ErasingCore + 'static> Generator for Erasing<C> {
    fn key(owner: &mut Owner<'_, Self>) -> Result<(), Cut> {
        Ok(owner.page.chain().seed()?)
    }

    fn serve(owner: &mut Owner<'_, Self>, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        let always = mixing == Mixing::EveryRequest;
        if always || out.len() > YIELD as usize {
            return out
                .chunks_mut(BYTES_PER_KEY)
                .try_for_each(|chunk| one_off(owner, chunk, always));
        }
        let mut rest = owner.page.drain(owner.isa, out);
        while !rest.is_empty() {
            refill(owner)?;
            rest = owner.page.drain(owner.isa, rest);
        }
        Ok(())
    }
}

/// Fills `out`, at most [`BYTES_PER_KEY`], under a key of its own, and again under others if a
/// signal may have seen it; the buffer stays as it is.
fn one_off<C: ErasingCore>(
    owner: &mut Owner<'_, Erasing<C>>,
    out: &mut [u8],
    always: bool,
) -> Result<(), Cut> {
    let mut always = always;
    if let manner @ Manner::Watched(_) = Manner::cheapest() {
        if one_key(owner, manner, out, always)? {
            return Ok(());
        }
        always = true;
    }
    for piece in out.chunks_mut(quiet::PIECE) {
        one_key(owner, Manner::Blocked, piece, always)?;
    }
    Ok(())
}

/// Fills `out` under the page's key and replaces that; false if a signal may have seen them.
fn one_key<C: ErasingCore>(
    owner: &mut Owner<'_, Erasing<C>>,
    manner: Manner,
    out: &mut [u8],
    always: bool,
) -> Result<bool, Cut> {
    let isa = owner.isa;
    let chain = owner.page.chain();
    let mut fresh = chain.fresh(owner.vdso, out.len(), always)?;
    let undisturbed = manner.run(|| {
        fresh.mix_into(chain.key);
        next_key_and::<C>(isa, chain.key, out);
        clean_up(C::stack(isa), out.len());
    });
    owner.check()?;
    Ok(undisturbed)
}

/// Makes a new key and a full buffer, of which no bytes are left, and again under another key if a
/// signal may have seen them.
fn refill<C: ErasingCore>(owner: &mut Owner<'_, Erasing<C>>) -> Result<(), Cut> {
    if !renew(owner, Manner::cheapest(), false)? {
        renew(owner, Manner::Blocked, true)?;
    }
    owner.check()?;
    owner.page.set_left(YIELD);
    Ok(())
}

/// Makes a new key and a full buffer; false if a signal may have seen them.
fn renew<C: ErasingCore>(
    owner: &mut Owner<'_, Erasing<C>>,
    manner: Manner,
    always: bool,
) -> Result<bool, Cut> {
    let isa = owner.isa;
    let buffer = owner.page.page().buffer();
    let chain = owner.page.chain();
    let mut fresh = chain.fresh(owner.vdso, BUFFER, always)?;
    // SAFETY: this kind has bytes in all of the buffer, and they are used here only, as long as
    // `owner` is borrowed.
    let buffer = unsafe { &mut *buffer };
    Ok(manner.run(|| {
        fresh.mix_into(chain.key);
        keystream::<C>(isa, chain.key, buffer);
        let (next, _) = buffer.split_at_mut(32);
        chain.key.copy_from_slice(next);
        wipe::memory(next);
        clean_up(C::stack(isa), BUFFER);
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
