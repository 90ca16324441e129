//! Media packets of a conference server: SRTP with AES-GCM, RFC 3711 and RFC 7714.
//!
//! `cargo run --release -p lanecrypt --example srtp [STREAMS [BYTES]]`
//!
//! Each of many streams has its own keys and one packet. The packets are protected and opened in
//! one batch ([`batch`]), one at a time ([`stream`]), and by OpenSSL with kept contexts. The
//! program prints packets per second on one core. `cargo test -p lanecrypt --example srtp` runs the
//! examples of RFC 7714 and RFC 3711, and sends the code packets that a hostile peer could send.

#![forbid(unsafe_code)]

mod batch;
mod keys;
mod openssl;
mod rtcp;
mod rtp;
mod stream;
mod traffic;
mod window;

#[path = "../shared/rate.rs"]
mod rate;

#[cfg(test)]
#[path = "../shared/hex.rs"]
mod hex;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod vectors;

use core::error::Error;
use core::time::Duration;
use std::process::ExitCode;

use lanecrypt::{Engine, random};
use lanecrypt_libcrypto::Libcrypto;

use crate::keys::{Material, Profile};
use crate::rate::Direction;
use crate::rtcp::Control;
use crate::traffic::Traffic;

/// Time for one row of a table, all implementations together.
const ROW: Duration = Duration::from_secs(1);
/// The default number of streams.
const STREAMS: usize = 64;
/// Default payload lengths in bytes: 20 ms of audio, and a piece of a video frame.
const PAYLOADS: [usize; 2] = [160, 1100];
/// Maximum bytes of all payloads together; they are stored several times.
const MOST: usize = 1 << 27;

fn main() -> ExitCode {
    let Some((streams, payloads)) = arguments(std::env::args().skip(1)) else {
        eprintln!(
            "usage: srtp [STREAMS [BYTES]]: 1 to 65536 streams, payloads of up to 65000 bytes, \
             128 MiB in all"
        );
        return ExitCode::from(2);
    };
    match run(streams, &payloads) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Parses the number of streams and the payload lengths.
fn arguments(mut given: impl Iterator<Item = String>) -> Option<(usize, Vec<usize>)> {
    let streams = match given.next() {
        None => STREAMS,
        Some(text) => text.parse().ok().filter(|streams| (1..=65_536).contains(streams))?,
    };
    let payloads = match given.next() {
        None => PAYLOADS.to_vec(),
        Some(text) => vec![text.parse().ok().filter(|&bytes| bytes <= 65_000)?],
    };
    let fits = payloads.iter().all(|bytes| streams * bytes <= MOST);
    (given.next().is_none() && fits).then_some((streams, payloads))
}

fn run(streams: usize, payloads: &[usize]) -> Result<(), Box<dyn Error>> {
    rate::stay_on_one_core();
    let engine = Engine::new();
    report(&engine)?;
    let libcrypto = Libcrypto::open();
    if let Err(none) = &libcrypto {
        println!("no OpenSSL to compare with: {none}");
    }
    let libcrypto = libcrypto.ok();
    println!("packets a second on one core; {streams} streams, a packet of each in a batch");
    for profile in Profile::ALL {
        println!();
        println!("{}", rate::head(profile.name(), libcrypto.map(|it| it.version())));
        for &payload in payloads {
            let mut traffic = Traffic::new(&engine, libcrypto, profile, streams, payload)?;
            traffic.compare()?;
            for (name, direction) in
                [("protect", Direction::Protect), ("open", Direction::Unprotect)]
            {
                let rounds = rate::best(traffic.ways(), ROW, |way| traffic.round(way, direction))?;
                let packets: Vec<f64> = rounds.iter().map(|r| r * streams as f64).collect();
                println!("{}", rate::line(&format!("{name} {payload} bytes"), &packets));
            }
        }
    }
    Ok(())
}

/// Sends a receiver report to a server, and replays it as an eavesdropper would.
fn report(engine: &Engine) -> Result<(), Box<dyn Error>> {
    let profile = Profile::AeadAes128Gcm;
    let material = Material::rtcp(profile, &random::bytes::<16>(), &random::bytes())?;
    let (mut sender, mut receiver) =
        (Control::new(engine, &material, 1)?, Control::new(engine, &material, 1)?);
    // Version 2, no blocks, type 201, length of one word, the source; then room for the tag and
    // index.
    let mut packet = vec![0x80, 201, 0, 1, 1, 2, 3, 4];
    packet.resize(8 + rtcp::ADDED, 0);
    sender.protect(&mut packet)?;
    let mut again = packet.clone();
    receiver.unprotect(&mut packet)?;
    let Err(dropped) = receiver.unprotect(&mut again) else {
        return Err("a packet was opened twice".into());
    };
    println!("a receiver report: opened; sent again: {dropped}");
    Ok(())
}
