//! Erasure: nothing in a generator's page, on the stack or in the vector registers tells what was
//! given out, or which keys made it. The state of a cipher that runs on does by its nature: there,
//! the bytes themselves must be nowhere.

use crate::common::drawer::{Drawer, OwnedDrawer, StrictThread, shared};
use crate::common::maps::{self, Mapping};
use crate::common::toy::{Defect, Toy};
use crate::common::windows::Windows;
use crate::common::x86_64::key;
use crate::common::x86_64::traces::Traces;
#[cfg(feature = "study")]
use lanecrypt_random::Inlined;
use lanecrypt_random::{
    AesCtr, ChaCha, Erasing, Generator, Isa, Level, Owned, PerCpu, PerThread, Rekeying, Salsa,
    SingleThread,
};
use lanecrypt_random::{Arc4, Hc128};
use lanecrypt_testing::harness::{Case, skipped, times};

pub(crate) const CASES: &[Case] = &[
    Case("erasure::per_thread", per_thread),
    Case("erasure::strict", strict),
    Case("erasure::per_cpu", per_cpu),
    Case("erasure::shared", behind_a_lock),
    Case("erasure::single", single),
    Case("erasure::chacha20_at_every_level", at_every_level::<Erasing<ChaCha<20>>>),
    Case("erasure::chacha8_at_every_level", at_every_level::<Erasing<ChaCha<8>>>),
    Case("erasure::salsa20_at_every_level", at_every_level::<Erasing<Salsa<20>>>),
    Case("erasure::aes256_at_every_level", at_every_level::<Erasing<AesCtr<256>>>),
    Case("erasure::rekeying_chacha20", at_every_level::<Rekeying<ChaCha<20>>>),
    Case("erasure::rekeying_salsa12", at_every_level::<Rekeying<Salsa<12>>>),
    Case("erasure::rekeying_aes256", at_every_level::<Rekeying<AesCtr<256>>>),
    Case("erasure::rekeying_arc4", at_this_level::<Rekeying<Arc4>>),
    Case("erasure::rekeying_hc128", at_this_level::<Rekeying<Hc128>>),
    #[cfg(feature = "study")]
    Case("erasure::inlined_hc128", at_this_level::<Inlined<Hc128>>),
    Case("erasure::defects_are_found", defects_are_found),
];

/// The longest request.
const LONGEST: usize = 20_000;
/// Bytes that a refill leaves to hand out.
const YIELD: usize = 8096;
/// So many bytes given out are remembered, at least; a page holds 8,096 of them.
const REMEMBERED: usize = 1 << 17;

fn requests() -> usize {
    times(1_000, 50_000)
}

fn per_thread() {
    check(&PerThread::<Erasing<ChaCha<20>>>::new(), requests()).expect("nothing is left");
    check(&PerThread::<Erasing<AesCtr<256>>>::new(), requests()).expect("nothing is left");
}

fn strict() {
    check(&StrictThread, requests()).expect("nothing is left");
}

fn per_cpu() {
    check(&PerCpu::<Erasing<ChaCha<20>>>::new(), requests()).expect("nothing is left");
    check(&PerCpu::<Rekeying<ChaCha<8>>>::new(), requests()).expect("nothing is left");
}

fn behind_a_lock() {
    check(shared::<Erasing<ChaCha<20>>>(), requests()).expect("nothing is left");
    check(shared::<Rekeying<AesCtr<256>>>(), requests()).expect("nothing is left");
}

fn single() {
    let generator = SingleThread::<Erasing<AesCtr<256>>>::new().expect("the kernel has randomness");
    check(&generator, requests()).expect("nothing is left");
}

fn at_this_level<G: Generator>() {
    let generator = Owned::<G>::new().expect("the kernel has randomness");
    check(&OwnedDrawer::new(generator), requests()).expect("nothing is left");
}

fn at_every_level<G: Generator>() {
    for &level in Level::built() {
        let isa = Isa::of_processor().at_most(level);
        if isa.level() != level {
            skipped("erasure", &format!("this processor lacks {level}"));
            continue;
        }
        let generator = Owned::<G>::with_isa(isa).expect("the kernel has randomness");
        check(&OwnedDrawer::new(generator), requests())
            .unwrap_or_else(|fault| panic!("at level {level}: {fault}"));
    }
}

