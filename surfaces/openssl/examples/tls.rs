//! Measures TLS 1.3 in memory, both ends with the module and both without it, in one run: records,
//! and whole handshakes.
//!
//! ```text
//! cargo run --release -p lanecrypt-openssl --example tls [milliseconds of a row]
//! ```
//!
//! A record is written by the client and read by the server, through a pair of buffers of
//! libcrypto. Keys and certificates are made by the program `openssl`. Contenders take turns, and a
//! figure is the median of many rounds. Libssl is the system's, and that of `make peers` if it is
//! there.

#[allow(dead_code, unused_imports)]
#[path = "../tests/provider/evp/mod.rs"]
mod evp;

use core::time::Duration;
use std::time::Instant;

use evp::{Context, Side, Ssl, certificate, connect, libraries};

/// The medians of the times of a call of each contender, in nanoseconds.
fn measure(contenders: &mut [Box<dyn FnMut() + '_>; 2], time: Duration) -> [f64; 2] {
    let mut samples = [const { Vec::new() }; 2];
    let mut batch = 1_u32;
    loop {
        let start = Instant::now();
        (0..batch).for_each(|_| contenders[0]());
        if start.elapsed() > Duration::from_micros(50) {
            break;
        }
        batch *= 2;
    }
    let end = Instant::now() + time;
    while Instant::now() < end || samples[0].len() < 21 {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            let start = Instant::now();
            (0..batch).for_each(|_| contender());
            samples.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(batch));
        }
    }
    samples.map(|mut samples| {
        samples.sort_unstable_by(f64::total_cmp);
        samples[samples.len() / 2]
    })
}

fn show(what: &str, [default, ours]: [f64; 2]) {
    println!("  {what:<36} {default:>10.0} {ours:>10.0} ns   {:.2} x", default / ours);
}

const KINDS: [(&str, &[&str]); 3] = [
    ("ecdsa", &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
    ("rsa-2048", &["rsa:2048"]),
    ("rsa-3072", &["rsa:3072"]),
];
const SUITES: [&core::ffi::CStr; 2] = [c"TLS_AES_128_GCM_SHA256", c"TLS_CHACHA20_POLY1305_SHA256"];
const SIZES: [usize; 4] = [64, 1400, 4096, 16384];

fn main() {
    let time = std::env::args().nth(1).and_then(|time| time.parse().ok()).unwrap_or(1000);
    let time = Duration::from_millis(time);
    for (kind, arguments) in KINDS {
        assert!(certificate(kind, arguments), "the program openssl makes certificates");
    }
    for crypto in libraries() {
        let Some(ssl) = Ssl::of(crypto) else { continue };
        println!("{}: default and lanecrypt", crypto.version());
        let context = Context::with_rsa(crypto);
        let both = |suite, kind: &str| {
            [c"provider=default", c"?provider=lanecrypt"]
                .map(|properties| Side::new(&ssl, &context, properties, kind).suite(suite))
        };
        for suite in SUITES {
            let sides = both(suite, "ecdsa");
            for size in SIZES {
                let before = context.counter(c"lanecrypt-messages");
                let mut contenders = sides.each_ref().map(|side| -> Box<dyn FnMut()> {
                    let (mut connection, data) = (connect([side, side]), vec![7; size]);
                    let mut came = vec![0; size];
                    connection.pass(0, &data, &mut came);
                    assert_eq!(came, data);
                    Box::new(move || {
                        came[size - 1] = 0;
                        connection.pass(0, &data, &mut came);
                        assert_eq!(came[size - 1], 7);
                    })
                });
                let figures = measure(&mut contenders, time);
                assert!(context.counter(c"lanecrypt-messages") > before + 100, "ours took part");
                show(&format!("{}, {size} bytes", suite.to_string_lossy()), figures);
            }
        }
        for (kind, _) in KINDS {
            let sides = both(SUITES[0], kind);
            let mut contenders = sides
                .each_ref()
                .map(|side| -> Box<dyn FnMut()> { Box::new(|| drop(connect([side, side]))) });
            show(&format!("handshake, {kind}"), measure(&mut contenders, time));
        }
    }
}
