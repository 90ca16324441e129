//! A relay: one thread passes datagrams between 64 peers, each under its own keys.
//!
//! `cargo run --release -p lanecrypt --example relay [PACKETS]`
//!
//! A turn of the event loop receives datagrams (`recvmmsg`), opens them with the senders' sessions,
//! seals them with the receivers' sessions, and sends them (`sendmmsg`). All traffic is UDP on the
//! loopback address. The peers are another thread, on another processor if there is one. It seals
//! its datagrams before the clock starts and opens the answers after it stops. The program prints
//! packets per second, the relay's processor time per packet, and the part of it spent in opening
//! and sealing ([`keys`]): with filled batches, in a loop over `Cipher`, and with ring.
//! `cargo test -p lanecrypt --example relay` sends the relay datagrams that a hostile peer could
//! send.

#![forbid(unsafe_code)]

mod keys;
mod relay;
mod socket;
mod traffic;
mod wire;

#[cfg(test)]
mod hostile;

use core::error::Error;
use core::time::Duration;
use std::process::ExitCode;
use std::time::Instant;

use lanecrypt::Cipher;
use ring::aead::LessSafeKey;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::keys::{Filled, Keys, Loop, Suite};
use crate::relay::{Relay, Slot};
use crate::socket::Socket;
use crate::traffic::{HOSTILE, LENGTHS, Traffic};
use crate::wire::{AT_ONCE, Dropped};

/// Number of peers.
const PEERS: u32 = 64;
/// Default number of packets per run.
const PACKETS: usize = 16_384;
/// Fewer packets show nothing. More take much memory, because they are made before they are sent.
const LEAST: usize = 256;
const MOST: usize = 1 << 18;
/// Runs of each way. The best counts, because other programs can only slow a run down.
const RUNS: usize = 5;
/// How long each side waits for the other.
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let mut given = std::env::args().skip(1);
    let packets = match given.next() {
        None => Some(PACKETS),
        Some(text) => text.parse().ok().filter(|packets| (LEAST..=MOST).contains(packets)),
    };
    let (Some(packets), None) = (packets, given.next()) else {
        eprintln!("usage: relay [PACKETS]: {LEAST} to {MOST} of them");
        return ExitCode::from(2);
    };
    match compare(packets) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(packets: usize) -> Result<(), Box<dyn Error>> {
    println!(
        "a relay of {PEERS} peers, one thread, at most {AT_ONCE} packets a turn, {packets} packets of {} to \
         {} bytes",
        LENGTHS.start,
        LENGTHS.end - 1
    );
    for suite in Suite::ALL {
        println!();
        let [rate, turn, time, part] = ["packets/s", "a turn", "ns a packet", "of it protecting"];
        println!("{:<24}{rate:>12}{turn:>10}{time:>14}{part:>18}", suite.algorithm().to_string());
        let mut best: [Option<Run>; 3] = [None; 3];
        for _ in 0..RUNS {
            let ways = [run::<Filled>, run::<Loop<Cipher>>, run::<Loop<LessSafeKey>>];
            for (way, best) in ways.into_iter().zip(&mut best) {
                let run = way(suite, packets)?;
                *best = Some(best.map_or(run, |best| best.or_better(run)));
            }
        }
        let names = ["filled batches", "a loop over Cipher", "a loop over ring"];
        for (name, best) in names.into_iter().zip(best) {
            let Some(Run { rate, turn, time, protecting }) = best else { continue };
            println!("{name:<24}{rate:>12.0}{turn:>10.1}{time:>14.0}{protecting:>18.0}");
        }
    }
    Ok(())
}

/// The results of a run.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Packets per second, and packets per turn.
    rate: f64,
    turn: f64,
    /// Nanoseconds of the relay's processor time per packet, in total and for opening and sealing.
    time: f64,
    protecting: f64,
}

impl Run {
    fn or_better(self, other: Self) -> Self {
        Self {
            rate: self.rate.max(other.rate),
            turn: self.turn.max(other.turn),
            time: self.time.min(other.time),
            protecting: self.protecting.min(other.protecting),
        }
    }
}

/// Sends packets through a relay and checks what arrives.
fn run<K: Keys>(suite: Suite, packets: usize) -> Result<Run, Box<dyn Error>> {
    let traffic = Traffic::new(suite, PEERS, packets)?;
    let relay = Relay::<K>::new(suite, traffic.secrets())?;
    let ((near, address), (far, _)) = (socket::bind(PATIENCE)?, socket::bind(PATIENCE)?);
    let (mut far, sent) = (Socket::new(far), traffic.datagrams().len());

    stay_on(1);
    let (served, answers, elapsed) = std::thread::scope(|scope| {
        let served = scope.spawn(move || serve(relay, &mut Socket::new(near), sent));
        let start = Instant::now();
        let answers = traffic.exchange(&mut far, address);
        let elapsed = start.elapsed();
        (served.join(), answers, elapsed)
    });
    let (relay, time) = served.map_err(|_| "the relay has panicked")??;
    let arrived = traffic.check(&mut answers?)?;
    let dropped: u64 = Dropped::ALL.iter().map(|&why| relay.dropped(why)).sum();
    if dropped != HOSTILE as u64 {
        return Err(format!("{dropped} packets were dropped, {HOSTILE} were hostile").into());
    }
    // The kernel may drop some.
    if arrived < packets - packets / 16 {
        return Err(format!("of {packets} packets {arrived} arrived").into());
    }
    let each = |time: Duration| time.as_secs_f64() * 1e9 / arrived as f64;
    Ok(Run {
        rate: arrived as f64 / elapsed.as_secs_f64(),
        turn: sent as f64 / f64::from(relay.turns),
        time: each(time),
        protecting: each(relay.protecting),
    })
}

/// The event loop. It ends after this many datagrams, or if none arrive for a while. Returns its
/// processor time.
fn serve<K: Keys>(
    mut relay: Relay<K>,
    socket: &mut Socket,
    datagrams: usize,
) -> std::io::Result<(Relay<K>, Duration)> {
    stay_on(0);
    let mut slots = vec![Slot::new(); AT_ONCE];
    let (start, mut seen) = (processor_time(), 0);
    while seen < datagrams {
        let received = socket.receive(&mut slots, true)?;
        if received == 0 {
            break;
        }
        seen += received;
        let slots = &mut slots[..received];
        relay.turn(slots);
        // Datagrams that the kernel does not accept are lost, as on any network.
        socket
            .send(slots.iter().filter_map(|slot| Some((&slot.bytes[..slot.length], slot.to?))))?;
    }
    Ok((relay, processor_time().saturating_sub(start)))
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Pins this thread to one of its processors, if there are that many and the system allows it.
fn stay_on(nth: usize) {
    static ALL: std::sync::OnceLock<Option<CpuSet>> = std::sync::OnceLock::new();
    // The processors that were allowed before any thread was pinned.
    let Some(all) = ALL.get_or_init(|| sched_getaffinity(None).ok()) else { return };
    let one = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)).nth(nth);
    if let Some(one) = one {
        let mut here = CpuSet::new();
        here.set(one);
        let _ = sched_setaffinity(None, &here);
    }
}
