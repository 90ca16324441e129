//! Errors of the computation: no wrong signature leaves, and no other request of the batch fails.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Numbers, levels, vectors};
use lanecrypt_testing::numbers::{Numbers as Random, cases};

use crate::workspace::Slot;
use crate::{Backend, Error, Hash, Isa, Level, Padding, PrivateKey, Request, Workspace, process};

/// One bit of a number in a slot, which is flipped at the end of a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    stage: Stage,
    number: usize,
    bit: usize,
}

/// The stages of a private operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// b, and what it is made of.
    Blinded,
    /// The powers modulo p and q; without primes, the output.
    Powers,
    /// The powers modulo p and q, put together.
    Together,
}

/// Flips the bit of the slot's fault.
pub(crate) fn inject(slot: &mut Slot, at: Stage) {
    let Some(Fault { stage, number, bit }) = slot.fault.filter(|fault| fault.stage == at) else {
        return;
    };
    let blinding = &mut slot.blinding;
    let numbers = match stage {
        Stage::Blinded => [&mut blinding.blinded, &mut blinding.factor],
        Stage::Powers if slot.crt.powers[0].is_empty() => [&mut slot.output, &mut Vec::new()],
        Stage::Powers => slot.crt.powers.each_mut(),
        Stage::Together => [&mut blinding.result, &mut blinding.factor],
    };
    let [first, second] = numbers;
    let number = if number == 0 || second.is_empty() { first } else { second };
    let bit = bit % (64 * number.len());
    number[bit / 64] ^= 1 << (bit % 64);
}

/// So many requests in a batch; every other one of them errs.
const BATCH: usize = 32;

/// Signs in batches. `spoil` makes the error of the request with this number.
fn run(
    good: &PrivateKey,
    spoilt: &mut [PrivateKey],
    faults: u64,
    mut spoil: impl FnMut(&mut PrivateKey) -> Option<Fault>,
) {
    let padding = Padding::pkcs1v15(Hash::LEGACY_SHA1);
    let mut workspace = Workspace::with_backend(Backend::Own);
    workspace.slots.resize_with(BATCH, Slot::default);
    let mut expected = vec![0; good.signature_length()];
    good.sign(padding, b"message", &mut expected, &mut workspace).expect("a good key");
    let mut done = 0;
    while done < faults {
        for (key, slots) in spoilt.iter_mut().zip(workspace.slots.chunks_mut(2)) {
            slots[0].fault = spoil(key);
            done += 1;
        }
        let mut outs = vec![vec![0; expected.len()]; BATCH];
        let mut requests: Vec<_> = outs
            .iter_mut()
            .enumerate()
            .map(|(i, out)| {
                let key = if i % 2 == 0 { &spoilt[i / 2] } else { good };
                Request::sign(key, padding, b"message", out)
            })
            .collect();
        let failed = process(&mut requests, &mut workspace).expect_err("half of them err").failed;
        assert_eq!(failed, BATCH / 2);
        for (i, request) in requests.iter().enumerate() {
            let outcome = if i % 2 == 0 { Err(Error::Fault) } else { Ok(()) };
            assert_eq!(request.outcome(), Some(outcome), "request {i}");
        }
        for (i, out) in outs.iter().enumerate() {
            let nothing = out.iter().all(|&byte| byte == 0);
            assert!(if i % 2 == 0 { nothing } else { *out == expected }, "request {i}");
        }
    }
}

/// As many faults as there must be of each size, and fewer where kernels are slow.
fn faults(isa: Isa, numbers: &Numbers) -> u64 {
    if isa.has(Level::Avx512) || numbers.n.len() <= 64 { cases(1000) } else { cases(1000) / 30 }
}

/// Calls `test` for one key of each size, at each level.
fn each_size(test: impl Fn(&Numbers, Isa)) {
    let (keys, _) = vectors();
    for isa in levels() {
        for bits in [512, 768, 1024, 1536, 2048, 3072, 4096] {
            test(&keys[&format!("generated-{bits}-1")], isa);
        }
    }
}

fn copies(key: &PrivateKey) -> Vec<PrivateKey> {
    (0..BATCH / 2).map(|_| key.with_isa(key.public_key().modulus().isa())).collect()
}

#[test]
fn in_keys() {
    each_size(|numbers, isa| {
        let good = numbers.key().expect("a good key").with_isa(isa);
        let mut random = Random(2);
        let mut last: Vec<Option<(usize, usize)>> = vec![None; BATCH / 2];
        let mut turn = 0;
        run(&good, &mut copies(&good), faults(isa, numbers), |key| {
            let primes = key.primes_mut().expect("a key with primes");
            let [dp, dq] = &mut primes.exponents;
            let mut numbers = [&mut dp[..], &mut dq[..], &mut primes.qinv[..]];
            let mut flip =
                |(number, bit): (usize, usize)| numbers[number][bit / 64] ^= 1 << (bit % 64);
            // The key is good again before it is spoilt in another place.
            let slot = turn % last.len();
            turn += 1;
            last[slot].take().map(&mut flip);
            let place = (random.below(3), random.below(64 * good.signature_length().div_ceil(16)));
            flip(place);
            last[slot] = Some(place);
            None
        });
    });
}

#[test]
fn in_computations() {
    each_size(|numbers, isa| {
        let good = numbers.key().expect("a good key").with_isa(isa);
        let mut random = Random(3);
        let stages = [Stage::Blinded, Stage::Powers, Stage::Powers, Stage::Together];
        run(&good, &mut copies(&good), faults(isa, numbers), |_| {
            let (stage, number) = (stages[random.below(stages.len())], random.below(2));
            Some(Fault { stage, number, bit: random.below(1 << 20) })
        });
    });
}

#[test]
fn in_computations_without_primes() {
    each_size(|numbers, isa| {
        let good = numbers.key().expect("a good key").with_isa(isa).without_primes();
        let mut random = Random(4);
        let stages = [Stage::Blinded, Stage::Powers];
        let faults = faults(isa, numbers) / if good.signature_length() > 192 { 20 } else { 1 };
        run(&good, &mut copies(&good), faults.max(16), |_| {
            let (stage, number) = (stages[random.below(stages.len())], random.below(2));
            Some(Fault { stage, number, bit: random.below(1 << 20) })
        });
    });
}
