//! Fast key erasure (Bernstein 2017): the first 32 bytes that a key generates are the next key,
//! which replaces it before any byte is handed out. The following bytes fill the buffer. If a
//! request is larger than the buffer, they are written to the caller's memory, 1 MiB under each
//! key. [`crate::linux::mixing`] describes when kernel bytes are mixed into the keys.

use core::marker::PhantomData;

use lanecrypt_kernels::{Isa, wipe};

use crate::linux::core_type::ErasingCore;
use crate::linux::fastest::Fastest;
use crate::linux::generator::{Generator, Mixing, clean_up};
use crate::linux::owner::{FillError, Owner};
use crate::linux::page::{BUFFER, YIELD};
use crate::linux::rseq_watch::{self, Manner};

/// The most bytes that one key generates.
const BYTES_PER_KEY: usize = 1 << 20;

/// The generator with fast key erasure over the core `C`. Bytes are wiped as they are handed out,
/// and each refill of the 8 KiB buffer first replaces the key, so nothing in memory reveals earlier
/// output.
///
/// To be used with a place: [`PerThread<Erasing<C>>`](crate::PerThread),
/// [`Owned<Erasing<C>>`](crate::Owned).
#[derive(Clone, Copy, Debug)]
pub struct Erasing<C = Fastest>(PhantomData<fn() -> C>);

#[expect(private_interfaces, reason = "this is the inside of a generator")]
impl<C: ErasingCore + 'static> Generator for Erasing<C> {
    fn key(owner: &mut Owner<'_, Self>) -> Result<(), FillError> {
        Ok(owner.page.chain().seed()?)
    }

    fn serve(owner: &mut Owner<'_, Self>, out: &mut [u8], mixing: Mixing) -> Result<(), FillError> {
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

/// Fills `out`, at most [`BYTES_PER_KEY`], under its own key. If a signal may have seen the bytes,
/// fills it again under another key. The buffer stays as it is.
fn one_off<C: ErasingCore>(
    owner: &mut Owner<'_, Erasing<C>>,
    out: &mut [u8],
    always: bool,
) -> Result<(), FillError> {
    let mut always = always;
    if let manner @ Manner::Watched(_) = Manner::cheapest() {
        if one_key(owner, manner, out, always)? {
            return Ok(());
        }
        always = true;
    }
    for piece in out.chunks_mut(rseq_watch::PIECE) {
        one_key(owner, Manner::Blocked, piece, always)?;
    }
    Ok(())
}

/// Fills `out` under the page's key and replaces the key. Returns false if a signal may have seen
/// key or bytes.
fn one_key<C: ErasingCore>(
    owner: &mut Owner<'_, Erasing<C>>,
    manner: Manner,
    out: &mut [u8],
    always: bool,
) -> Result<bool, FillError> {
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

/// Makes a new key and a full buffer, which was empty. If a signal may have seen them, makes them
/// again under another key.
fn refill<C: ErasingCore>(owner: &mut Owner<'_, Erasing<C>>) -> Result<(), FillError> {
    if !renew(owner, Manner::cheapest(), false)? {
        renew(owner, Manner::Blocked, true)?;
    }
    owner.check()?;
    owner.page.set_left(YIELD);
    Ok(())
}

/// Makes a new key and a full buffer. Returns false if a signal may have seen them.
fn renew<C: ErasingCore>(
    owner: &mut Owner<'_, Erasing<C>>,
    manner: Manner,
    always: bool,
) -> Result<bool, FillError> {
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

/// Fills `out` with the keystream of `key`. Not inlined, so that its residue on the stack is below
/// its caller's frame.
#[inline(never)]
fn keystream<C: ErasingCore>(isa: Isa, key: &[u8; 32], out: &mut [u8]) {
    C::from_seed(isa, key).keystream(out);
}

/// Replaces `key` by the first bytes of its keystream, and fills `out` from the next block on. Not
/// inlined, like [`keystream`].
#[inline(never)]
fn next_key_and<C: ErasingCore>(isa: Isa, key: &mut [u8; 32], out: &mut [u8]) {
    let mut core = C::from_seed(isa, key);
    core.keystream(key);
    core.keystream(out);
}
