//! Files with keys: nobody else may read or change them.

use std::fs::File;
use std::io::{self, Read as _, Take};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use zeroize::Zeroizing;

/// The longest key file in bytes.
const LONGEST: u64 = 16 << 10;

/// The content of a file that only its user can read.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let mut file = open(path, 0o077, "read or change", LONGEST)?;
    content(&mut file).map_err(|error| format!("{}: {error}", path.display()))
}

/// What comes by standard input, without the buffer of the standard library, which is not wiped.
pub(crate) fn standard_input() -> Result<Zeroizing<Vec<u8>>, String> {
    let input = io::stdin().as_fd().try_clone_to_owned();
    let read = input.and_then(|input| content(&mut File::from(input).take(LONGEST)));
    read.map_err(|error| format!("standard input: {error}"))
}

fn content(file: &mut Take<File>) -> io::Result<Zeroizing<Vec<u8>>> {
    // Its capacity is enough, so that it is not moved while it grows.
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::from(u16::MAX)));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file of this user, or of root, that gives others none of these rights.
pub(crate) fn open(
    path: &Path,
    rights: u32,
    what: &str,
    longest: u64,
) -> Result<Take<File>, String> {
    let at = path.display();
    // A FIFO is refused below, and not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let at_path = |error: io::Error| format!("{at}: {error}");
    let file =
        rustix::fs::open(path, flags, Mode::empty()).map_err(|error| at_path(error.into()))?;
    let file = File::from(file);
    // Of what has been opened, so that nobody can put another file there meanwhile.
    let meta = file.metadata().map_err(at_path)?;
    if !meta.is_file() {
        return Err(format!("{at}: not a file"));
    }
    let own = rustix::process::geteuid().as_raw();
    if meta.uid() != own && meta.uid() != 0 {
        return Err(format!("{at}: belongs to another user"));
    }
    let mode = meta.permissions().mode() & 0o777;
    if mode & rights != 0 {
        return Err(format!("{at}: others can {what} it (mode {mode:03o}; use chmod 600)"));
    }
    if meta.len() > longest {
        return Err(format!("{at}: longer than {longest} bytes"));
    }
    Ok(file.take(longest))
}
