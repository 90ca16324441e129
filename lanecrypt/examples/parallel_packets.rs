//! Several threads encrypt and decrypt packets under one key, as in an SFTP client.
//!
//! `cargo run --release -p lanecrypt --example parallel_packets`
//!
//! One keyed [`RawCipher`] serves all threads by reference. It is `Sync` because requests only read
//! the key schedule: there is no lock, no copy of the key and no allocation per packet. Each packet
//! has its own IV, and is decrypted and compared. SSH also authenticates its packets; counter mode
//! and CBC do not.

#![forbid(unsafe_code)]

use core::fmt;
use core::time::Duration;
use std::process::ExitCode;
use std::thread::{self, available_parallelism};
use std::time::Instant;

use lanecrypt::hazmat::RawCipher;
use lanecrypt::{Algorithm, Error, random};

/// Packet lengths in bytes, mixed as on an SSH connection: requests, listings, file data.
const SIZES: [usize; 10] = [64, 96, 32_768, 128, 1_024, 64, 8_192, 256, 32_768, 80];

/// Approximate time for the whole run.
const RUN: Duration = Duration::from_secs(3);

/// Turns of each number of threads. The best turn counts, because other programs can only slow a
/// turn down.
const TURNS: u32 = 5;

/// A packet was not processed correctly.
enum Wrong {
    /// An operation was refused.
    Refused(Error),
    /// Encryption did not change the packet.
    NotEncrypted,
    /// Decryption returned a different packet.
    NotRestored,
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "a packet was refused: {error}"),
            Self::NotEncrypted => f.write_str("a packet was not encrypted"),
            Self::NotRestored => f.write_str("a packet came back changed"),
        }
    }
}

/// Packets and bytes encrypted and decrypted, in total or per second.
#[derive(Clone, Copy, Default)]
struct Tally {
    packets: f64,
    bytes: f64,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Wrong> {
    let counts = thread_counts(available_parallelism().map_or(1, usize::from));
    let algorithms = [Algorithm::AES_128_CTR, Algorithm::AES_128_CBC];
    let rows = u32::try_from(counts.len() * algorithms.len()).unwrap_or(u32::MAX);
    let span = RUN / rows.saturating_mul(TURNS);
    for algorithm in algorithms {
        let mut key = [0; 16];
        random::fill(&mut key);
        let cipher = RawCipher::new(algorithm, &key).map_err(Error::from)?;
        let mut best = vec![Tally::default(); counts.len()];
        // Each thread of each turn is a separate sender. No two senders may use the same counters.
        let mut senders = 0_u64..;
        for _ in 0..TURNS {
            for (&threads, best) in counts.iter().zip(&mut best) {
                let rate = measure(&cipher, senders.by_ref().take(threads), span)?;
                if rate.bytes > best.bytes {
                    *best = rate;
                }
            }
        }
        println!("{algorithm}: packets of 64 to 32768 bytes, encrypted, decrypted and compared");
        println!("{:>8}{:>14}{:>12}{:>10}", "threads", "packets/s", "MB/s", "scaling");
        for (threads, rate) in counts.iter().zip(&best) {
            let (megabytes, scaling) = (rate.bytes / 1e6, rate.bytes / best[0].bytes);
            println!("{threads:>8}{:>14.0}{megabytes:>12.1}{scaling:>10.2}", rate.packets);
        }
        println!();
    }
    Ok(())
}

/// Numbers of threads: one, two, four and so on, and one per processor.
fn thread_counts(processors: usize) -> Vec<usize> {
    let doubling = core::iter::successors(Some(1_usize), |count| count.checked_mul(2));
    doubling.take_while(|&count| count < processors).chain([processors]).collect()
}

/// Packets and bytes per second with one thread per sender under one cipher.
fn measure(
    cipher: &RawCipher,
    senders: impl Iterator<Item = u64>,
    span: Duration,
) -> Result<Tally, Wrong> {
    let start = Instant::now();
    let carried = thread::scope(|scope| {
        let workers: Vec<_> = senders
            .map(|sender| scope.spawn(move || carry(cipher, sender, start + span)))
            .collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect::<Result<Vec<Tally>, Wrong>>()
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let sum = |field: fn(&Tally) -> f64| carried.iter().map(field).sum::<f64>() / seconds;
    Ok(Tally { packets: sum(|tally| tally.packets), bytes: sum(|tally| tally.bytes) })
}

/// Encrypts and decrypts packets until `end`, as the sender with this number.
fn carry(cipher: &RawCipher, sender: u64, end: Instant) -> Result<Tally, Wrong> {
    let original: Vec<u8> = (0..=250).cycle().take(32_768).collect();
    let mut buffer = original.clone();
    let mut tally = Tally::default();
    let mut serial = 0;
    while Instant::now() < end {
        for size in SIZES {
            let (packet, expected) = (&mut buffer[..size], &original[..size]);
            let iv = own_iv(cipher.algorithm(), sender, serial);
            cipher.encrypt(&iv, &mut *packet)?;
            if packet == expected {
                return Err(Wrong::NotEncrypted);
            }
            cipher.decrypt(&iv, &mut *packet)?;
            if packet != expected {
                return Err(Wrong::NotRestored);
            }
            serial += 1;
            tally.packets += 1.0;
            tally.bytes += size_in_f64(size);
        }
    }
    Ok(tally)
}

/// An IV for one packet. Counter mode needs counters that never overlap: the upper half numbers the
/// packet, and the lower half counts its blocks. CBC needs an unpredictable IV.
fn own_iv(algorithm: Algorithm, sender: u64, serial: u64) -> [u8; 16] {
    let mut iv = [0; 16];
    if algorithm == Algorithm::AES_128_CTR {
        iv[..8].copy_from_slice(&(sender << 48 | serial).to_be_bytes());
    } else {
        random::fill(&mut iv);
    }
    iv
}

/// A length as a floating-point number; no packet is as long as 4 GiB.
fn size_in_f64(size: usize) -> f64 {
    f64::from(u32::try_from(size).unwrap_or(u32::MAX))
}
