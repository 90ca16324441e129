//! What the study of NetBSD's `cprng_fast` compares: a cipher inlined into its caller, and a
//! check before every draw.

use core::marker::PhantomData;

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::hc128::Hc128;

use crate::core_type::SeedCore;
use crate::error::abort_because;
use crate::generator::{Cut, Generator, Mixing, Source, clean_up};
use crate::owner::Owner;
use crate::page::{PagePtr, Refusal, Word, YIELD};
use crate::rekeying::{Made, Rekeying, Running, new_key, room};

/// [`Rekeying`](crate::Rekeying) with the steps of the cipher inlined into the caller, without a
/// buffer: NetBSD's `hc128-inline`.
///
/// Nothing waits to be handed out, so there is nothing to wipe; as with
/// [`Rekeying`](crate::Rekeying) there is no backtracking resistance within an interval. Not constant
/// time: the cipher indexes tables by secrets.
#[derive(Clone, Copy, Debug)]
pub struct Inlined<C>(PhantomData<fn() -> C>);

/// The most words that are allowed at a time; they are counted in 32 bits.
const ALLOWANCE: u64 = 1 << 28;

impl Generator for Inlined<Hc128> {}

/// The page's cursor tells up to which position of the cipher, in words and 32 bits, steps are allowed
/// before the slow way must look at the interval. The all-zero page of a forked child allows none, nor
/// does one with a new key.
impl Source for Inlined<Hc128> {
    unsafe fn key(owner: Owner) -> Result<(), Cut> {
        // SAFETY: the caller's promise.
        unsafe { new_key::<Hc128>(owner) }
    }

    unsafe fn serve(owner: Owner, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        let page = owner.slot.page;
        if mixing == Mixing::EveryRequest {
            // SAFETY: the caller's promise.
            unsafe { renew(owner)? };
        }
        let mut rest = out;
        while !rest.is_empty() {
            // SAFETY: the caller's promise.
            let allowed = unsafe { allowed(page) };
            if allowed == 0 {
                // SAFETY: the caller's promise.
                unsafe { allow(owner)? };
                continue;
            }
            let (now, later) = rest.split_at_mut(rest.len().min(4 * allowed as usize));
            // SAFETY: the caller's promise; so many words are allowed.
            unsafe { steps(page, now) };
            rest = later;
        }
        clean_up(2048, 0);
        // SAFETY: the caller's promise.
        if unsafe { page.is_live() } { Ok(()) } else { Err(Cut::Forked) }
    }

    #[inline(always)]
    unsafe fn take<W: Word>(page: PagePtr) -> Result<W, Refusal> {
        // SAFETY: the caller's promise.
        if unsafe { allowed(page) } < W::SIZE / 4 {
            return Err(Refusal::Empty);
        }
        // SAFETY: the caller's promise.
        let core = unsafe { core(page) };
        let word = W::from_steps(|| core.next_word());
        // SAFETY: the caller's promise.
        if unsafe { page.is_live() } { Ok(word) } else { Err(Refusal::Empty) }
    }

    #[inline(always)]
    unsafe fn take_few_bytes(page: PagePtr, out: &mut [u8]) -> Result<(), Refusal> {
        // SAFETY: the caller's promise.
        unsafe { take_steps(page, out) }
    }

    #[inline(always)]
    unsafe fn take_bytes(page: PagePtr, _: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        // SAFETY: the caller's promise.
        unsafe { take_steps(page, out) }
    }
}

/// The page's cipher.
///
/// # Safety
///
/// As for [`Source`], and nothing else refers to the cipher as long as the reference is used.
#[inline(always)]
unsafe fn core<'page>(page: PagePtr) -> &'page mut Hc128 {
    // SAFETY: the caller's promise.
    let core = unsafe { Running::<Hc128>::core(page) };
    // SAFETY: the caller's promise.
    unsafe { &mut *core }
}

/// Steps that are allowed.
///
/// # Safety
///
/// As for [`Source`].
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "positions are compared in 32 bits")]
unsafe fn allowed(page: PagePtr) -> u32 {
    // SAFETY: the caller's promise.
    let end = unsafe { page.left() };
    // SAFETY: the caller's promise.
    end.wrapping_sub(unsafe { core(page) }.position() as u32)
}

