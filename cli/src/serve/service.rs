//! The service manager: what systemd is told, and what it passes.

use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread;

use listenfd::ListenFd;
use rustix::net::{AddressFamily, SocketType};
use sd_notify::NotifyState;

use super::control::Control;
use super::log::Log;

/// Tells the service manager, if there is one. Whether it hears cannot be known.
pub(super) fn notify(states: &[NotifyState<'_>]) {
    let _ = sd_notify::notify(states);
}

/// Tells it that the settings are read again. [`NotifyState::Ready`] is to follow.
pub(super) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(_) => notify(&[NotifyState::Reloading]),
    }
}

/// Whether its socket has no file.
pub(super) fn listens_abstractly() -> bool {
    std::env::var_os("NOTIFY_SOCKET").is_some_and(|path| path.as_encoded_bytes().starts_with(b"@"))
}

/// The directory for state that lasts, if there is one.
pub(super) fn state_directory() -> Option<PathBuf> {
    std::env::var_os("STATE_DIRECTORY").map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Sockets that the service manager passes.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    pub(super) daemon: Option<OwnedFd>,
    pub(super) metrics: Option<UnixListener>,
}

/// Takes the sockets: one of sequenced packets for the daemon, and one of streams for metrics.
///
/// # Errors
///
/// There are others.
pub(super) fn sockets() -> Result<Sockets, String> {
    let mut passed = ListenFd::from_env();
    let mut sockets = Sockets::default();
    let family = i32::from(AddressFamily::UNIX.as_raw());
    let packets = SocketType::SEQPACKET.as_raw().cast_signed();
    for index in 0..passed.len() {
        let taken = passed.take_custom::<OwnedFd>(index, family, packets, "socket of packets");
        if let Ok(Some(socket)) = taken
            && sockets.daemon.is_none()
        {
            sockets.daemon = Some(socket);
        } else if let Ok(Some(socket)) = passed.take_unix_listener(index)
            && sockets.metrics.is_none()
        {
            sockets.metrics = Some(socket);
        } else {
            return Err(format!("socket {index} of the service manager is of no use here"));
        }
    }
    Ok(sockets)
}

/// Starts the thread that reports to the watchdog, if there is one, as long as the daemon answers.
pub(super) fn watch(control: Control, log: Log) -> io::Result<()> {
    let Some(limit) = sd_notify::watchdog_enabled().filter(|limit| !limit.is_zero()) else {
        return Ok(());
    };
    let pause = limit / 4;
    thread::Builder::new().name("watchdog".into()).spawn(move || {
        let mut is_late = false;
        loop {
            let answers = control.statistics(pause.max(Duration::from_millis(1))).is_some();
            if answers {
                notify(&[NotifyState::Watchdog]);
            } else if !is_late {
                log.event("watchdog-late", &[]);
            }
            is_late = !answers;
            thread::sleep(pause);
        }
    })?;
    Ok(())
}
