//! Times of requests compared by statistics: does the clock tell inputs apart?
//!
//! As in O. Reparaz, J. Balasch and I. Verbauwhede, "dude, is my code constant time?" (2017):
//! requests with one fixed key and data and requests with random ones come in random order, the
//! slowest tenth is left out, for that is where interrupts are, and Welch's t says how far apart
//! the means are. Without a leak it is seldom beyond 4.5. Machines that others use drift and
//! jump, so a leak is reported only if t is beyond [`THRESHOLD`] on the same side each time that
//! all is repeated; what this cannot find, the trace must.

use core::arch::x86_64::{_mm_lfence, _rdtsc};
use core::hint::black_box;

use inout::InOutBuf;
use lanecrypt_kernels::aegis::{self, Aegis128L, Aegis256};
use lanecrypt_kernels::aes::{self, Aes};
use lanecrypt_kernels::chacha::{self, ChaCha, Counter64, Ietf};
use lanecrypt_kernels::chacha20poly1305::{self, ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::gcm::{self, AesGcm};
use lanecrypt_kernels::gcm_siv::{self, AesGcmSiv};
use lanecrypt_kernels::lanes::Lane;
#[cfg(feature = "montgomery")]
use lanecrypt_kernels::montgomery;
use lanecrypt_kernels::siv::{self, AesSiv};
use lanecrypt_kernels::xts::{self, AesXts};
use lanecrypt_kernels::{Aead, AeadLanes, BlockCipher, BlockEncrypt, Isa, Level, StreamCore};
use lanecrypt_kernels_legacy::des::{self, Des, TripleDes, TripleDesKey};
use lanecrypt_kernels_legacy::salsa::{self, Salsa};
use lanecrypt_kernels_legacy::serpent::{self, Serpent};

use crate::x86_64::memcheck;
use crate::{fail, planted};

/// How far apart two means are called different, in standard errors.
const THRESHOLD: f64 = 10.0;
const REPETITIONS: usize = 3;
/// Requests in each repetition.
const REQUESTS: usize = 20_000;

/// What every request of one class has; the guess of the planted leak.
const FIXED: u8 = 0x5a;

/// The secrets of a request.
struct Inputs {
    key: [u8; 32],
    data: [u8; 1032],
}

/// One algorithm: all that it does with a key, from its schedule on.
struct Subject {
    name: &'static str,
    levels: &'static [Level],
    run: fn(Isa, &mut Inputs),
}

#[rustfmt::skip]
const ALL: &[Subject] = &[
    Subject { name: "chacha8-djb", levels: chacha::KERNELS, run: chacha::<8> },
    Subject { name: "chacha12-djb", levels: chacha::KERNELS, run: chacha::<12> },
    Subject { name: "chacha20-djb", levels: chacha::KERNELS, run: chacha::<20> },
    Subject { name: "chacha20-ietf", levels: chacha::KERNELS, run: ietf },
    Subject { name: "salsa20/8", levels: salsa::KERNELS, run: salsa::<8> },
    Subject { name: "salsa20/12", levels: salsa::KERNELS, run: salsa::<12> },
    Subject { name: "salsa20/20", levels: salsa::KERNELS, run: salsa::<20> },
    Subject { name: "aes-128", levels: aes::KERNELS, run: aes128 },
    Subject { name: "aes-192", levels: aes::KERNELS, run: aes192 },
    Subject { name: "aes-256", levels: aes::KERNELS, run: aes256 },
    Subject { name: "aegis-128l", levels: aegis::KERNELS, run: aegis128l },
    Subject { name: "aegis-256", levels: aegis::KERNELS, run: aegis256 },
    Subject { name: "aegis-128l-lanes", levels: aes::KERNELS, run: aegis_lanes },
    Subject { name: "aes-128-gcm", levels: gcm::KERNELS, run: gcm128 },
    Subject { name: "aes-256-gcm", levels: gcm::KERNELS, run: gcm256 },
    Subject { name: "aes-256-gcm-siv", levels: gcm_siv::KERNELS, run: gcm_siv256 },
    Subject { name: "aes-256-gcm-siv-lanes", levels: aes::KERNELS, run: gcm_siv_lanes },
    Subject { name: "aes-siv-256", levels: siv::KERNELS, run: aes_siv },
    Subject { name: "aes-siv-256-lanes", levels: aes::KERNELS, run: aes_siv_lanes },
    Subject { name: "aes-256-xts", levels: xts::KERNELS, run: xts256 },
    Subject { name: "chacha20-poly1305", levels: chacha20poly1305::KERNELS, run: chacha_poly },
    Subject { name: "serpent", levels: serpent::KERNELS, run: serpent },
    Subject { name: "aes-128-lanes", levels: aes::KERNELS, run: aes128_lanes },
    Subject { name: "aes-256-lanes", levels: aes::KERNELS, run: aes256_lanes },
    Subject { name: "serpent-lanes", levels: serpent::KERNELS, run: serpent_lanes },
    Subject { name: "chacha20-lanes", levels: chacha::KERNELS, run: chacha_lanes },
    Subject { name: "salsa20-lanes", levels: salsa::KERNELS, run: salsa_lanes },
    Subject {
        name: "chacha20-poly1305-lanes",
        levels: chacha20poly1305::KERNELS,
        run: chacha_poly_lanes,
    },
    Subject {
        name: "xchacha20-poly1305-lanes",
        levels: chacha20poly1305::KERNELS,
        run: xchacha_poly_lanes,
    },
    #[cfg(feature = "montgomery")]
    Subject { name: "powers", levels: crate::montgomery::LEVELS, run: powers::<1> },
    #[cfg(feature = "montgomery")]
    Subject { name: "powers-lanes", levels: crate::montgomery::LEVELS, run: powers::<8> },
    Subject { name: "des-sliced", levels: des::KERNELS, run: des },
    Subject { name: "3des-sliced", levels: des::KERNELS, run: triple_des },
    Subject { name: "des-lanes", levels: des::KERNELS, run: des_lanes },
    Subject { name: "3des-lanes", levels: des::KERNELS, run: triple_des_lanes },
];

pub(crate) fn check() -> bool {
    println!("By the clock, fixed inputs against random ones");
    (planted() || fail("the clock misses a planted leak"))
        & (kernels() || fail("the clock tells inputs apart"))
}

/// Whether the planted leak shows.
fn planted() -> bool {
    let leak = planted::ALL.iter().find(|leak| leak.name == "early-return");
    let leak = leak.expect("it is in the list");
    let times = judge(|inputs| {
        let (secret, _) = inputs.key.split_first_chunk().expect("32 is more than 16");
        (leak.run)(secret);
    });
    let found = shows(&times);
    println!(
        "planted {}: {}, t ={}",
        leak.name,
        if found { "found" } else { "NOT FOUND" },
        list(&times)
    );
    found
}

/// Whether no kernel shows a leak that Valgrind cannot see.
fn kernels() -> bool {
    let mut clean = true;
    for subject in ALL {
        for &level in subject.levels.iter().filter(|&&l| !memcheck::sees(l) && l.is_built()) {
            let isa = Isa::of_processor().at_most(level);
            if isa.level() == level {
                let times = judge(|inputs| (subject.run)(isa, inputs));
                let outcome = if shows(&times) { "LEAKS" } else { "clean" };
                println!("{:<14} {level:<9} {outcome}, t ={}", subject.name, list(&times));
                clean &= !shows(&times);
            } else {
                println!("{:<14} {level:<9} not available on this processor", subject.name);
            }
        }
    }
    clean
}

fn shows(times: &[f64; REPETITIONS]) -> bool {
    times.iter().all(|&t| t > THRESHOLD) || times.iter().all(|&t| t < -THRESHOLD)
}

fn list(times: &[f64; REPETITIONS]) -> String {
    times.iter().map(|t| format!(" {t:.1}")).collect()
}

/// Welch's t of each repetition.
fn judge(mut run: impl FnMut(&mut Inputs)) -> [f64; REPETITIONS] {
    let mut random = Random(0x7e57_5eed);
    core::array::from_fn(|_| {
        let mut times = Vec::with_capacity(REQUESTS);
        for request in 0..REQUESTS + REQUESTS / 20 {
            let fixed = random.next() >> 63 == 1;
            let mut inputs = random.inputs(fixed);
            let start = clock();
            run(black_box(&mut inputs));
            let cycles = clock().wrapping_sub(start);
            // The first ones warm up caches and predictors.
            if request >= REQUESTS / 20 {
                times.push((cycles, fixed));
            }
        }
        welch(times)
    })
}

/// Cycles of the time-stamp counter, read between what stands before and after.
fn clock() -> u64 {
    // SAFETY: the fence is part of SSE2, which all x86-64 processors have.
    unsafe { _mm_lfence() };
    // SAFETY: Linux lets programs read the counter.
    let cycles = unsafe { _rdtsc() };
    // SAFETY: as above.
    unsafe { _mm_lfence() };
    cycles
}

/// How far the mean of fixed inputs is above that of random ones, in standard errors, without the
/// slowest tenth of all.
fn welch(mut times: Vec<(u64, bool)>) -> f64 {
    times.sort_unstable();
    // Counted from the median, so that the sums stay exact.
    let middle = times[times.len() / 2].0 as f64;
    // Of those that took equally long all stay, whatever their class.
    let slowest = times[times.len() / 10 * 9].0;
    times.retain(|&(cycles, _)| cycles <= slowest);
    let class = |fixed: bool| {
        let of =
            |&(cycles, class): &(u64, bool)| (class == fixed).then_some(cycles as f64 - middle);
        let count = times.iter().filter_map(of).count() as f64;
        let mean = times.iter().filter_map(of).sum::<f64>() / count;
        let squares = times.iter().filter_map(of).map(|x| (x - mean) * (x - mean)).sum::<f64>();
        (mean, squares / (count - 1.0) / count)
    };
    let ((fixed, fixed_error), (random, random_error)) = (class(true), class(false));
    // A part of a cycle more, for classes that never vary.
    (fixed - random) / (fixed_error + random_error + 1e-6).sqrt()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Made in the same way for both classes, so that nothing but their values differs.
    fn inputs(&mut self, fixed: bool) -> Inputs {
        let mut inputs = Inputs { key: [0; 32], data: [0; 1032] };
        let mask = u64::from(black_box(fixed)).wrapping_neg();
        let keys = inputs.key.as_chunks_mut().0.iter_mut();
        for bytes in keys.chain(inputs.data.as_chunks_mut().0) {
            let word = self.next();
            *bytes = (word ^ ((word ^ u64::from_ne_bytes([FIXED; 8])) & mask)).to_ne_bytes();
        }
        inputs
    }
}

/// The first bytes of the key.
fn key<const N: usize>(inputs: &Inputs) -> &[u8; N] {
    inputs.key.first_chunk().expect("no key is longer than 32 bytes")
}

fn chacha<const ROUNDS: usize>(isa: Isa, inputs: &mut Inputs) {
    let key = chacha::Key::from(key::<32>(inputs));
    stream(ChaCha::<ROUNDS, Counter64>::new(isa, &key, &[7; 8]), inputs);
}

fn ietf(isa: Isa, inputs: &mut Inputs) {
    let key = chacha::Key::from(key::<32>(inputs));
    stream(ChaCha::<20, Ietf>::new(isa, &key, &[7; 12]), inputs);
}

fn salsa<const ROUNDS: usize>(isa: Isa, inputs: &mut Inputs) {
    let key = chacha::Key::from(key::<32>(inputs));
    stream(Salsa::<ROUNDS>::new(isa, &key, &[7; 8]), inputs);
}

fn stream(mut core: impl StreamCore, inputs: &mut Inputs) {
    core.xor(inputs.data.as_mut_slice().into());
    core.keystream(&mut inputs.data);
}

fn aes128(isa: Isa, inputs: &mut Inputs) {
    let aes = Aes::<128>::new(isa, key(inputs));
    chain(&aes, inputs);
    blocks(&aes, inputs);
}

fn aes192(isa: Isa, inputs: &mut Inputs) {
    let aes = Aes::<192>::new(isa, key(inputs));
    chain(&aes, inputs);
    blocks(&aes, inputs);
}

fn aes256(isa: Isa, inputs: &mut Inputs) {
    let aes = Aes::<256>::new(isa, key(inputs));
    chain(&aes, inputs);
    blocks(&aes, inputs);
}

fn aegis128l(isa: Isa, inputs: &mut Inputs) {
    let cipher = Aegis128L::new(isa, key(inputs));
    black_box(cipher.seal(&[7; 16], &[1; 8], (&mut inputs.data[..]).into()));
    black_box(cipher.open(&[7; 16], &[1; 8], (&mut inputs.data[..64]).into(), &[9; 16]));
}

fn aegis256(isa: Isa, inputs: &mut Inputs) {
    let cipher = Aegis256::new(isa, key(inputs));
    black_box(cipher.seal(&[7; 32], &[1; 8], (&mut inputs.data[..]).into()));
    black_box(cipher.open(&[7; 32], &[1; 8], (&mut inputs.data[..64]).into(), &[9; 16]));
}

fn aegis_lanes(isa: Isa, inputs: &mut Inputs) {
    let cipher = Aegis128L::new(isa, key(inputs));
    for run in [Aegis128L::seal_lanes, Aegis128L::open_lanes] {
        let mut tags = [[0; 16]; 9];
        let mut lanes: Vec<_> = inputs
            .data
            .chunks_mut(128)
            .zip(&mut tags)
            .map(|(data, tag)| cipher.lane(&[7; 16], &[1; 8], data.into(), tag))
            .collect();
        run(&mut lanes);
        black_box(tags);
    }
}

fn gcm128(isa: Isa, inputs: &mut Inputs) {
    let gcm = AesGcm::<128>::new(isa, key(inputs));
    black_box(gcm.seal(&[7; 12], &[1; 8], (&mut inputs.data[..]).into()));
    black_box(gcm.open(&[7; 12], &[1; 8], (&mut inputs.data[..64]).into(), &[9; 16]));
}

fn gcm256(isa: Isa, inputs: &mut Inputs) {
    let gcm = AesGcm::<256>::new(isa, key(inputs));
    black_box(gcm.seal(&[7; 12], &[1; 8], (&mut inputs.data[..]).into()));
    black_box(gcm.open(&[7; 12], &[1; 8], (&mut inputs.data[..64]).into(), &[9; 16]));
}

fn gcm_siv256(isa: Isa, inputs: &mut Inputs) {
    let siv = AesGcmSiv::<256>::new(isa, key(inputs));
    black_box(siv.seal(&[7; 12], &[1; 8], (&mut inputs.data[..]).into()));
    black_box(siv.open(&[7; 12], &[1; 8], (&mut inputs.data[..64]).into(), &[9; 16]));
}

fn gcm_siv_lanes(isa: Isa, inputs: &mut Inputs) {
    let siv = AesGcmSiv::<256>::new(isa, key(inputs));
    for run in [AesGcmSiv::<256>::seal_lanes, AesGcmSiv::<256>::open_lanes] {
        let mut tags = [[0; 16]; 9];
        let mut lanes: Vec<_> = inputs
            .data
            .chunks_mut(128)
            .zip(&mut tags)
            .map(|(data, tag)| siv.lane(&[7; 12], &[1; 8], data.into(), tag))
            .collect();
        run(&mut lanes);
        black_box(tags);
    }
}

fn aes_siv(isa: Isa, inputs: &mut Inputs) {
    let siv = AesSiv::<128>::new(isa, key(inputs));
    for length in [32, 1032] {
        black_box(siv.seal(&[7; 16], &[1; 8], (&mut inputs.data[..length]).into()));
        black_box(siv.open(&[7; 16], &[1; 8], (&mut inputs.data[..length]).into(), &[9; 16]));
    }
}

fn aes_siv_lanes(isa: Isa, inputs: &mut Inputs) {
    let siv = AesSiv::<128>::new(isa, key(inputs));
    for run in [AesSiv::<128>::seal_lanes, AesSiv::<128>::open_lanes] {
        let mut tags = [[0; 16]; 33];
        let mut lanes: Vec<_> = inputs
            .data
            .chunks_mut(32)
            .zip(&mut tags)
            .map(|(data, v)| siv::Lane::new(siv.strings(), [None; 2], data.into(), v))
            .collect();
        run(&siv, &mut lanes);
        black_box(tags);
    }
}

fn xts256(isa: Isa, inputs: &mut Inputs) {
    let mut halves = [0; 64];
    let (data, tweak) = halves.split_at_mut(32);
    data.copy_from_slice(key::<32>(inputs));
    for (to, from) in tweak.iter_mut().zip(data) {
        *to = !*from;
    }
    let xts = AesXts::<256>::new(isa, &halves);
    xts.encrypt(&[7; 16], (&mut inputs.data[..]).into());
    xts.decrypt(&[7; 16], (&mut inputs.data[..72]).into());
}

fn chacha_poly(isa: Isa, inputs: &mut Inputs) {
    let cipher = ChaCha20Poly1305::new(isa, key(inputs));
    black_box(cipher.seal(&[7; 12], &[1; 8], (&mut inputs.data[..]).into()));
    black_box(cipher.open(&[7; 12], &[1; 8], (&mut inputs.data[..64]).into(), &[9; 16]));
}

fn serpent(isa: Isa, inputs: &mut Inputs) {
    let serpent = Serpent::new(isa, &serpent::Key::from(key::<32>(inputs)));
    chain(&serpent, inputs);
    blocks(&serpent, inputs);
}

/// Enough blocks for the bitsliced kernels, and no chain: those go through tables.
fn des(isa: Isa, inputs: &mut Inputs) {
    blocks(&Des::new(isa, key(inputs)), inputs);
}

fn triple_des(isa: Isa, inputs: &mut Inputs) {
    blocks(&TripleDes::new(isa, &TripleDesKey::from(key::<24>(inputs))), inputs);
}

fn aes128_lanes(isa: Isa, inputs: &mut Inputs) {
    chains::<_, 16, 8>(&Aes::<128>::new(isa, key(inputs)), inputs, Aes::<128>::cbc_encrypt_lanes);
}

fn aes256_lanes(isa: Isa, inputs: &mut Inputs) {
    chains::<_, 16, 8>(&Aes::<256>::new(isa, key(inputs)), inputs, Aes::<256>::cbc_encrypt_lanes);
}

fn serpent_lanes(isa: Isa, inputs: &mut Inputs) {
    let serpent = Serpent::new(isa, &serpent::Key::from(key::<32>(inputs)));
    chains::<_, 16, 2>(&serpent, inputs, Serpent::cbc_encrypt_lanes);
}

fn des_lanes(isa: Isa, inputs: &mut Inputs) {
    chains::<_, 8, 2>(&Des::new(isa, key(inputs)), inputs, Des::cbc_encrypt_lanes);
}

fn triple_des_lanes(isa: Isa, inputs: &mut Inputs) {
    let des = TripleDes::new(isa, &TripleDesKey::from(key::<24>(inputs)));
    chains::<_, 8, 2>(&des, inputs, TripleDes::cbc_encrypt_lanes);
}

/// Chains of `LEN` blocks side by side.
fn chains<C, const N: usize, const LEN: usize>(
    cipher: &C,
    inputs: &mut Inputs,
    run: fn(&mut [Lane<'_, C, N>]),
) {
    let (blocks, _) = inputs.data.as_chunks_mut::<N>();
    let (chains, _) = blocks.as_chunks_mut::<LEN>();
    let mut lanes: Vec<_> = chains
        .iter_mut()
        .map(|chain| Lane { key: cipher, iv: &[7; N], blocks: chain.as_mut_slice().into() })
        .collect();
    run(&mut lanes);
}

fn chacha_lanes(isa: Isa, inputs: &mut Inputs) {
    let key = chacha::Key::from(key::<32>(inputs));
    let mut lanes: Vec<_> = inputs
        .data
        .chunks_mut(64)
        .map(|data| chacha::Lane::new::<Ietf>(&key, &[7; 12], 1, data.into()))
        .collect();
    chacha::xor_lanes::<20>(isa, &mut lanes);
}

fn salsa_lanes(isa: Isa, inputs: &mut Inputs) {
    let key = salsa::Key::from(key::<32>(inputs));
    let mut lanes: Vec<_> = inputs
        .data
        .chunks_mut(64)
        .map(|data| salsa::Lane::new(&key, &[7; 8], 1, data.into()))
        .collect();
    salsa::xor_lanes::<20>(isa, &mut lanes);
}

fn chacha_poly_lanes(isa: Isa, inputs: &mut Inputs) {
    let cipher = ChaCha20Poly1305::new(isa, key(inputs));
    for run in [chacha20poly1305::seal_lanes, chacha20poly1305::open_lanes] {
        let mut tags = [[0; 16]; 9];
        let mut lanes: Vec<_> = inputs
            .data
            .chunks_mut(128)
            .zip(&mut tags)
            .map(|(data, tag)| {
                chacha20poly1305::Lane::new(&cipher, &[7; 12], &[1; 8], data.into(), tag)
            })
            .collect();
        run(&mut lanes);
        black_box(tags);
    }
}

fn xchacha_poly_lanes(isa: Isa, inputs: &mut Inputs) {
    let cipher = XChaCha20Poly1305::new(isa, key(inputs));
    for run in [chacha20poly1305::seal_lanes, chacha20poly1305::open_lanes] {
        let mut tags = [[0; 16]; 9];
        let mut lanes: Vec<_> = inputs
            .data
            .chunks_mut(128)
            .zip(&mut tags)
            .map(|(data, tag)| {
                chacha20poly1305::Lane::extended(&cipher, &[7; 24], &[1; 8], data.into(), tag)
            })
            .collect();
        run(&mut lanes);
        black_box(tags);
    }
}

/// `COUNT` exponentiations of 256 bits, each with its own modulus, base and exponent.
#[cfg(feature = "montgomery")]
fn powers<const COUNT: usize>(isa: Isa, inputs: &mut Inputs) {
    let mut words = inputs.data.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
    let mut number = |lowest: u64, highest: u64| {
        let mut limbs = [(); 4].map(|()| words.next().expect("12 words for each of up to 10"));
        limbs[0] |= lowest;
        limbs[3] = limbs[3] >> 2 | highest;
        limbs
    };
    // The number of bits is public, and so that a modulus is odd; bases are less than it.
    let numbers = [(); COUNT].map(|()| [number(1, 1 << 63), number(0, 0), number(0, 0)]);
    let moduli = numbers.map(|[limbs, ..]| montgomery::Modulus::new(isa, &limbs).expect("odd"));
    let mut outs = [[0; 4]; COUNT];
    let mut jobs: Vec<_> = moduli
        .iter()
        .zip(&numbers)
        .zip(&mut outs)
        .map(|((modulus, [_, base, exponent]), out)| montgomery::Power {
            modulus,
            base,
            exponent,
            factor: Some(base),
            out,
        })
        .collect();
    montgomery::powers(&mut jobs, &mut montgomery::Workspace::new());
    black_box(outs);
}

/// Everything but chains, each time on what the last has left.
fn blocks<const N: usize>(cipher: &impl BlockCipher<N>, inputs: &mut Inputs) {
    let (data, _) = inputs.data.as_chunks_mut::<N>();
    cipher.encrypt((&mut *data).into());
    cipher.decrypt((&mut *data).into());
    cipher.cbc_decrypt(&mut [7; N], (&mut *data).into());
    cipher.ctr(&mut [7; N], InOutBuf::from(inputs.data.as_mut_slice()));
    cipher.ctr_keystream(&mut [7; N], &mut inputs.data);
}

/// A short chain.
fn chain<const N: usize>(cipher: &impl BlockEncrypt<N>, inputs: &mut Inputs) {
    let (data, _) = inputs.data.as_chunks_mut::<N>();
    cipher.cbc_encrypt(&mut [7; N], (&mut data[..5]).into());
}