/// Allows as many steps as the interval has room for, under a new key if that is none.
///
/// # Safety
///
/// As for [`Source`], and no steps are allowed.
#[expect(clippy::cast_possible_truncation, reason = "positions are compared in 32 bits")]
unsafe fn allow(owner: Owner) -> Result<(), Cut> {
    let page = owner.slot.page;
    // SAFETY: the caller's promise.
    let words = (unsafe { room::<Hc128>(owner)? } / 4).min(ALLOWANCE);
    // SAFETY: the caller's promise.
    unsafe { Made::of(page) }.add(4 * words);
    // SAFETY: the caller's promise.
    let end = unsafe { core(page) }.position().wrapping_add(words);
    // SAFETY: the caller's promise; no bytes are read by this cursor.
    unsafe { page.set_left(end as u32) };
    Ok(())
}

/// Takes a new key, under which no steps are allowed yet.
///
/// # Safety
///
/// As for [`Source`].
unsafe fn renew(owner: Owner) -> Result<(), Cut> {
    // SAFETY: the caller's promise.
    unsafe { owner.slot.page.set_left(0) };
    // SAFETY: the caller's promise.
    unsafe { new_key::<Hc128>(owner) }
}

/// Fills `out` by steps, if so many are allowed and no fork comes between.
///
/// # Safety
///
/// As for [`Source`].
#[inline]
unsafe fn take_steps(page: PagePtr, out: &mut [u8]) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    if out.len() > 4 * unsafe { allowed(page) } as usize {
        return Err(Refusal::Empty);
    }
    // SAFETY: the caller's promise; so many words are allowed.
    unsafe { steps(page, out) };
    // SAFETY: the caller's promise.
    if unsafe { page.is_live() } { Ok(()) } else { Err(Refusal::Empty) }
}

/// Fills `out` by steps of the cipher; the rest of a last word is dropped.
///
/// # Safety
///
/// As for [`Source`], and the page allows so many words.
#[inline]
unsafe fn steps(page: PagePtr, out: &mut [u8]) {
    // SAFETY: the caller's promise.
    let core = unsafe { core(page) };
    let (words, rest) = out.as_chunks_mut::<4>();
    for word in words {
        *word = core.next_word().to_le_bytes();
    }
    if !rest.is_empty() {
        let last = core.next_word().to_le_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// A generator that checks its state before every draw: NetBSD's `DIAGNOSTIC`, a branch that is
/// never taken.
#[derive(Clone, Copy, Debug)]
pub struct Diagnostic<G>(PhantomData<fn() -> G>);

impl<C: SeedCore + 'static> Generator for Diagnostic<Rekeying<C>> {}

impl<C: SeedCore + 'static> Source for Diagnostic<Rekeying<C>> {
    unsafe fn key(owner: Owner) -> Result<(), Cut> {
        // SAFETY: the caller's promise.
        unsafe { Rekeying::<C>::key(owner) }
    }

    unsafe fn serve(owner: Owner, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        // SAFETY: the caller's promise.
        unsafe { check(owner.slot.page) };
        // SAFETY: the caller's promise.
        unsafe { Rekeying::<C>::serve(owner, out, mixing) }
    }

    #[inline(always)]
    unsafe fn take<W: Word>(page: PagePtr) -> Result<W, Refusal> {
        // SAFETY: the caller's promise.
        unsafe { check(page) };
        // SAFETY: the caller's promise.
        unsafe { Rekeying::<C>::take(page) }
    }

    #[inline(always)]
    unsafe fn take_few_bytes(page: PagePtr, out: &mut [u8]) -> Result<(), Refusal> {
        // SAFETY: the caller's promise.
        unsafe { check(page) };
        // SAFETY: the caller's promise.
        unsafe { Rekeying::<C>::take_few_bytes(page, out) }
    }

    #[inline(always)]
    unsafe fn take_bytes(page: PagePtr, isa: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        // SAFETY: the caller's promise.
        unsafe { check(page) };
        // SAFETY: the caller's promise.
        unsafe { Rekeying::<C>::take_bytes(page, isa, out) }
    }
}

/// Ends the process if the page's count is beyond its buffer, which nothing but stray writes brings
/// about.
///
/// # Safety
///
/// The page is mapped and the caller owns it.
#[inline(always)]
unsafe fn check(page: PagePtr) {
    // SAFETY: the caller's promise.
    if unsafe { page.left() } > YIELD {
        beyond_the_buffer();
    }
}

#[cold]
#[inline(never)]
fn beyond_the_buffer() -> ! {
    abort_because("a generator's state is damaged")
}
