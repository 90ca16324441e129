//! Where the results go as JSON.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use lanecrypt_speed::Results;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// What stands for standard output on the command line.
pub(crate) const OUTPUT: &str = "-";

/// A place for the results. It is opened before anything is measured: what cannot be written should
/// not show only after minutes. And it stays open: who reads a FIFO takes its closing for the end.
pub(crate) enum Target {
    Output,
    File(PathBuf, File),
}

impl Target {
    /// The place that was named; a file that is there keeps its content until there is another.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if path.as_os_str() == OUTPUT {
            return Ok(Self::Output);
        }
        let file = open(path).map_err(|error| {
            // What a FIFO without a reader answers.
            let unread = error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
            let hint = if unread { ": nobody reads it" } else { "" };
            format!("cannot write {}: {error}{hint}", path.display())
        })?;
        Ok(Self::File(path.to_owned(), file))
    }

    /// Writes the results; in a file they replace what was there.
    pub(crate) fn write(&mut self, results: &Results) -> Result<(), String> {
        let written = results.to_json().map_err(io::Error::from).and_then(|text| match self {
            Self::Output => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Self::File(_, file) => replace(file, &text),
        });
        written.map_err(|error| match self {
            Self::Output => format!("standard output: {error}"),
            Self::File(path, _) => format!("cannot write {}: {error}", path.display()),
        })
    }
}

/// Without waiting for the reader of a FIFO; afterwards writing waits, as usual.
fn open(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(flags)
        .open(path)?;
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

fn replace(file: &mut File, text: &str) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(text.as_bytes())
}