/// Draws from `drawer` many times and looks for what it gave out, and for earlier keys, after each
/// request.
fn check(drawer: &dyn Drawer, requests: usize) -> Result<(), String> {
    let mut traces = Traces::new();
    let empty = || Windows::new(2 * REMEMBERED + LONGEST);
    let mut given_out = empty();
    let mut keys = Windows::new(32 * (requests + 1));
    let mut out = vec![0; LONGEST];
    // The first draw maps the page.
    let _ = drawer.u32();
    let mappings: Vec<Mapping> = maps::wiped_on_fork();
    if lanecrypt_random::capabilities().wipe_on_fork {
        assert!(maps::live_count(&mappings) > 0, "there is a seeded page");
    }
    let mut current = Vec::new();
    for request in 0..requests {
        let length = length(request);
        let out = &mut out[..length];
        // The bytes that a request for more than the buffer makes its own key from.
        let before = maps::live_pages(&mappings);
        traces.run(|| draw(drawer, request, out));

        if given_out.len() > 2 * REMEMBERED {
            given_out = empty();
        }
        if given_out.insert(out).is_some() {
            return Err(format!("request {request} of {length} bytes repeats an earlier one"));
        }
        let after: Vec<Vec<u8>> = mappings.iter().map(|mapping| mapping.read()).collect();
        // Keys that are no longer in use are earlier keys.
        let now: Vec<Vec<u8>> =
            maps::live_pages(&mappings).iter().map(|page| key(page).to_vec()).collect();
        // The key of a cipher that runs on is part of its state and no subject of this check.
        for key in current.iter().filter(|key| **key != [0; 32]) {
            if !now.contains(key) {
                keys.insert(key);
            }
        }
        current = now;
        let places = after
            .iter()
            .map(|bytes| ("memory emptied on fork", &**bytes))
            .chain([("the stack", traces.stack()), ("the vector registers", traces.registers())]);
        for (place, bytes) in places {
            if let Some(at) = given_out.find_in(bytes) {
                return Err(format!("{place} at {at} tells request {request} of {length} bytes"));
            }
            if let Some(at) = keys.find_in(bytes) {
                return Err(format!("{place} at {at} tells a key, at request {request}"));
            }
        }
        // The current key and unused bytes belong into the page and nowhere else.
        let mut secret = Windows::new(2 * maps::PAGE * before.len().max(1));
        for page in before.iter().filter(|_| request.is_multiple_of(16)) {
            if *key(page) != [0; 32] {
                secret.insert(key(page));
            }
            secret.insert(maps::unused(page));
        }
        for (place, bytes) in
            [("the stack", traces.stack()), ("the vector registers", traces.registers())]
        {
            if let Some(at) = secret.find_in(bytes) {
                return Err(format!("{place} at {at} tells the page, at request {request}"));
            }
        }
    }
    Ok(())
}

/// From 1 to 20,000 bytes: small ones often, each size now and then.
fn length(request: usize) -> usize {
    match request % 4 {
        0 => 1 + request / 4 % 300,
        1 => 1 + request * 2_654_435_761 % 8192,
        2 => 16,
        _ => [4, 8, 32, 64, 256, YIELD, YIELD + 1, LONGEST][request / 4 % 8],
    }
}

fn draw(drawer: &dyn Drawer, request: usize, out: &mut [u8]) {
    if request.is_multiple_of(3) && out.len() == 4 {
        out.copy_from_slice(&drawer.u32().to_ne_bytes());
    } else if request.is_multiple_of(3) && out.len() == 8 {
        out.copy_from_slice(&drawer.u64().to_ne_bytes());
    } else {
        drawer.fill(out);
    }
}

/// The check accepts a generator without defects and rejects one that leaves something behind.
fn defects_are_found() {
    let check = |defect| check(&Toy::new(defect), 300);
    check(Defect::None).expect("nothing is wrong with it");
    let fault = check(Defect::KeepsBytes).expect_err("bytes stay in the page");
    assert!(fault.contains("memory emptied on fork") && fault.contains("bytes"), "{fault}");
    let fault = check(Defect::KeepsKey).expect_err("a key stays in the page");
    assert!(fault.contains("memory emptied on fork") && fault.contains("a key"), "{fault}");
    let fault = check(Defect::KeepsTraces).expect_err("the cipher's traces stay");
    assert!(!fault.contains("memory emptied on fork"), "{fault}");
}
