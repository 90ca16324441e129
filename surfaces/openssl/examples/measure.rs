//! Measures the module through EVP against OpenSSL's default provider, in one run.
//!
//! ```text
//! cargo run --release -p lanecrypt-openssl --features null --example measure [seconds]
//! ```
//!
//! Contexts are kept, 16 in turn with keys of their own. A message has 13 bytes of associated data:
//! vector, associated data, data, the end and the tag. Contenders take turns, and a row is the
//! median of many rounds. Before that, what one provider seals the other has to open. `null` is a
//! cipher of the module that does nothing.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers to fill messages with, and small ones"
)]

#[allow(dead_code, unused_imports)]
#[path = "../tests/provider/evp/mod.rs"]
mod evp;

use core::time::Duration;
use std::time::Instant;

use evp::{Cipher, Context, Keyed, libraries};
use lanecrypt_testing::clock::{UNIT, now};

/// Contexts that take turns.
const CONTEXTS: usize = 16;

/// One that is measured: runs so many requests.
type Contender<'a> = Box<dyn FnMut(usize) + 'a>;

/// The median cost of a request of each contender, in cycles.
fn measure(contenders: &mut [Contender<'_>], time: Duration) -> Vec<f64> {
    let mut samples = vec![Vec::new(); contenders.len()];
    // Batches of some ten microseconds.
    let mut batch = 16;
    loop {
        let start = now();
        contenders[0](batch);
        if now() - start > 50_000 || batch > 1 << 12 {
            break;
        }
        batch *= 2;
    }
    let end = Instant::now() + time;
    while Instant::now() < end || samples[0].len() < 21 {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            let start = now();
            contender(batch);
            samples.push((now() - start) as f64 / batch as f64);
        }
    }
    samples
        .into_iter()
        .map(|mut samples| {
            samples.sort_unstable_by(f64::total_cmp);
            samples[samples.len() / 2]
        })
        .collect()
}

/// Contexts of a cipher with keys of their own.
fn keyed<'c>(cipher: &'c Cipher<'c>, key: usize, encrypt: bool) -> Vec<Keyed<'c>> {
    (0..CONTEXTS)
        .map(|i| {
            let mut context = cipher.context();
            let key: Vec<_> = (0..key).map(|j| (7 * i + j) as u8).collect();
            assert!(context.init(encrypt, Some(&key), Some(&[0; 12])));
            context
        })
        .collect()
}

/// The vector of a message; none repeats within a context.
fn vector(number: u64) -> [u8; 12] {
    let mut iv = [0; 12];
    iv[4..].copy_from_slice(&number.to_be_bytes());
    iv
}

const AAD: [u8; 13] = *b"thirteen byte";

/// A message of each context: what one writes another does not read at once, as it would if they
/// shared a place.
fn places(length: usize) -> Vec<Vec<u8>> {
    vec![vec![0; length]; CONTEXTS]
}

/// Seals messages in place, or opens one message of each context apart.
fn messages<'c>(
    cipher: &'c Cipher<'c>,
    key: usize,
    encrypt: bool,
    length: usize,
    cut: usize,
) -> Contender<'c> {
    let mut contexts = keyed(cipher, key, encrypt);
    let mut number = 0;
    let mut data = vec![0; length];
    if encrypt {
        let (mut tag, mut data) = ([0; 16], places(length));
        return Box::new(move |count| {
            for _ in 0..count {
                number += 1;
                let i = number as usize % CONTEXTS;
                let (iv, data) = (vector(number), &mut data[i]);
                assert!(contexts[i].message(true, &iv, &AAD, None, data, cut, &mut tag));
            }
        });
    }
    let mut sealed: Vec<_> = keyed(cipher, key, true)
        .iter_mut()
        .zip(0..)
        .map(|(context, i)| {
            let (mut data, mut tag) = (vec![0; length], [0; 16]);
            assert!(context.message(true, &vector(i), &AAD, None, &mut data, cut, &mut tag));
            (data, tag)
        })
        .collect();
    Box::new(move |count| {
        for _ in 0..count {
            number += 1;
            let i = number % CONTEXTS as u64;
            let (sealed, tag) = &mut sealed[i as usize];
            let context = &mut contexts[i as usize];
            let iv = vector(i);
            assert!(context.message(false, &iv, &AAD, Some(sealed), &mut data, cut, tag));
        }
    })
}

/// What one provider seals the other opens.
fn verify(ours: &Cipher<'_>, theirs: &Cipher<'_>, key: usize, length: usize, cut: usize) {
    for (sealing, opening) in [(ours, theirs), (theirs, ours)] {
        let (mut sealing, mut opening) = (keyed(sealing, key, true), keyed(opening, key, false));
        for (i, (sealing, opening)) in sealing.iter_mut().zip(&mut opening).enumerate() {
            let (iv, mut tag) = (vector(i as u64), [0; 16]);
            let text: Vec<_> = (0..length).map(|at| (at * 31 + i) as u8).collect();
            let mut data = text.clone();
            assert!(sealing.message(true, &iv, &AAD, None, &mut data, cut, &mut tag));
            assert!(opening.message(false, &iv, &AAD, None, &mut data, cut, &mut tag));
            assert_eq!(data, text);
        }
    }
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).map_or(0.3, |text| text.parse().expect("seconds"));
    let time = Duration::from_secs_f64(seconds);
    for crypto in libraries() {
        let context = Context::new(crypto);
        println!("{}: {UNIT} a message; ratio: default over ours", crypto.version());
        aead(&context, time);
        new_contexts(&context, time);
        random(&context, time);
        println!();
    }
}

