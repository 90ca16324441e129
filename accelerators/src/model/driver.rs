//! The driver of a simulated card.

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

#[cfg(feature = "rsa")]
use lanecrypt_engine::AsymmetricKey;
use lanecrypt_engine::{Algorithm, Driver, Error, Job, Jobs, Load, Operation, SessionId};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::PrivateKey;

use super::demand::Work;
use super::schedule::Schedule;
use super::{Card, Fault, Faults, Host};

/// Serves the algorithms of a [`Card`]: by the software of this processor, at the time at which the
/// card would.
///
/// All of a batch's requests are handed over at once and awaited together. Threads that use it at
/// the same time share the card. Its name is `model:` and that of the card.
///
/// It is for tests and studies. It holds no keys: its sessions have this processor's, and are as
/// constant-time.
#[derive(Debug)]
pub struct Model {
    name: String,
    card: Card,
    host: Host,
    clock: Clock,
    faults: Faults,
    schedule: Mutex<Schedule>,
}

/// The clock of a model.
#[derive(Debug)]
enum Clock {
    /// Real time, since the model was created. The model sleeps.
    Real(Instant),
    Virtual(VirtualClock),
}

/// A clock that advances only when a [`Model`] serves requests; copies are the same clock.
///
/// It is for one thread: for concurrent requests of several threads, it shows the time at which all
/// are done.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock(Arc<Mutex<f64>>);

impl VirtualClock {
    /// The time since the clock was created.
    #[must_use]
    pub fn now(&self) -> Duration {
        duration(self.nanoseconds())
    }

    fn nanoseconds(&self) -> f64 {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_on(&self, until: f64) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.max(until);
    }
}

impl Model {
    /// A model of this card in this host. It waits as long as the card would take.
    #[must_use]
    pub fn new(card: Card, host: Host) -> Self {
        Self {
            name: format!("model:{}", card.name()),
            schedule: Mutex::new(card.idle()),
            card,
            host,
            clock: Clock::Real(Instant::now()),
            faults: Faults::default(),
        }
    }

    /// Sets a virtual clock, so that it does not wait.
    #[must_use]
    pub fn with_clock(mut self, clock: &VirtualClock) -> Self {
        self.clock = Clock::Virtual(clock.clone());
        self
    }

    /// Sets its faults.
    #[must_use]
    pub fn with_faults(mut self, faults: &Faults) -> Self {
        self.faults = faults.clone();
        self
    }

    /// The time on its clock, in nanoseconds.
    fn now(&self) -> f64 {
        match &self.clock {
            Clock::Real(start) => start.elapsed().as_secs_f64() * 1e9,
            Clock::Virtual(clock) => clock.nanoseconds(),
        }
    }

    /// Returns when it is this time.
    fn wait(&self, until: f64) {
        match &self.clock {
            Clock::Real(start) => {
                thread::sleep(duration(until).saturating_sub(start.elapsed()));
            }
            Clock::Virtual(clock) => clock.go_on(until),
        }
    }

    /// The work of a request for the card.
    fn work(&self, job: &Job<'_, '_>) -> Option<Work> {
        #[cfg(feature = "rsa")]
        if let Some(key) = job.session().asymmetric_key() {
            return private_key(key)
                .filter(|_| job.operation() == Operation::Sign)
                .and_then(|key| self.signature(key));
        }
        Some(Work::new(job.session().algorithm()?, job.bytes()))
    }

    /// A signature by a key: with its primes, if the card has a figure for that.
    #[cfg(feature = "rsa")]
    fn signature(&self, key: &PrivateKey) -> Option<Work> {
        let bits = u32::try_from(key.public_key().bits()).ok()?;
        let ways = [key.has_primes().then_some(Work::rsa_crt(bits)), Some(Work::rsa(bits))];
        ways.into_iter().flatten().find(|&work| self.card.demand(&self.host, work).is_some())
    }

    /// Serves a request that is handed over at this time, and returns when it is done.
    fn serve(&self, now: f64, mut job: Job<'_, '_>) -> f64 {
        let demand = self.work(&job).and_then(|work| self.card.demand(&self.host, work));
        let Some(demand) = demand else {
            job.settle(Err(Error::Unsupported));
            return now;
        };
        let fault = self.faults.next();
        let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        let done = schedule.take(now, &demand);
        drop(schedule);
        match fault {
            None => job.serve_by_software(),
            Some(Fault::Delay(delay)) => {
                job.serve_by_software();
                return done + delay.as_secs_f64() * 1e9;
            }
            Some(Fault::Lose) => {}
            Some(Fault::Fail(error)) => {
                if error == Error::Authentication
                    && job.operation() == Operation::Open
                    && let Ok(mut data) = job.data()
                {
                    data.get_out().fill(0);
                }
                job.settle(Err(error));
            }
        }
        done
    }
}

impl Driver for Model {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        if !self.card.algorithms().any(|row| row == algorithm) {
            return Err(Error::Unsupported);
        }
        if !algorithm.key_lengths().iter().any(|length| length == key.len()) {
            return Err(Error::KeyLength);
        }
        Ok(SessionId::default())
    }

    /// A card signs with keys of the lengths for which it has figures.
    #[cfg(feature = "rsa")]
    fn open_asymmetric(&self, key: &AsymmetricKey) -> Result<SessionId, Error> {
        let signature = private_key(key).and_then(|key| self.signature(key));
        signature.map(|_| SessionId::default()).ok_or(Error::Unsupported)
    }

    fn close(&self, _session: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        self.process_async(jobs, &mut || {});
    }

    fn cost(&self, load: Load) -> Option<Duration> {
        let Load { algorithm, messages, bytes, .. } = load;
        let work = Work::new(algorithm, bytes / messages.max(1));
        let each = self.card.nanoseconds(&self.host, work, messages)?;
        Some(duration(each * messages as f64))
    }

    fn is_asynchronous(&self) -> bool {
        true
    }

    fn process_async(&self, jobs: Jobs<'_, '_>, meanwhile: &mut dyn FnMut()) {
        let now = self.now();
        let done = jobs.into_iter().map(|job| self.serve(now, job)).fold(now, f64::max);
        meanwhile();
        self.wait(done);
    }
}

/// The longest time that is waited for is 500 years.
fn duration(nanoseconds: f64) -> Duration {
    Duration::try_from_secs_f64(nanoseconds / 1e9).unwrap_or(Duration::from_nanos(u64::MAX))
}

/// The RSA private key of a session.
#[cfg(feature = "rsa")]
fn private_key(key: &AsymmetricKey) -> Option<&PrivateKey> {
    let (key, _) = key.rsa()?;
    key.private_key()
}
