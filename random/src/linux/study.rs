//! For the study of NetBSD's `cprng_fast`: a cipher that is inlined into its caller, and a check
//! before every draw.

use core::marker::PhantomData;

use lanecrypt_kernels::Isa;
use lanecrypt_kernels_legacy::hc128::Hc128;

use crate::error::abort_because;
use crate::linux::core_type::SeedCore;
use crate::linux::generator::{Generator, Mixing, clean_up};
use crate::linux::owner::{FillError, Owner};
use crate::linux::page::{Page, PageMut, Refusal, YIELD};
use crate::linux::rekeying::Rekeying;
use crate::linux::word::Word;

/// [`Rekeying`](crate::Rekeying) with the steps of the cipher inlined into the caller, and without
/// a buffer: NetBSD's `hc128-inline`.
///
/// Nothing is buffered, so there is nothing to wipe. As with [`Rekeying`](crate::Rekeying) there is
/// no backtracking resistance within an interval. Not constant time: the cipher indexes tables by
/// secrets.
#[derive(Clone, Copy, Debug)]
pub struct Inlined<C>(PhantomData<fn() -> C>);

/// The most words that are allowed at a time. They are counted in 32 bits.
const ALLOWANCE: u64 = 1 << 28;

/// Steps of the cipher are allowed up to a position, counted in words in 32 bits; then the slow
/// path checks the interval. The page keeps that position where `Erasing` keeps the time of mixing.
/// The all-zero page of a forked child allows no steps, and neither does a page with a new key. The
/// buffer never holds bytes.
#[expect(private_bounds, private_interfaces, reason = "this is the inside of a generator")]
impl Generator for Inlined<Hc128> {
    fn key(owner: &mut Owner<'_, Self>) -> Result<(), FillError> {
        owner.page.chain().asked_at.set(0);
        rekeying(owner).new_key()
    }

    fn serve(owner: &mut Owner<'_, Self>, out: &mut [u8], mixing: Mixing) -> Result<(), FillError> {
        if mixing == Mixing::EveryRequest {
            Self::key(owner)?;
        }
        let mut rest = out;
        while !rest.is_empty() {
            let allowed = allowed(&mut owner.page);
            if allowed == 0 {
                allow(owner)?;
                continue;
            }
            let (now, later) = rest.split_at_mut(rest.len().min(4 * allowed as usize));
            steps(&mut owner.page, now);
            rest = later;
        }
        clean_up(2048, 0);
        owner.check()
    }

    #[inline(always)]
    fn take<W: Word>(page: &mut PageMut<'_, Self>) -> Result<W, Refusal> {
        if allowed(page) < W::SIZE / 4 {
            return Err(Refusal::Empty);
        }
        let mut same = same(page);
        let core = same.running().core;
        let word = W::from_steps(|| core.next_word());
        if page.is_live() { Ok(word) } else { Err(Refusal::Empty) }
    }

    #[inline(always)]
    fn take_few_bytes(page: &mut PageMut<'_, Self>, out: &mut [u8]) -> Result<(), Refusal> {
        take_steps(page, out)
    }

    #[inline(always)]
    fn take_bytes(page: &mut PageMut<'_, Self>, _: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        take_steps(page, out)
    }
}

/// Steps that are allowed.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "positions are compared in 32 bits")]
fn allowed(page: &mut PageMut<'_, Inlined<Hc128>>) -> u32 {
    let end = page.chain().asked_at.get();
    end.wrapping_sub(same(page).running().core.position() as u32)
}

/// Allows as many steps as the interval has room for, under a new key if it has none. Called only
/// when no steps are allowed.
#[expect(clippy::cast_possible_truncation, reason = "positions are compared in 32 bits")]
fn allow(owner: &mut Owner<'_, Inlined<Hc128>>) -> Result<(), FillError> {
    let mut same = rekeying(owner);
    let words = (same.room()? / 4).min(ALLOWANCE);
    same.page.page().made().add(4 * words);
    let end = same.page.running().core.position().wrapping_add(words);
    same.page.chain().asked_at.set(end as u32);
    Ok(())
}

/// Fills `out` by steps, if enough are allowed and there is no fork meanwhile.
#[inline]
fn take_steps(page: &mut PageMut<'_, Inlined<Hc128>>, out: &mut [u8]) -> Result<(), Refusal> {
    if out.len() > 4 * allowed(page) as usize {
        return Err(Refusal::Empty);
    }
    steps(page, out);
    if page.is_live() { Ok(()) } else { Err(Refusal::Empty) }
}

/// Fills `out` by steps of the cipher, which are allowed. The rest of a last word is dropped.
#[inline]
fn steps(page: &mut PageMut<'_, Inlined<Hc128>>, out: &mut [u8]) {
    let mut same = same(page);
    let core = same.running().core;
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

#[expect(private_bounds, private_interfaces, reason = "this is the inside of a generator")]
impl<C: SeedCore + 'static> Generator for Diagnostic<Rekeying<C>> {
    fn key(owner: &mut Owner<'_, Self>) -> Result<(), FillError> {
        rekeying(owner).new_key()
    }

    fn serve(owner: &mut Owner<'_, Self>, out: &mut [u8], mixing: Mixing) -> Result<(), FillError> {
        check(&owner.page);
        Rekeying::serve(&mut rekeying(owner), out, mixing)
    }

    #[inline(always)]
    fn take<W: Word>(page: &mut PageMut<'_, Self>) -> Result<W, Refusal> {
        check(page);
        page.take()
    }

    #[inline(always)]
    fn take_few_bytes(page: &mut PageMut<'_, Self>, out: &mut [u8]) -> Result<(), Refusal> {
        check(page);
        page.take_few_bytes(out)
    }

    #[inline(always)]
    fn take_bytes(page: &mut PageMut<'_, Self>, isa: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        check(page);
        page.take_bytes(isa, out)
    }
}

/// Ends the process if the page's count is larger than its buffer, which only stray writes can
/// cause.
#[inline(always)]
fn check<G>(page: &PageMut<'_, G>) {
    if page.left() > YIELD {
        beyond_the_buffer();
    }
}

#[cold]
#[inline(never)]
fn beyond_the_buffer() -> ! {
    abort_because("a generator's state is damaged")
}

/// A kind with the core `Core`.
///
/// # Safety
///
/// Its pages have the same content as those of `Rekeying` over this core.
unsafe trait Variant: Sized {
    type Core: SeedCore;
}

// SAFETY: it uses a page as `Rekeying` does, with one more number.
unsafe impl Variant for Inlined<Hc128> {
    type Core = Hc128;
}

// SAFETY: it uses a page as `Rekeying` does.
unsafe impl<C: SeedCore> Variant for Diagnostic<Rekeying<C>> {
    type Core = C;
}

/// The same page, as one of `Rekeying`.
#[inline(always)]
fn same<'a, G: Variant>(page: &'a mut PageMut<'_, G>) -> PageMut<'a, Rekeying<G::Core>> {
    let same: *const Page<G> = page.page();
    // SAFETY: the kind changes nothing of a page's layout.
    let same: &'a Page<Rekeying<G::Core>> = unsafe { &*same.cast() };
    // SAFETY: the right to use the page is borrowed, and the trait says what is in it.
    unsafe { PageMut::new(same) }
}

/// The same page in use.
fn rekeying<'a, G: Variant>(owner: &'a mut Owner<'_, G>) -> Owner<'a, Rekeying<G::Core>> {
    let Owner { page, vdso, isa, interval } = owner;
    Owner { page: same(page), vdso: *vdso, isa: *isa, interval: *interval }
}
