//! Files with keys: nobody else may read or change them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Take};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use zeroize::Zeroizing;

/// The longest key file in bytes.
const LONGEST: u64 = 16 << 10;

/// The most symbolic links on the way to a file.
const MOST_LINKS: u32 = 40;

/// The content of a file that only its user can read.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    read_of(path, 0o077, own())
}

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
