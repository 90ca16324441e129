//! What threads of the program ask of the running daemon.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use lanecrypt_device::{Client, Prepared, Statistics};

/// Stops the daemon, and asks it for its statistics.
#[derive(Clone, Debug)]
pub(super) struct Control {
    path: PathBuf,
    stop: Arc<UnixStream>,
    /// Whether a thread waits for an answer.
    asks: Arc<AtomicBool>,
}

/// Becomes readable when the daemon is to stop.
#[derive(Debug)]
pub(super) struct Stopped(UnixStream);

impl AsFd for Stopped {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Control {
    /// For a daemon that listens at this path.
    pub(super) fn new(path: &Path) -> io::Result<(Self, Stopped)> {
        let (stopped, stop) = UnixStream::pair()?;
        let control = Self { path: path.to_owned(), stop: Arc::new(stop), asks: Arc::default() };
        Ok((control, Stopped(stopped)))
    }

    /// Ends the daemon.
    pub(super) fn stop(&self) {
        // It is large enough for a byte, and a second one changes nothing.
        let _ = (&*self.stop).write(&[0]);
    }

    /// Replaces keys and users.
    ///
    /// # Errors
    ///
    /// Why it is not done.
    pub(super) fn reload(&self, prepared: Prepared) -> Result<(), String> {
        // reload: `self.handle.reload(prepared)`
        drop(prepared);
        Err("this daemon cannot reload; restart it".into())
    }

    /// The statistics, if it answers within this time.
    pub(super) fn statistics(&self, within: Duration) -> Option<Statistics> {
        // A thread that never gets an answer must not have followers.
        if self.asks.swap(true, Ordering::AcqRel) {
            return None;
        }
        let (path, asks) = (self.path.clone(), Arc::clone(&self.asks));
        let (answer, answered) = sync_channel(1);
        let thread = thread::Builder::new().name("statistics".into()).spawn(move || {
            let statistics = Client::<Vec<u8>>::statistics(path);
            asks.store(false, Ordering::Release);
            // It may no longer be waited for.
            let _ = answer.try_send(statistics.ok());
        });
        if thread.is_err() {
            self.asks.store(false, Ordering::Release);
        }
        answered.recv_timeout(within).ok().flatten()
    }
}
