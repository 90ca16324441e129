//! Processes that the table starts: daemons, clients and echoes.
//!
//! Each has a socket as its standard input, by which it gets its orders, a line of JSON each, and
//! answers. It ends when the socket does, and so when this process dies.

use core::time::Duration;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, ErrorKind, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use lanecrypt_peers::Direction;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::messages::Plan;
use super::setting::Setting;
use crate::row::Batches;

/// How long a process may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// The orders of a process. Only clients get more than one order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// To serve at this socket.
    Daemon { socket: PathBuf, processors: Vec<usize>, spin_us: u64 },
    /// To return all bytes that come.
    Echo { processors: Vec<usize> },
    /// To prepare for these requests and to check known answers.
    Prepare(Job),
    /// To get ready for a batch of requests that have been prepared.
    Begin(Job),
    /// To make this many.
    Run(Job, usize),
    /// To check known answers again.
    Check(Job),
}

/// The length of a batch, against which the time of telling all processes is short.
const LENGTH: Duration = Duration::from_millis(50);

/// The subject of requests for random bytes.
pub(super) const RANDOM: &str = "random";

/// The subject of requests to a token, which need no daemon.
pub(super) const PKCS11: &str = "pkcs11";

/// What client processes ask their daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) socket: PathBuf,
    pub(super) setting: Setting,
    /// The processors of the clients.
    pub(super) processors: Vec<usize>,
    /// An algorithm, or [`RANDOM`], or [`PKCS11`].
    pub(super) subject: String,
    pub(super) is_encryption: bool,
    pub(super) size: usize,
    pub(super) depth: usize,
}

impl Job {
    /// What messages are served; none for random bytes.
    pub(super) fn plan(&self) -> Option<Plan> {
        let Self { size, depth, .. } = *self;
        let direction = match self.is_encryption {
            true => Direction::Encrypt,
            false => Direction::Decrypt,
        };
        Some(Plan { algorithm: self.subject.parse().ok()?, direction, size, depth })
    }

    pub(super) fn batches(&self) -> Batches {
        let (length, multiple) = (LENGTH, self.depth);
        Batches { length, multiple, shared: true, ..Batches::default() }
    }
}

/// What a process answers.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It is done, with bytes that must differ between processes, or with a digest.
    Done { sample: Vec<u8>, digest: u64 },
    /// The answers are wrong.
    Wrong,
    /// It is not possible here, or something failed.
    Failed,
}

impl Reply {
    pub(super) const DONE: Self = Self::Done { sample: Vec::new(), digest: 0 };
}

/// A process that was started.
pub(super) struct Process {
    child: Child,
    stream: BufReader<UnixStream>,
}

impl Process {
    /// Starts a process by a command that calls [`child`](super::child()).
    pub(super) fn start(command: &[OsString]) -> io::Result<Self> {
        Self::start_with(command, None)
    }

    /// The same with this file of settings for a token.
    pub(super) fn start_with(command: &[OsString], token: Option<&Path>) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(ErrorKind::NotFound)?;
        let (ours, theirs) = UnixStream::pair()?;
        // In a group of its own, so that an interrupt ends the measurement and not the process.
        let child = Command::new(program)
            .args(arguments)
            .envs(token.map(|settings| ("SOFTHSM2_CONF", settings)))
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { child, stream: BufReader::new(ours) })
    }

    pub(super) fn tell(&mut self, order: &Order) -> io::Result<()> {
        write_line(self.stream.get_mut(), order)
    }

    pub(super) fn hear(&mut self) -> io::Result<Reply> {
        read_line(&mut self.stream)
    }

    /// The socket, where bytes and not lines follow.
    pub(super) fn stream(&mut self) -> &mut UnixStream {
        self.stream.get_mut()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.stream.get_ref().shutdown(Shutdown::Both);
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if begun.elapsed() > PATIENCE {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            sleep(Duration::from_millis(1));
        }
    }
}

pub(super) fn write_line(stream: &mut UnixStream, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// An error of the kind [`ErrorKind::UnexpectedEof`] says that the other side has ended.
pub(super) fn read_line<T: DeserializeOwned>(stream: &mut BufReader<UnixStream>) -> io::Result<T> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}
