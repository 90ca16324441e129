//! A daemon in a thread of the test, at a socket of its own.

use core::sync::atomic::{AtomicU32, Ordering};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process;
use std::thread::{self, JoinHandle};

use lanecrypt_device::Server;
use rustix::event::{EventfdFlags, eventfd};

/// A directory that is removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lanecrypt-device-{}-{number}", process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("the directory of temporary files can be written");
        Self(path)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A daemon that runs in a thread until it is dropped.
pub(crate) struct Running {
    folder: Folder,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn new(server: Server) -> Self {
        let folder = Folder::new();
        let prepared = server.prepare().expect("its keys are right");
        let mut daemon = prepared.bind(folder.socket()).expect("nobody is there");
        let stop = eventfd(0, EventfdFlags::CLOEXEC).expect("there are descriptors");
        let stopped = stop.try_clone().expect("there are descriptors");
        let thread = thread::spawn(move || daemon.run(stopped).expect("it can wait"));
        Self { folder, stop, thread: Some(thread) }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.socket()
    }

    /// Ends the daemon, and waits until it has ended.
    pub(crate) fn stop(&mut self) {
        rustix::io::write(&self.stop, &1_u64.to_ne_bytes()).expect("it is a counter");
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