fn aead(context: &Context, time: Duration) {
    let null = context.fetch("LANECRYPT-NULL", "lanecrypt").expect("built with the feature null");
    println!(
        "{:18} {:5} {:6} {:>8} {:>8} {:>6} {:>8} {:>8}",
        "", "bytes", "", "default", "ours", "ratio", "null", "kernel"
    );
    for (name, key) in [("AES-128-GCM", 16), ("AES-256-GCM", 32), ("ChaCha20-Poly1305", 32)] {
        let [ours, theirs] = context.both(name);
        for length in [64, 1500, 16_384] {
            verify(&ours, &theirs, key, length, length);
            for encrypt in [true, false] {
                let mut contenders = [
                    messages(&theirs, key, encrypt, length, length),
                    messages(&ours, key, encrypt, length, length),
                    messages(&null, 16, encrypt, length, length),
                    kernel(name, encrypt, length),
                ];
                let [default, ours, null, kernel] = measure(&mut contenders, time)[..] else {
                    unreachable!("four contenders")
                };
                let way = if encrypt { "seal" } else { "open" };
                println!(
                    "{name:18} {length:5} {way:6} {default:8.0} {ours:8.0} {:6.2} {null:8.0} {kernel:8.0}  \
                     beyond null and kernel {:.0}",
                    default / ours,
                    ours - null - kernel
                );
            }
        }
        for (length, cut) in [(64, 32), (1500, 750), (1500, 1499), (16_384, 8192), (16_384, 16_000)]
        {
            verify(&ours, &theirs, key, length, cut);
            let mut contenders = [
                messages(&ours, key, true, length, length),
                messages(&ours, key, true, length, cut),
                messages(&theirs, key, true, length, cut),
            ];
            let [one, two, default] = measure(&mut contenders, time)[..] else {
                unreachable!("three contenders")
            };
            println!(
                "{name:18} {length:5} in two pieces, cut at {cut}: {two:.0}, {:.2} x one piece; \
                 default {default:.0}, ratio {:.2}",
                two / one,
                default / two
            );
        }
    }
}

/// The kernel alone, by the same calls in turn.
fn kernel(name: &str, encrypt: bool, length: usize) -> Contender<'static> {
    use lanecrypt_kernels::chacha20poly1305::ChaCha20Poly1305;
    use lanecrypt_kernels::gcm::AesGcm;
    match name {
        "AES-128-GCM" => kernels::<AesGcm<128>, 16>(encrypt, length),
        "AES-256-GCM" => kernels::<AesGcm<256>, 32>(encrypt, length),
        _ => kernels::<ChaCha20Poly1305, 32>(encrypt, length),
    }
}

fn kernels<C, const KEY: usize>(encrypt: bool, length: usize) -> Contender<'static>
where
    C: lanecrypt_kernels::Aead<Key = [u8; KEY], Nonce = [u8; 12]> + 'static,
{
    let ciphers: Vec<_> =
        (0..CONTEXTS).map(|i| C::new(lanecrypt_kernels::Isa::detect(), &[i as u8; KEY])).collect();
    let sealed = places(length);
    let (mut number, mut data, mut places) = (0, vec![0; length], places(length));
    Box::new(move |count| {
        for _ in 0..count {
            number += 1;
            let i = number as usize % CONTEXTS;
            let tag = if encrypt {
                ciphers[i].seal(&vector(number), &AAD, (&mut places[i][..]).into())
            } else {
                let data = inout::InOutBuf::new(&sealed[i], &mut data).expect("equal lengths");
                ciphers[i].open(&vector(i as u64), &AAD, data, &[0; 16])
            };
            core::hint::black_box(tag);
        }
    })
}

/// A context that is made, keyed, used and freed for each message, its cipher fetched.
fn new_contexts(context: &Context, time: Duration) {
    for (name, key) in [("AES-128-GCM", 16), ("ChaCha20-Poly1305", 32)] {
        let fresh = |provider: &'static str| -> Contender<'_> {
            let (mut number, mut data, mut tag) = (0, [0; 64], [0; 16]);
            Box::new(move |count| {
                for _ in 0..count {
                    number += 1;
                    let cipher = context.fetch(name, provider).expect("it was there before");
                    let mut keyed = cipher.context();
                    assert!(keyed.init(true, Some(&[number as u8; 32][..key]), None));
                    let iv = vector(number);
                    assert!(keyed.message(true, &iv, &AAD, None, &mut data, 64, &mut tag));
                }
            })
        };
        let mut contenders = [fresh("default"), fresh("lanecrypt")];
        let [default, ours] = measure(&mut contenders, time)[..] else {
            unreachable!("two contenders")
        };
        println!(
            "{name:18}    64 fetched, new context {default:8.0} {ours:8.0} {:6.2}",
            default / ours
        );
    }
}

/// Small random requests, each provider's generator in a library context of its own.
fn random(context: &Context, time: Duration) {
    let other = Context::new(context.crypto);
    assert!(other.use_generator(c"LANECRYPT"), "the generator can be set before the first draw");
    for length in [16, 256, 4096] {
        let draws = |context| -> Contender<'_> {
            let mut out = vec![0; length];
            Box::new(move |count| {
                for _ in 0..count {
                    assert!(Context::draw(context, &mut out, false));
                }
            })
        };
        let mut contenders = [draws(context), draws(&other)];
        let [default, ours] = measure(&mut contenders, time)[..] else {
            unreachable!("two contenders")
        };
        println!(
            "RAND_bytes         {length:5}        {default:8.0} {ours:8.0} {:6.2}",
            default / ours
        );
    }
}
