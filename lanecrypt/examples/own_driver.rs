//! A driver of one's own: it divides batches among threads.
//!
//! `cargo run --release -p lanecrypt --features accelerators --example own_driver`
//!
//! A driver serves requests in place of the engine's software: a card, a key server, or as here the
//! software itself on several threads. It implements [`Driver`] and is added to an engine under its
//! name. Sessions are opened on it by that name; whoever uses them notices nothing else. At the end
//! it shares load with the software.

#![forbid(unsafe_code)]

use core::time::Duration;
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use lanecrypt::accelerators::{Balanced, Member};
use lanecrypt::{
    Algorithm, Cipher, Driver, Engine, Error, Job, Jobs, Load, Operation, Request, SessionId,
    random,
};

/// Fewer jobs than this are not worth a thread.
const WORTH_IT: usize = 64;

/// Serves authenticated algorithms on several threads.
#[derive(Debug)]
struct Threads {
    threads: usize,
    sessions: RwLock<Sessions>,
}

/// The sessions that are open, by their numbers.
#[derive(Debug, Default)]
struct Sessions {
    next: u64,
    /// A cipher wipes its key when it is dropped.
    ciphers: HashMap<SessionId, Arc<Cipher>>,
}

impl Threads {
    fn new(threads: usize) -> Self {
        Self { threads, sessions: RwLock::default() }
    }

    fn cipher(&self, session: SessionId) -> Option<Arc<Cipher>> {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        sessions.ciphers.get(&session).cloned()
    }

    /// Serves jobs on the calling thread. Each must get an outcome.
    fn serve_all(&self, jobs: Jobs<'_, '_>) {
        for mut job in jobs {
            let outcome = match self.cipher(job.session_id()) {
                Some(cipher) => serve(&cipher, &mut job),
                None => Err(Error::Unsupported),
            };
            job.settle(outcome);
        }
    }
}

impl Driver for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    /// The key is expanded here, once. What the driver does not serve it refuses now, not later.
    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        // `Cipher` takes no other algorithms.
        let cipher = Arc::new(Cipher::new(algorithm, key)?);
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        let id = SessionId(sessions.next);
        sessions.next += 1;
        sessions.ciphers.insert(id, cipher);
        Ok(id)
    }

    fn close(&self, session: SessionId) {
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        sessions.ciphers.remove(&session);
    }

    /// The time of all requests, as a device's data sheet would have it. A balanced driver divides
    /// batches by it; a driver that does not say it is measured.
    fn cost(&self, load: Load) -> Option<Duration> {
        let nanoseconds = 40_000 + (100 * load.messages + load.bytes / 2) / self.threads;
        Some(Duration::from_nanos(nanoseconds as u64))
    }

    /// The caller has time for others meanwhile.
    fn is_asynchronous(&self) -> bool {
        true
    }

    /// Hands the jobs over, calls back, and waits.
    fn process_async(&self, jobs: Jobs<'_, '_>, meanwhile: &mut dyn FnMut()) {
        thread::scope(|scope| {
            scope.spawn(|| self.process(jobs));
            meanwhile();
        });
    }

    /// One call for a whole batch, so that the driver sees what it may divide. It returns when all
    /// jobs are done: scoped threads end before the scope does.
    fn process(&self, jobs: Jobs<'_, '_>) {
        let share = jobs.len().div_ceil(self.threads).max(WORTH_IT);
        thread::scope(|scope| {
            let mut rest = jobs;
            while rest.len() > share {
                let (part, behind) = rest.split_at(share);
                scope.spawn(|| self.serve_all(part));
                rest = behind;
            }
            // The calling thread has its share, too.
            self.serve_all(rest);
        });
    }
}

