//! Statistics for Prometheus, by a Unix socket of its own.
//!
//! Any connection is answered, one at a time, whatever it asks for. Only the user of the daemon
//! and root are answered.

use core::fmt::Write as _;
use core::time::Duration;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use lanecrypt_device::Statistics;
use rustix::fs::Mode;
use rustix::net::sockopt::socket_peercred;

use super::control::Control;

/// The time for one connection.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest request that is read.
const LONGEST: usize = 8 << 10;

/// A socket, whose file is removed in the end.
#[derive(Debug)]
pub(super) struct Metrics {
    listener: UnixListener,
    file: Option<SocketFile>,
}

/// The file of a socket, if it is still that of this process.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    place: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if place(&self.path).is_ok_and(|place| place == self.place) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn place(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino()))
}

impl Metrics {
    /// Listens at a path. The socket of a dead daemon is replaced.
    pub(super) fn bind(path: &Path) -> Result<Self, String> {
        Self::try_bind(path).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn try_bind(path: &Path) -> io::Result<Self> {
        let is_socket = fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
        let refused = || UnixStream::connect(path).err().map(|error| error.kind());
        if is_socket && refused() == Some(io::ErrorKind::ConnectionRefused) {
            fs::remove_file(path)?;
        }
        // The process has one thread, so no other file gets this mask.
        let usual = rustix::process::umask(Mode::from_raw_mode(0o177));
        let listener = UnixListener::bind(path);
        rustix::process::umask(usual);
        let file = SocketFile { path: path.to_owned(), place: place(path)? };
        Ok(Self { listener: listener?, file: Some(file) })
    }

    /// With a socket that the service manager has opened.
    pub(super) fn passed(listener: UnixListener) -> Self {
        Self { listener, file: None }
    }

    /// Starts the thread that answers. The socket's file exists as long as the returned value.
    pub(super) fn start(self, control: Control) -> io::Result<Option<SocketFile>> {
        let Self { listener, file } = self;
        thread::Builder::new().name("metrics".into()).spawn(move || {
            loop {
                match listener.accept() {
                    // Whoever has gone needs no answer.
                    Ok((stream, _)) => drop(answer(&stream, &control)),
                    // Such as for lack of descriptors.
                    Err(_) => thread::sleep(PAUSE),
                }
            }
        })?;
        Ok(file)
    }
}

fn answer(stream: &UnixStream, control: &Control) -> io::Result<()> {
    let user = socket_peercred(stream)?.uid;
    if user != rustix::process::geteuid() && !user.is_root() {
        return Ok(());
    }
    let end = Instant::now() + TIMEOUT;
    read_request(stream, end)?;
    let (status, body) = match control.statistics(TIMEOUT) {
        Some(statistics) => ("200 OK", text(&statistics)),
        None => ("503 Service Unavailable", String::from("the daemon does not answer\n")),
    };
    let answer = format!(
        "HTTP/1.0 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.set_write_timeout(Some(TIMEOUT))?;
    (&mut &*stream).write_all(answer.as_bytes())
}

/// Reads to the end of a request, so that the connection is closed in order. One that does not
/// come in time is answered, too.
fn read_request(mut stream: &UnixStream, end: Instant) -> io::Result<()> {
    let mut request = Vec::new();
    let mut room = [0; 1024];
    while request.len() < LONGEST && !request.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut room) {
            Ok(0) => break,
            Ok(length) => request.extend_from_slice(room.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The statistics in Prometheus' text format.
pub(super) fn text(statistics: &Statistics) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, about: &str, value: u64| {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "# HELP lanecrypt_{name} {about}\n# TYPE lanecrypt_{name} {kind}\n\
             lanecrypt_{name} {value}\n"
        );
    };
    metric("clients", "gauge", "Connected clients.", statistics.clients.into());
    metric("sessions", "gauge", "Open sessions.", statistics.sessions.into());
    metric("named_keys", "gauge", "Named keys.", statistics.named_keys.into());
    metric("memory_bytes", "gauge", "Memory that clients take.", statistics.memory);
    let limit = statistics.memory_limit;
    metric("memory_limit_bytes", "gauge", "Memory that clients may take.", limit);
    let requests = statistics.requests;
    metric("requests_total", "counter", "Requests served, except signatures.", requests);
    let signatures = statistics.signatures;
    metric("signatures_total", "counter", "Signatures made and checked.", signatures);
    let failed = statistics.failed;
    metric("failed_total", "counter", "Requests refused or not authentic.", failed);
    metric("batches_total", "counter", "Batches of requests.", statistics.batches);
    let batches = statistics.signature_batches;
    metric("signature_batches_total", "counter", "Batches of signatures.", batches);
    metric("sleeps_total", "counter", "Times the daemon slept.", statistics.sleeps);
    let about = "Upper bound of the time from finding a request to its answer, since the start.";
    let name = "lanecrypt_request_seconds";
    let _ = write!(text, "# HELP {name} {about}\n# TYPE {name} gauge\n");
    for part in [0.5, 0.99, 0.999] {
        if let Some(time) = statistics.latency(part) {
            let _ = writeln!(text, "{name}{{quantile=\"{part}\"}} {}", time.as_secs_f64());
        }
    }
    text
}
