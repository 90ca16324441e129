//! The two forms of an attack: the order of answers, and the times.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread;
use std::time::Instant;

use lanecrypt_device::Client;
use rustix::process::Signal;

use super::children::{Cell, Spawned, bound};
use super::daemon::{Daemon, is_long};

/// An attack, and the order of answers that shows that it does no harm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attack<'a> {
    pub(crate) name: &'a str,
    /// The roles of the hostile processes, with their numbers.
    pub(crate) roles: &'a [(&'a str, u64)],
    /// A neighbour gets this many answers,
    pub(crate) answers: u64,
    /// and a new client its connection, before the hostile ones have got more than this many.
    pub(crate) within: u64,
    /// After SIGTERM the hostile ones get fewer answers than this, if it is known.
    pub(crate) queued: Option<u64>,
}

impl Attack<'_> {
    /// Attacks a daemon, in the short form or the long one.
    pub(crate) fn run(&self) {
        if is_long() { self.measure() } else { self.check() }
    }

    fn begin(&self, daemon: &Daemon) -> Vec<Spawned> {
        self.roles.iter().map(|(role, number)| daemon.attacked_by(role, *number)).collect()
    }

    /// Checks the order of answers.
    fn check(&self) {
        let daemon = Daemon::new(self.name);
        let neighbour = daemon.attacked_by("honest", 0);
        let mut hostile = self.begin(&daemon);
        let done = |hostile: &[Spawned]| hostile.iter().map(Spawned::done).sum::<u64>();
        let mut failures = Vec::new();
        let mut check = |what: &str, is_so: &mut dyn FnMut() -> bool| {
            let before = done(&hostile);
            let mut meanwhile = 0;
            daemon.until(what, || {
                meanwhile = done(&hostile) - before;
                is_so() || meanwhile > self.within
            });
            if meanwhile > self.within {
                failures.push(format!("{what} came later than {meanwhile} answers to others"));
            }
        };
        let wanted = neighbour.done() + self.answers;
        check("the answers to the neighbour", &mut || neighbour.done() >= wanted);
        let connection = probe_once(daemon.socket(), probe_connection);
        check("a new connection", &mut || connection.is_finished());
        let statistics = probe_once(daemon.socket(), probe_statistics);
        check("the statistics", &mut || statistics.is_finished());
        // One that is late is known to be, and not waited for.
        for probe in [connection, statistics].into_iter().filter(|probe| probe.is_finished()) {
            let found = probe.join().expect("it only measures");
            assert!(found.is_some(), "{}: nobody is served: {}", self.name, daemon.said());
        }
        let before = done(&hostile);
        daemon.signal(Signal::TERM);
        let most = self.queued.unwrap_or(u64::MAX);
        // A daemon that does not end at all: everything here takes less than a second.
        let hangs = Instant::now() + Duration::from_secs(15);
        daemon.until("the end after SIGTERM", || {
            let is_late = done(&hostile) - before > most || Instant::now() > hangs;
            daemon.status().is_some() || is_late
        });
        let status = daemon.status();
        if status.is_none() {
            failures.push("it has not ended after SIGTERM".to_owned());
        }
        daemon.kill();
        // They count what was answered until then.
        daemon.until("the end of the attack", || hostile.iter_mut().all(Spawned::check_ended));
        let after = done(&hostile) - before;
        if after > most {
            failures.push(format!("it has answered {after} requests after SIGTERM"));
        }
        if let Some(status) = status.filter(|status| !status.success()) {
            failures.push(format!("{status}: {}", daemon.said()));
        }
        assert!(failures.is_empty(), "{}: {}", self.name, failures.join("; "));
    }

    /// Measures, and prints a line.
    fn measure(&self) {
        const ALONE: Duration = Duration::from_secs(3);
        const ATTACKED: Duration = Duration::from_secs(10);
        let daemon = Daemon::new(self.name);
        let neighbour = daemon.attacked_by("honest", 0);
        thread::sleep(Duration::from_millis(500));
        let alone = figures(&neighbour, || thread::sleep(ALONE));
        let hostile: Vec<_> =
            self.roles.iter().map(|(role, number)| daemon.child(role, *number)).collect();
        thread::sleep(Duration::from_millis(500));
        let probes = Probes::new(&daemon);
        let attacked = figures(&neighbour, || thread::sleep(ATTACKED));
        let ended = end_within(&daemon, Duration::from_secs(20));
        let [connections, statistics] = probes.end();
        let done: u64 = hostile.iter().map(Spawned::done).sum();
        let refused: u64 = hostile.iter().map(|child| child.board().get(Cell::Refused)).sum();
        print_head();
        print_row(&[
            self.name,
            &format!("{:.0}", alone.per_second),
            &format!("{:.0}", attacked.per_second),
            &format!("{:.2}", attacked.per_second / alone.per_second),
            &shown(attacked.p50),
            &shown(attacked.p99),
            &shown(attacked.longest),
            &shown(percentile(&connections, 50)),
            &shown(percentile(&connections, 99)),
            &shown(percentile(&connections, 100)),
            &shown(percentile(&statistics, 50)),
            &shown(percentile(&statistics, 100)),
            &ended,
            &done.to_string(),
            &refused.to_string(),
        ]);
    }
}