/// Serves one job. The contract: if a message is not authentic its output is wiped, and after any
/// other error nothing has been written. `Cipher` keeps to the same.
fn serve(cipher: &Cipher, job: &mut Job<'_, '_>) -> Result<(), Error> {
    let (nonce, aad) = (job.nonce(), job.aad());
    // Sessions of drivers have tags of the usual length; who takes other data must check it.
    if job.tag_length() != cipher.tag_length() {
        // A packet shorter than a tag has an error of its own.
        return job.data().and(Err(Error::TagLength));
    }
    let mut tag = [0; 16];
    match job.operation() {
        Operation::Seal => {
            cipher.seal_detached(nonce, aad, job.data()?, &mut tag)?;
            job.put_tag(&tag)
        }
        Operation::Open => {
            tag.copy_from_slice(job.tag().ok_or(Error::TagLength)?);
            cipher.open_detached(nonce, aad, job.data()?, &tag)
        }
        _ => Err(Error::Unsupported),
    }
}

/// The number of packets in the batch.
const PACKETS: usize = 1000;

fn run() -> Result<(), Box<dyn core::error::Error>> {
    let threads = thread::available_parallelism().map_or(2, |threads| threads.get().max(2));
    let engine = Engine::new().with_driver(Threads::new(threads))?;
    println!("drivers: {}", engine.drivers().collect::<Vec<_>>().join(", "));

    let mut key = zeroize::Zeroizing::new([0; 32]);
    random::fill(&mut *key);
    let ours = engine.session_on("threads", Algorithm::AES_256_GCM, &*key)?;
    let software = engine.session(Algorithm::AES_256_GCM, &*key)?;

    // Sealed by the driver, all at once; the nonce of each packet is its number.
    let nonces: Vec<[u8; 12]> = (0..PACKETS).map(nonce).collect();
    let mut packets = vec![[7; 1200 + 16]; PACKETS];
    let each = nonces.iter().zip(&mut packets);
    let mut batch: Vec<Request<'_>> =
        each.map(|(nonce, packet)| Request::seal(&ours, nonce, b"header", packet)).collect();
    engine.process(&mut batch)?;
    drop(batch);

    // Opened by the software: the results are the same. One was changed on its way.
    packets[500][0] ^= 1;
    let mut opened = 0;
    for (nonce, packet) in nonces.iter().zip(&mut packets) {
        match software.open(nonce, b"header", packet) {
            Ok(message) if message.iter().all(|&byte| byte == 7) => opened += 1,
            Ok(_) => return Err("a packet came back changed".into()),
            Err(Error::Authentication) => println!("a packet is not authentic"),
            Err(error) => return Err(error.into()),
        }
    }
    println!("{opened} of {PACKETS} packets went through {threads} threads and back");

    share(threads)?;
    if opened == PACKETS - 1 { Ok(()) } else { Err("not as many as there should be".into()) }
}

/// The driver and the software share load: each batch goes where it costs least, or to both.
fn share(threads: usize) -> Result<(), Box<dyn core::error::Error>> {
    let engine = Engine::new();
    let software = Member::software(engine.lanes());
    let balanced = Balanced::new([software, Member::new(Threads::new(threads))])?;
    let engine = engine.with_driver(balanced.clone())?;
    let session = engine.session_on("balanced", Algorithm::CHACHA20_POLY1305, &[1; 32])?;
    for size in [64, 1200, 16_000] {
        let nonces: Vec<[u8; 12]> = (0..PACKETS).map(nonce).collect();
        let mut packets = vec![vec![7; size + 16]; PACKETS];
        let each = nonces.iter().zip(&mut packets);
        let mut batch: Vec<Request<'_>> =
            each.map(|(nonce, packet)| Request::seal(&session, nonce, &[], packet)).collect();
        engine.process(&mut batch)?;
        let shares: Vec<_> = balanced.shares().map(|(name, all)| format!("{name} {all}")).collect();
        println!("after {PACKETS} packets of {size} bytes: {}", shares.join(", "));
    }
    Ok(())
}

fn nonce(number: usize) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&(number as u64).to_le_bytes());
    nonce
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("own_driver: {error}");
            ExitCode::FAILURE
        }
    }
}
