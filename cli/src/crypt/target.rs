//! What is written: standard output, or a file that appears when it is whole.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::fs::{CWD, Gid, RenameFlags, Uid, fchown, renameat_with};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::plan::Output;
use super::source::Source;
use crate::patient::Patient;
use crate::{process, terminal};

/// The file that is being written, under its temporary name, for who has to remove it.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

fn unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, signals that end the program remove the file that is being written, and restore a
/// terminal that was asked for a passphrase. A thread waits
/// for them, because the other one may be waiting for its input.
pub(super) fn clean_up_after_signals() -> io::Result<()> {
    // Beyond a limit on the size of files, writing is an error then, and does not end the program.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let ends = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
    let mut signals =
        Signals::new(ends.into_iter().filter(|signal| !process::is_ignored(*signal)))?;
    thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            // Held until the end, so that no other file is begun.
            let mut unfinished = unfinished();
            if let Some(path) = unfinished.take() {
                let _ = fs::remove_file(path);
            }
            terminal::restore();
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// Refuses what exists, before any work is done, and always what is not a file.
pub(super) fn may_be_made(path: &Path, force: bool) -> Result<(), String> {
    let at = path.display();
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("{at}: {error}")),
        Ok(_) if !force => Err(exists(path)),
        Ok(meta) if meta.is_file() || meta.is_symlink() => Ok(()),
        Ok(_) => Err(format!("{at}: not a regular file")),
    }
}

fn exists(path: &Path) -> String {
    format!("{} already exists; --force replaces it", path.display())
}

/// Where the output goes.
pub(super) enum Target {
    Standard(Patient),
    File(Unfinished),
}

/// A file under its temporary name. It is removed unless it is put in its place.
pub(super) struct Unfinished {
    file: File,
    /// Beside where it belongs, so that it can be renamed.
    path: PathBuf,
    place: PathBuf,
}

impl Target {
    pub(super) fn create(output: &Output) -> Result<Self, String> {
        match output {
            Output::Standard => {
                let file = io::stdout().as_fd().try_clone_to_owned();
                let file = file.map_err(|error| format!("standard output: {error}"))?;
                Ok(Self::Standard(Patient(file.into())))
            }
            Output::File(place) => Unfinished::create(place)
                .map(Self::File)
                .map_err(|error| format!("cannot write {}: {error}", place.display())),
        }
    }

    pub(super) fn is_on_terminal(&self) -> bool {
        match self {
            Self::Standard(Patient(file)) => file.is_terminal(),
            Self::File(_) => false,
        }
    }

    /// Puts the file in its place, with the permissions of its source.
    pub(super) fn commit(self, source: &Source, force: bool) -> Result<(), String> {
        let Self::File(file) = self else { return Ok(()) };
        let place = file.place.clone();
        file.commit(source.regular(), force).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => exists(&place),
            _ => format!("cannot write {}: {error}", place.display()),
        })
    }
}

impl Unfinished {
    fn create(place: &Path) -> io::Result<Self> {
        let mut random = [0; 8];
        lanecrypt_random::try_fill(&mut random).map_err(io::Error::other)?;
        let name = format!(".lanecrypt-{:016x}.part", u64::from_ne_bytes(random));
        let path = place.with_file_name(name);
        // Together, so that a signal finds both or none.
        let mut unfinished = unfinished();
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        *unfinished = Some(path.clone());
        Ok(Self { file, path, place: place.to_owned() })
    }

    fn commit(self, source: Option<&Metadata>, force: bool) -> io::Result<()> {
        if let Some(source) = source {
            keep_permissions(&self.file, source)?;
        }
        self.file.sync_all()?;
        let mut unfinished = unfinished();
        match force {
            true => fs::rename(&self.path, &self.place)?,
            false => rename_to_new(&self.path, &self.place)?,
        }
        *unfinished = None;
        drop(unfinished);
        // The name lasts when its folder is written. Not every file system can do that on request.
        let folder = self.place.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = unfinished().take() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Renames a file, unless there is one of the new name.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system without that, such as NFS.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        renamed => Ok(renamed?),
    }
}

/// Owner, group and rights of the source, as far as the system lets it. A group that cannot be kept
/// gives its rights to nobody else.
fn keep_permissions(file: &File, source: &Metadata) -> io::Result<()> {
    let meta = file.metadata()?;
    let mut mode = source.permissions().mode() & 0o777;
    if meta.uid() != source.uid() {
        // Only root may give files away.
        let _ = fchown(file, Some(Uid::from_raw(source.uid())), None);
    }
    if meta.gid() != source.gid() && fchown(file, None, Some(Gid::from_raw(source.gid()))).is_err()
    {
        mode &= 0o707;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

impl Write for Target {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(file) => file.write(data),
            Self::File(file) => file.file.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
