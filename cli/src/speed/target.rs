//! The destination of the results as JSON.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use lanecrypt_speed::Results;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// Stands for standard output on the command line.
pub(crate) const OUTPUT: &str = "-";

/// A place for the results. It is opened before the measurement, so that an error shows at once and
/// not after minutes. It stays open, because the reader of a FIFO takes its closing for the end.
pub(crate) enum Target {
    Output,
    File(PathBuf, File),
}

impl Target {
    /// Opens the named place. An existing file keeps its content until the results replace it.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if path.as_os_str() == OUTPUT {
            return Ok(Self::Output);
        }
        let file = open(path).map_err(|error| {
            // The error of a FIFO without a reader.
            let unread = error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
            let hint = if unread { ": nobody reads it" } else { "" };
            format!("cannot write {}: {error}{hint}", path.display())
        })?;
        Ok(Self::File(path.to_owned(), file))
    }

    /// Writes the results; they replace the content of a file.
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

/// Opens a FIFO without waiting for its reader. Writing waits as usual.
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
