//! Packets of a QUIC server: version 1, RFC 9000 and RFC 9001.
//!
//! `cargo run --release -p lanecrypt --example quic [CONNECTIONS [BYTES]]`
//!
//! Each of many connections has its own keys and one packet. The packets are protected and opened
//! in one batch ([`batch`]), one at a time ([`single`]), and by OpenSSL with kept contexts. The
//! program prints packets per second on one core. `cargo test -p lanecrypt --example quic` runs the
//! examples of RFC 9001, appendix A, and sends the code packets that a hostile peer could send.

#![forbid(unsafe_code)]

mod batch;
mod first_flight;
mod header;
mod keys;
mod number;
mod openssl;
mod retry;
mod single;
mod traffic;

#[path = "../shared/rate.rs"]
mod rate;

#[cfg(test)]
mod appendix_a;
#[cfg(test)]
#[path = "../shared/hex.rs"]
mod hex;
#[cfg(test)]
mod hostile;
#[cfg(test)]
#[path = "../shared/rfc9001.rs"]
mod rfc9001;

use core::error::Error;
use core::time::Duration;
use std::process::ExitCode;

use lanecrypt::Engine;
use lanecrypt_libcrypto::Libcrypto;

use crate::keys::Suite;
use crate::rate::Direction;
use crate::traffic::Traffic;

/// Time for one row of a table, all implementations together.
const ROW: Duration = Duration::from_secs(1);
/// The default number of connections.
const CONNECTIONS: usize = 64;
/// Default packet lengths in bytes: an acknowledgement, and data.
const SIZES: [usize; 2] = [64, 1200];
/// Minimum length: a short header, a payload of one byte, and a tag fit.
const LEAST: usize = 32;
const MOST: usize = 65_527;
/// Maximum bytes of all packets together; they are stored several times.
const MOST_IN_ALL: usize = 1 << 27;

fn main() -> ExitCode {
    let Some((connections, sizes)) = arguments(std::env::args().skip(1)) else {
        eprintln!(
            "usage: quic [CONNECTIONS [BYTES]]: 1 to 65536 connections, packets of {LEAST} to {MOST} \
             bytes, 128 MiB in all"
        );
        return ExitCode::from(2);
    };
    match run(connections, &sizes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Parses the number of connections and the packet lengths.
fn arguments(mut given: impl Iterator<Item = String>) -> Option<(usize, Vec<usize>)> {
    let mut number = |least: usize, most: usize, otherwise: &[usize]| match given.next() {
        None => Some(otherwise.to_vec()),
        Some(text) => {
            let number = text.parse().ok().filter(|number| (least..=most).contains(number));
            number.map(|number| vec![number])
        }
    };
    let connections = *number(1, 65_536, &[CONNECTIONS])?.first()?;
    let sizes = number(LEAST, MOST, &SIZES)?;
    let fits = sizes.iter().all(|bytes| connections * bytes <= MOST_IN_ALL);
    (given.next().is_none() && fits).then_some((connections, sizes))
}

fn run(connections: usize, sizes: &[usize]) -> Result<(), Box<dyn Error>> {
    rate::stay_on_one_core();
    let engine = Engine::new();
    first_flight::show(&engine)?;
    let libcrypto = Libcrypto::open();
    if let Err(none) = &libcrypto {
        println!("no OpenSSL to compare with: {none}");
    }
    let libcrypto = libcrypto.ok();
    println!(
        "packets a second on one core; {connections} connections, a packet of each in a batch"
    );
    for suite in [Suite::Aes128Gcm, Suite::ChaCha20Poly1305] {
        println!();
        let version = libcrypto.map(|libcrypto| libcrypto.version());
        println!("{}", rate::head(&suite.algorithm().to_string(), version));
        for &bytes in sizes {
            let mut traffic = Traffic::new(&engine, libcrypto, suite, connections, bytes)?;
            traffic.compare()?;
            for (name, direction) in
                [("protect", Direction::Protect), ("open", Direction::Unprotect)]
            {
                let rounds = rate::best(traffic.ways(), ROW, |way| traffic.round(way, direction))?;
                let packets: Vec<f64> = rounds.iter().map(|r| r * connections as f64).collect();
                println!("{}", rate::line(&format!("{name} {bytes} bytes"), &packets));
            }
        }
    }
    Ok(())
}
