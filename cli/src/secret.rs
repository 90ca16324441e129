//! Files with keys, which nobody else may read or change, and descriptors with secrets.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Take};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use zeroize::Zeroizing;

use crate::patient::Patient;

/// The longest key file in bytes.
const LONGEST: u64 = 16 << 10;

/// The longest passphrase in bytes.
pub(crate) const LONGEST_PASSPHRASE: usize = 1 << 12;

/// The most symbolic links on the way to a file.
const MOST_LINKS: u32 = 40;

/// The content of a file that only its user can read, or what comes by a pipe that is a descriptor
/// of this process, such as `/dev/fd/3`.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let is_descriptor = path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd");
    if is_descriptor && fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo()) {
        return piped(path).map_err(|error| format!("{}: {error}", path.display()));
    }
    read_of(path, 0o077, own())
}

/// What comes by a descriptor that this process has inherited, whatever it is.
pub(crate) fn descriptor(number: u32) -> io::Result<Zeroizing<Vec<u8>>> {
    piped(Path::new(&format!("/dev/fd/{number}")))
}

/// A passphrase by a descriptor, without the end of its line.
pub(crate) fn passphrase(number: u32) -> Result<Zeroizing<Vec<u8>>, String> {
    let option = format!("--passphrase-fd {number}");
    let mut bytes = descriptor(number).map_err(|error| format!("{option}: {error}"))?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    match bytes.len() {
        0 => Err(format!("{option}: it is empty")),
        1..=LONGEST_PASSPHRASE => Ok(bytes),
        _ => Err(format!("{option}: longer than {LONGEST_PASSPHRASE} bytes")),
    }
}

/// The file of a credential that the service manager has passed to this process.
pub(crate) fn credential(name: &str) -> Result<PathBuf, String> {
    let folder = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.is_absolute());
    let folder = folder.ok_or("credential: there is no $CREDENTIALS_DIRECTORY")?;
    let is_name = !name.is_empty() && !name.contains('/') && !name.starts_with('.');
    if !is_name {
        return Err(format!("credential: {name:?} is not a name"));
    }
    Ok(folder.join(name))
}

/// The rights that others must not have of a credential. Those of the group are those of an access
/// list for the service's user.
pub(crate) const CREDENTIAL: u32 = 0o037;

/// The content of a key file of this user, or of root, that gives others none of these rights.
pub(crate) fn read_of(path: &Path, rights: u32, user: u32) -> Result<Zeroizing<Vec<u8>>, String> {
    let mut file = open(path, rights, "read or change", LONGEST, user)?;
    content(&mut file).map_err(|error| format!("{}: {error}", path.display()))
}

/// The user of this process.
pub(crate) fn own() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Checks that only this user and root can replace the file at a path: each directory on the way
/// belongs to one of them, and others cannot write to it, or it is sticky. Symbolic links are
/// followed, so that the directories of links are checked, too.
///
/// # Errors
///
/// Which directory others can write to.
pub(crate) fn check_folders(path: &Path, user: u32) -> Result<(), String> {
    let at = path.display();
    let whole = std::path::absolute(path).map_err(|error| format!("{at}: {error}"))?;
    let parts = |path: &Path| -> Vec<OsString> {
        path.components().map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut left = VecDeque::from(parts(&whole));
    let mut done = PathBuf::new();
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => done = PathBuf::from("/"),
            Some(Component::ParentDir) => {
                done.pop();
            }
            Some(Component::Normal(_)) => {
                let next = done.join(&part);
                match fs::read_link(&next) {
                    Ok(_) if links == MOST_LINKS => return Err(format!("{at}: too many links")),
                    Ok(target) => {
                        links += 1;
                        parts(&target).into_iter().rev().for_each(|part| left.push_front(part));
                        continue;
                    }
                    Err(_) => done = next,
                }
            }
            _ => continue,
        }
        // The file itself is checked when it is open.
        if !left.is_empty() {
            check_folder(&done, user).map_err(|reason| format!("{at}: {reason}"))?;
        }
    }
    Ok(())
}

fn check_folder(path: &Path, user: u32) -> Result<(), String> {
    let at = path.display();
    let meta = fs::metadata(path).map_err(|error| format!("{at}: {error}"))?;
    if meta.uid() != user && meta.uid() != 0 {
        return Err(format!("the directory {at} belongs to another user"));
    }
    let mode = meta.permissions().mode() & 0o7777;
    let is_sticky = mode & 0o1000 != 0;
    if mode & 0o022 != 0 && !is_sticky {
        return Err(format!("others can write to the directory {at} (mode {mode:03o})"));
    }
    Ok(())
}

/// What comes by standard input, without the buffer of the standard library, which is not wiped.
pub(crate) fn standard_input() -> Result<Zeroizing<Vec<u8>>, String> {
    let input = io::stdin().as_fd().try_clone_to_owned();
    let read = input.and_then(|input| content(&mut Patient(input.into()).take(LONGEST)));
    read.map_err(|error| format!("standard input: {error}"))
}

/// What comes by a path that leads to a descriptor of this process. It is not opened to wait for a
/// writer: one that has come and gone is the end.
fn piped(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    content(&mut Patient(file).take(LONGEST))
}

fn content(file: &mut impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
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
    user: u32,
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
    if meta.uid() != user && meta.uid() != 0 {
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
