//! Errors of the computation: no wrong signature leaves, and no other request of the batch fails.

use lanecrypt_kernels::montgomery;
use serde_json::Value;

use crate::workspace::Slot;
use crate::workspace::fault::{Fault, Stage};
use crate::{
    Backend, Components, CrtComponents, Error, Hash, Isa, Level, Padding, PrivateKey, Request,
    Workspace, process,
};

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
fn faults(key: &PrivateKey) -> u64 {
    let cases = std::env::var("LANECRYPT_CASES");
    let cases = cases.map_or(1000, |n| n.parse().expect("LANECRYPT_CASES is a number"));
    let has_lanes = montgomery::has_lanes(key.public_key().modulus().isa());
    cases.min(20_000) / if has_lanes || key.signature_length() <= 64 { 1 } else { 30 }
}

/// Calls `test` for one key of each size, at each level whose kernels differ.
fn each_size(test: impl Fn(PrivateKey)) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/rsa.jsonl");
    let text = std::fs::read_to_string(path).expect("the file of vectors");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    let lines: Vec<Value> = lines.collect();
    let highest = Isa::of_processor();
    for level in
        [Level::Portable, Level::Avx2, Level::Avx512].into_iter().filter(|&it| highest.has(it))
    {
        for bits in [512, 768, 1024, 1536, 2048, 3072, 4096] {
            let name = format!("generated-{bits}-1");
            let line = lines.iter().find(|line| line["name"] == *name).expect("a key of this size");
            test(key(line).with_isa(highest.at_most(level)));
        }
    }
}

/// The key of a line of vectors.
fn key(line: &Value) -> PrivateKey {
    let number = |name: &str| -> Vec<u8> {
        let digits = line[name].as_str().expect("a number");
        let pairs = digits.as_bytes().rchunks(2).rev();
        let pair = |pair| u8::from_str_radix(str::from_utf8(pair).expect("ASCII"), 16);
        pairs.map(|digits| pair(digits).expect("hexadecimal digits")).collect()
    };
    let [n, e, d, p, q] = ["n", "e", "d", "p", "q"].map(number);
    let [dp, dq, qinv] = ["dp", "dq", "qinv"].map(number);
    let crt = CrtComponents { p: &p, q: &q, dp: &dp, dq: &dq, qinv: &qinv };
    let components = Components { n: &n, e: &e, d: &d, crt: Some(crt) };
    PrivateKey::legacy_from_components(&components).expect("a good key")
}

/// Numbers that look random and are the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) % bound as u64).expect("below a usize")
    }
}

fn copies(key: &PrivateKey) -> Vec<PrivateKey> {
    (0..BATCH / 2).map(|_| key.with_isa(key.public_key().modulus().isa())).collect()
}

#[test]
fn in_keys() {
    each_size(|good| {
        let mut random = Random(2);
        let mut last: Vec<Option<(usize, usize)>> = vec![None; BATCH / 2];
        let mut turn = 0;
        run(&good, &mut copies(&good), faults(&good), |key| {
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
    each_size(|good| {
        let mut random = Random(3);
        let stages = [Stage::Blinded, Stage::Powers, Stage::Powers, Stage::Together];
        run(&good, &mut copies(&good), faults(&good), |_| {
            let (stage, number) = (stages[random.below(stages.len())], random.below(2));
            Some(Fault { stage, number, bit: random.below(1 << 20) })
        });
    });
}

#[test]
fn in_computations_without_primes() {
    each_size(|key| {
        let good = key.without_primes();
        let mut random = Random(4);
        let stages = [Stage::Blinded, Stage::Powers];
        let faults = faults(&good) / if good.signature_length() > 192 { 20 } else { 1 };
        run(&good, &mut copies(&good), faults.max(16), |_| {
            let (stage, number) = (stages[random.below(stages.len())], random.below(2));
            Some(Fault { stage, number, bit: random.below(1 << 20) })
        });
    });
}
