//! Standard output, written in large pieces.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;

use lanecrypt_random::EntropyError;
use rustix::event::{PollFd, PollFlags, poll};

use super::plan::Plan;
use super::rate::Rate;

/// The size of a pipe's buffer in bytes: by default the most that an unprivileged process may ask
/// for. It wakes the reader less often, and takes no more memory than a piece of output.
const PIPE: usize = 1 << 20;

/// The reason why the output ended early.
pub(crate) enum Broken {
    /// The reader closed its end.
    Closed,
    /// The generator could not be seeded.
    Entropy(EntropyError),
    /// The system has no more threads.
    Thread(io::Error),
    /// The file system or the device failed.
    Write(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe { Self::Closed } else { Self::Write(error) }
    }
}

/// Standard output without the buffer of the standard library.
pub(crate) struct Output {
    file: File,
    written: u64,
    rate: Option<Rate>,
}

impl Output {
    /// Opens standard output and prepares it for `plan`.
    pub(crate) fn stdout(plan: &Plan) -> io::Result<Self> {
        let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let total = plan.output_bytes();
        if total.is_none_or(|total| total > PIPE as u128) {
            // It fails for anything but a pipe; a pipe of the usual size works, too.
            let _ = rustix::pipe::fcntl_setpipe_size(&file, PIPE);
        }
        // On the same terminal the rate and the output would mix.
        let shown = io::stderr().is_terminal() && !file.is_terminal();
        Ok(Self { file, written: 0, rate: shown.then(|| Rate::new(total)) })
    }

    /// Writes all of `piece`.
    pub(crate) fn write(&mut self, mut piece: &[u8]) -> Result<(), Broken> {
        while !piece.is_empty() {
            match self.file.write(piece) {
                Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
                Ok(n) => {
                    piece = &piece[n..];
                    self.written = self.written.saturating_add(n as u64);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Another process that shares the pipe may have made it non-blocking.
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait()?,
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(rate) = &mut self.rate {
            rate.show(self.written);
        }
        Ok(())
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Removes the rate from the terminal.
    pub(crate) fn finish(&mut self) {
        if let Some(rate) = &mut self.rate {
            rate.erase();
        }
    }

    fn wait(&self) -> io::Result<()> {
        match poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
