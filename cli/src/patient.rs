//! Descriptors such as standard input and output, which another process may have made non-blocking.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};

use rustix::event::{PollFd, PollFlags, poll};

/// A file that waits until it is ready.
pub(crate) struct Patient(pub(crate) File);

impl Patient {
    fn wait(&self, flags: PollFlags) -> io::Result<()> {
        match poll(&mut [PollFd::new(&self.0, flags)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Read for Patient {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(out) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::IN)?,
                outcome => return outcome,
            }
        }
    }
}

impl Write for Patient {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(data) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::OUT)?,
                outcome => return outcome,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
