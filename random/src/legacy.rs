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

/// The most bytes that are allowed at a time; the page counts them in 32 bits.
const ALLOWANCE: u32 = 1 << 30;

impl Generator for Inlined<Hc128> {}

/// The page's count of bytes left is what may be made before the slow way must look at the interval;
/// the all-zero page of a forked child allows nothing.
impl Source for Inlined<Hc128> {
    unsafe fn key(owner: Owner) -> Result<(), Cut> {
        // SAFETY: the caller's promise.
        unsafe { new_key::<Hc128>(owner) }
    }

    unsafe fn serve(owner: Owner, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        let page = owner.slot.page;
        if mixing == Mixing::EveryRequest {
            // SAFETY: the caller's promise.
            unsafe { page.set_left(0) };
            // SAFETY: the caller's promise.
            unsafe { new_key::<Hc128>(owner)? };
        }
        let mut rest = out;
        while !rest.is_empty() {
            // SAFETY: the caller's promise.
            let left = unsafe { page.left() };
            if left < 4 {
                // SAFETY: the caller's promise.
                let room = unsafe { room::<Hc128>(owner)? };
                let allowed = u32::try_from(room).unwrap_or(u32::MAX).min(ALLOWANCE);
                // SAFETY: the caller's promise.
                unsafe { Made::of(page) }.add(u64::from(allowed));
                // SAFETY: no bytes are read by this count.
                unsafe { page.set_left(allowed) };
                continue;
            }
            let now = rest.len().min(left as usize / 4 * 4);
            let (now, later) = rest.split_at_mut(now);
            // SAFETY: the caller's promise; so many bytes are allowed.
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
        let left = unsafe { page.left() };
        if left < W::SIZE {
            return Err(Refusal::Empty);
        }
        // SAFETY: the caller's promise.
        let core = unsafe { Running::<Hc128>::core(page) };
        // SAFETY: the caller owns the page, and nothing else refers to the core during this call.
        let core = unsafe { &mut *core };
        let word = W::from_steps(|| core.next_word());
        // SAFETY: the caller's promise; the count only falls.
        unsafe { page.set_left(left - W::SIZE) };
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

/// Fills `out` by steps, if so many are allowed and no fork comes between.
///
/// # Safety
///
/// As for [`Source`].
#[inline]
unsafe fn take_steps(page: PagePtr, out: &mut [u8]) -> Result<(), Refusal> {
    // SAFETY: the caller's promise.
    let left = unsafe { page.left() } as usize;
    if out.len() > left / 4 * 4 {
        return Err(Refusal::Empty);
    }
    // SAFETY: the caller's promise; so many bytes are allowed.
    unsafe { steps(page, out) };
    // SAFETY: the caller's promise.
    if unsafe { page.is_live() } { Ok(()) } else { Err(Refusal::Empty) }
}

/// Fills `out` by steps of the cipher; the rest of a last word is dropped.
///
/// # Safety
///
/// As for [`Source`], and the page allows so many bytes, in whole words.
#[inline]
unsafe fn steps(page: PagePtr, out: &mut [u8]) {
    // At most what 32 bits count.
    let used = u32::try_from(out.len().next_multiple_of(4)).unwrap_or(u32::MAX);
    // SAFETY: the caller's promise.
    let left = unsafe { page.left() };
    // SAFETY: the caller's promise; the count only falls.
    unsafe { page.set_left(left.saturating_sub(used)) };
    // SAFETY: the caller's promise.
    let core = unsafe { Running::<Hc128>::core(page) };
    // SAFETY: the caller owns the page, and nothing else refers to the core during this call.
    let core = unsafe { &mut *core };
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
