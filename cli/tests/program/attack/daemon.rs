//! A daemon in a process of its own, with a limit of time.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use lanecrypt_device::{Client, Statistics};
use rustix::process::{Pid, Signal, kill_process};

use super::children::Spawned;
use crate::support::{Folder, lanecrypt};

/// One attack at a time: two would disturb each other.
static TURN: Mutex<()> = Mutex::new(());

/// Whether the attacks are to be measured.
pub(crate) fn is_long() -> bool {
    std::env::var_os("LANECRYPT_LONG").is_some()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A daemon, which is killed in the end, or when its time is over: then everybody who waits for it
/// fails.
pub(crate) struct Daemon {
    child: Arc<Mutex<Child>>,
    pid: Pid,
    said: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    folder: Folder,
    deadline: Instant,
    /// Closed in the end.
    _end: Sender<()>,
    _turn: MutexGuard<'static, ()>,
}

impl Daemon {
    pub(crate) fn new(name: &str) -> Self {
        Self::under(name, &[]).unwrap_or_else(|status| panic!("it has ended: {status}"))
    }

    /// Starts one by another program, such as `prlimit`.
    ///
    /// # Errors
    ///
    /// Its status, if it has ended before it served.
    pub(crate) fn under(name: &str, starter: &[&str]) -> Result<Self, ExitStatus> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let turn = lock(&TURN);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = Folder::new(&format!("attack-{name}-{number}"));
        let socket = folder.path("socket");
        let mut command = lanecrypt(&["serve", "--allow-null", "--socket", &socket]);
        if let [starter, limits @ ..] = starter {
            let mut limited = Command::new(starter);
            limited.args(limits).arg(command.get_program()).args(command.get_args());
            limited.env_remove("LANECRYPT_ISA").stdin(Stdio::null());
            command = limited;
        }
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        let pid = Pid::from_child(&child);
        let mut pipe = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while pipe.read_line(&mut line).is_ok_and(|length| length > 0) {
            if line.contains("lanecrypt: serving at ") {
                break;
            }
        }
        if !line.contains("lanecrypt: serving at ") {
            eprintln!("{name}: {starter:?}: {line}");
            return Err(child.wait().expect("it ends"));
        }
        let said = Arc::new(Mutex::new(line));
        let heard = said.clone();
        let reader = thread::spawn(move || {
            pipe.lines().map_while(Result::ok).for_each(|line| *lock(&heard) += &(line + "\n"));
        });
        let child = Arc::new(Mutex::new(child));
        let limit = Duration::from_secs(if is_long() { 900 } else { 60 });
        let (end, ended) = channel();
        let (killed, test) = (child.clone(), name.to_owned());
        thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{test}: not at its end after {limit:?}; the daemon is killed");
                let _ = lock(&killed).kill();
            }
        });
        Ok(Self {
            child,
            pid,
            said,
            reader: Some(reader),
            folder,
            deadline: Instant::now() + limit,
            _end: end,
            _turn: turn,
        })
    }

    pub(crate) fn socket(&self) -> PathBuf {
        PathBuf::from(self.folder.path("socket"))
    }

    /// Starts a child process with a role, as a client.
    pub(crate) fn child(&self, role: &str, number: u64) -> Spawned {
        let folder = self.folder.path("");
        Spawned::new(role, number, &self.socket(), Path::new(&folder))
    }

    /// Starts a child process, and waits until its attack has begun.
    pub(crate) fn attacked_by(&self, role: &str, number: u64) -> Spawned {
        let mut child = self.child(role, number);
        self.until(role, || child.check_ready());
        child
    }

    /// Waits until something is so.
    ///
    /// # Panics
    ///
    /// The time of the test is over.
    pub(crate) fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        while !is_so() {
            assert!(Instant::now() < self.deadline, "{what}: it takes too long");
            thread::sleep(Duration::from_micros(200));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).expect("it was not waited for");
    }

    /// Its status, if it has ended.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        lock(&self.child).try_wait().expect("it was started here")
    }

    /// What it has said to standard error.
    pub(crate) fn said(&self) -> String {
        lock(&self.said).clone()
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Client::<Vec<u8>>::statistics(self.socket(), Duration::from_secs(60)).expect("it serves")
    }

    /// The number of its descriptors.
    pub(crate) fn descriptors(&self) -> Option<usize> {
        // The directory belongs to root, because the daemon is not dumpable.
        let pid = self.pid.as_raw_nonzero();
        Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
    }

    /// Its resident memory in KiB.
    pub(crate) fn resident(&self) -> u64 {
        let pid = self.pid.as_raw_nonzero();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = resident.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        resident.expect("every process has it")
    }

    /// Ends it by SIGTERM, and waits for that. Returns the time.
    ///
    /// # Panics
    ///
    /// It does not end, or not in order.
    pub(crate) fn end(&self) -> Duration {
        let begun = Instant::now();
        self.signal(Signal::TERM);
        self.until("SIGTERM", || self.status().is_some());
        let took = begun.elapsed();
        let status = self.status().expect("it has ended");
        assert!(status.success(), "{status}: {}", self.said());
        took
    }

    /// Kills it, and waits for its end.
    pub(crate) fn kill(&self) {
        let mut child = lock(&self.child);
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}
