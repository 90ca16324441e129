//! A daemon in a thread of the test, at a socket of its own.

pub(crate) mod children;

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};

use lanecrypt_device::{Client, Handle, Server, Statistics};

/// Ends the program if a test hangs, so that it fails: if it takes longer than this. Seconds in
/// which the whole program is stopped do not count.
#[derive(Debug)]
pub(crate) struct Limit {
    /// Closed in the end.
    _end: Sender<()>,
}

impl Limit {
    /// The limit of the calling test: long even for a machine that is busy with other things.
    pub(crate) fn new() -> Self {
        let is_long = |name| std::env::var_os(name).is_some();
        let is_long = is_long("LANECRYPT_CASES") || is_long("LANECRYPT_LONG");
        Self::watch(if is_long { 36_000 } else { 300 }, || 0)
    }

    /// A limit for each step of what `steps` counts.
    pub(crate) fn watch(seconds: u32, steps: impl Fn() -> u64 + Send + 'static) -> Self {
        let (end, ended) = channel();
        let test = thread::current().name().unwrap_or("main").to_owned();
        thread::spawn(move || {
            let (mut seen, mut left) = (steps(), seconds);
            while ended.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                let now = steps();
                left = if now == seen { left - 1 } else { seconds };
                seen = now;
                if left == 0 {
                    eprintln!("{test}: hangs for {seconds} seconds");
                    process::abort();
                }
            }
        });
        Self { _end: end }
    }
}

/// Waits until something is so.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// A directory that is removed in the end, and the limit of the test that uses it.
pub(crate) struct Folder {
    path: PathBuf,
    _limit: Limit,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self::within(Limit::new())
    }

    fn within(limit: Limit) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lanecrypt-device-{}-{number}", process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("the directory of temporary files can be written");
        Self { path, _limit: limit }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("socket")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A daemon that runs in a thread until it is dropped.
pub(crate) struct Running {
    folder: Folder,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// The statistics of a daemon, which answers even on a busy machine.
pub(crate) fn statistics(path: &Path) -> Statistics {
    Client::<Vec<u8>>::statistics(path, Duration::from_secs(60)).expect("it listens")
}

impl Running {
    pub(crate) fn new(server: Server) -> Self {
        Self::within(server, Limit::new())
    }

    pub(crate) fn within(server: Server, limit: Limit) -> Self {
        let folder = Folder::within(limit);
        let prepared = server.prepare().expect("its keys are right");
        let mut daemon = prepared.bind(folder.socket()).expect("nobody is there");
        let handle = daemon.handle();
        let thread = thread::spawn(move || daemon.run().expect("it can wait"));
        Self { folder, handle, thread: Some(thread) }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.socket()
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Ends the daemon, and waits until it has ended.
    pub(crate) fn stop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it does not panic");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
        }
    }
}
