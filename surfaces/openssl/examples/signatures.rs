//! Measures RSA signatures of the module through EVP against OpenSSL's default provider, in one
//! run: alone, in eight asynchronous jobs, and checks.
//!
//! ```text
//! cargo run --release -p lanecrypt-openssl --example signatures [milliseconds of a row]
//! ```
//!
//! Messages have 32 bytes, SHA-256 and PSS. Contenders take turns, and a figure is the median of
//! many rounds.

#[allow(dead_code, unused_imports)]
#[path = "../tests/provider/evp/mod.rs"]
mod evp;

use core::time::Duration;
use std::time::Instant;

use evp::{Context, Jobs, Key, Padding, Step, libraries};

const MESSAGE: [u8; 32] = [7; 32];
const PADDING: Padding<'_> =
    Padding { hash: Some("SHA256"), mode: "pss", salt: Some(-1), mask: None };

fn sign(key: &Key<'_>, provider: &str) {
    let begun = key.message(provider, PADDING, true).update(&MESSAGE);
    assert!(begun.sign().is_some());
}

/// So many signatures, each in a job of its own. Returns when all are done.
fn in_jobs<'k>(
    context: &Context,
    key: &'k Key<'_>,
    provider: &'k str,
    count: usize,
) -> impl FnMut() + 'k {
    let mut jobs = Jobs::new(context.crypto);
    for _ in 0..count {
        jobs.add(move || sign(key, provider));
    }
    move || {
        let mut waiting: Vec<usize> = (0..count).collect();
        while !waiting.is_empty() {
            waiting.retain(|&number| jobs.step(number) == Step::Paused);
        }
    }
}

/// Its name, how many signatures a call makes, and the call.
type Contender<'c> = (&'c str, usize, Box<dyn FnMut() + 'c>);

/// The median time of a call of each contender.
fn measure(contenders: &mut [Contender<'_>], time: Duration) {
    let mut samples = vec![Vec::new(); contenders.len()];
    let end = Instant::now() + time;
    while Instant::now() < end || samples[0].len() < 5 {
        for ((_, _, call), samples) in contenders.iter_mut().zip(&mut samples) {
            let start = Instant::now();
            call();
            samples.push(start.elapsed().as_secs_f64());
        }
    }
    for ((name, count, _), samples) in contenders.iter().zip(&mut samples) {
        samples.sort_unstable_by(f64::total_cmp);
        let each = samples[samples.len() / 2] / *count as f64;
        println!("  {name:<24} {:>9.0} a second", 1.0 / each);
    }
}

fn main() {
    let time = std::env::args().nth(1).and_then(|time| time.parse().ok()).unwrap_or(2000);
    for crypto in libraries() {
        let context = Context::with_rsa(crypto);
        for bits in [2048, 3072, 4096] {
            println!("{}, {bits} bits", crypto.version());
            let key = context.new_key("default", bits);
            let made = key.sign("default", PADDING, &MESSAGE).expect("signed");
            assert!(key.verify("lanecrypt", PADDING, &MESSAGE, &made));
            let check = |provider: &'static str| {
                let (key, made) = (&key, &made);
                Box::new(move || assert!(key.verify(provider, PADDING, &MESSAGE, made)))
            };
            measure(
                &mut [
                    ("default, alone", 1, Box::new(|| sign(&key, "default"))),
                    ("lanecrypt, alone", 1, Box::new(|| sign(&key, "lanecrypt"))),
                    ("default, 8 jobs", 8, Box::new(in_jobs(&context, &key, "default", 8))),
                    ("lanecrypt, 8 jobs", 8, Box::new(in_jobs(&context, &key, "lanecrypt", 8))),
                    ("lanecrypt, 32 jobs", 32, Box::new(in_jobs(&context, &key, "lanecrypt", 32))),
                    ("default, check", 1, check("default")),
                    ("lanecrypt, check", 1, check("lanecrypt")),
                ],
                Duration::from_millis(time),
            );
        }
    }
}