/// Prints what the columns of the table are, and the bars, once.
fn print_head() {
    static HEAD: Once = Once::new();
    HEAD.call_once(|| {
        println!();
        print_row(&[
            "attack", "alone/s", "with/s", "ratio", "p50", "p99", "max", "connect", "p99", "max",
            "info", "max", "SIGTERM", "answers", "refused",
        ]);
        let bars = ["", "", ">=0.4", "", "<=2ms", "", "", "", "<=50ms", "", "<=100ms", "<=1s"];
        print_row(&[&["bars"][..], &bars].concat());
        let bars = ["", "", "", "", "", "", "", "<=10ms", "", "", "", "<=10ms"];
        print_row(&[&["polite-6"][..], &bars].concat());
    });
}

fn print_row(columns: &[&str]) {
    let row: Vec<_> = columns.iter().skip(1).map(|column| format!("{column:>9}")).collect();
    println!("{:<12}{}", columns.first().unwrap_or(&""), row.concat());
}

/// What a neighbour got.
#[derive(Clone, Copy, Debug)]
struct Figures {
    per_second: f64,
    p50: Option<Duration>,
    p99: Option<Duration>,
    longest: Option<Duration>,
}

/// What a neighbour gets while something happens.
fn figures(neighbour: &Spawned, act: impl FnOnce()) -> Figures {
    let board = neighbour.board();
    let before = board.times();
    board.set(Cell::Longest, 0);
    let begun = Instant::now();
    act();
    let took = begun.elapsed();
    let times = board.times().iter().zip(&before).map(|(now, then)| now - then).collect::<Vec<_>>();
    let count: u64 = times.iter().sum();
    let longest = match board.get(Cell::Longest) {
        // Not one answer.
        0 => took,
        nanoseconds => Duration::from_nanos(nanoseconds),
    };
    let part = |part: f64| {
        let mut left = part * count as f64;
        let class = times.iter().position(|&count| {
            left -= count as f64;
            left <= 0.0 && count > 0
        });
        // The bound of a class may be above the longest time.
        class.map(|class| Duration::from_secs_f64(bound(class) / 1e9).min(longest))
    };
    let per_second = count as f64 / took.as_secs_f64();
    Figures { per_second, p50: part(0.5), p99: part(0.99), longest: Some(longest) }
}

/// A time as it is printed.
fn shown(time: Option<Duration>) -> String {
    let Some(time) = time else { return "-".to_owned() };
    let seconds = time.as_secs_f64();
    match seconds {
        ..1e-3 => format!("{:.1}us", seconds * 1e6),
        ..1.0 => format!("{:.1}ms", seconds * 1e3),
        _ => format!("{seconds:.2}s"),
    }
}

/// The time that so many in a hundred do not exceed.
fn percentile(times: &[Duration], percent: usize) -> Option<Duration> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied()
}

/// The time until a new client is served or refused; `None` if the daemon has ended.
pub(crate) fn probe_connection(socket: &Path) -> Option<Duration> {
    use lanecrypt_device::ConnectError::Refused;
    let begun = Instant::now();
    match Client::<Vec<u8>>::connect(socket) {
        Ok(_) | Err(Refused(_)) => Some(begun.elapsed()),
        Err(_) => None,
    }
}

/// The time until the statistics are there, whatever else is exhausted; `None` if the daemon has
/// ended.
fn probe_statistics(socket: &Path) -> Option<Duration> {
    let begun = Instant::now();
    let found = Client::<Vec<u8>>::statistics(socket, Duration::from_secs(10));
    found.is_ok().then(|| begun.elapsed())
}

/// Measures once, in a thread.
fn probe_once(
    socket: PathBuf,
    act: fn(&Path) -> Option<Duration>,
) -> thread::JoinHandle<Option<Duration>> {
    thread::spawn(move || act(&socket))
}

/// Threads that measure new connections and statistics until the daemon ends.
struct Probes {
    threads: [thread::JoinHandle<Vec<Duration>>; 2],
}

static STOPS: AtomicBool = AtomicBool::new(false);

impl Probes {
    fn new(daemon: &Daemon) -> Self {
        STOPS.store(false, Ordering::Relaxed);
        Self {
            threads: [
                probe(daemon.socket(), probe_connection),
                probe(daemon.socket(), probe_statistics),
            ],
        }
    }

    fn end(self) -> [Vec<Duration>; 2] {
        STOPS.store(true, Ordering::Relaxed);
        self.threads.map(|thread| thread.join().expect("it only measures"))
    }
}

/// Measures again and again.
fn probe(socket: PathBuf, act: fn(&Path) -> Option<Duration>) -> thread::JoinHandle<Vec<Duration>> {
    thread::spawn(move || {
        let mut times = Vec::new();
        while !STOPS.load(Ordering::Relaxed) {
            let begun = Instant::now();
            match act(&socket) {
                Some(time) => times.push(time),
                // It has waited until the daemon ended.
                None if begun.elapsed() > Duration::from_millis(20) => times.push(begun.elapsed()),
                None => {}
            }
            thread::sleep(Duration::from_millis(20));
        }
        times
    })
}

/// The time from SIGTERM to the end, as text. A daemon that does not end is killed.
fn end_within(daemon: &Daemon, longest: Duration) -> String {
    if let Some(status) = daemon.status() {
        eprintln!("{}", daemon.said());
        return format!("{status}");
    }
    let begun = Instant::now();
    daemon.signal(Signal::TERM);
    while daemon.status().is_none() {
        if begun.elapsed() > longest {
            daemon.kill();
            return format!(">{}", shown(Some(longest)));
        }
        thread::sleep(Duration::from_micros(100));
    }
    shown(Some(begun.elapsed()))
}
