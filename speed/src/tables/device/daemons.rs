//! The daemons of a run and the connections of this process to them. Each setting has one for this
//! process and one for client processes: a daemon that looks for requests of many clients needs
//! longer for each, even if they have none.

use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::link::Link;
use super::process::{Order, Process, Reply};
use super::setting::Setting;
use crate::device::DeviceOptions;
use crate::processors;

/// Whose daemon it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    ThisProcess,
    Clients,
}

/// The daemons of a run. Each is started when it is first asked for, and ends with this value.
pub(super) struct Daemons {
    device: DeviceOptions,
    /// The processors, that of the measuring thread first.
    all: Vec<usize>,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    /// Before the folder, so that daemons end while their sockets are there.
    daemons: BTreeMap<(Setting, Of), Process>,
    links: BTreeMap<Setting, Arc<Mutex<Link>>>,
    clients: Vec<Process>,
    folder: Option<Folder>,
}

impl Running {
    fn folder(&mut self) -> Option<&Folder> {
        if self.folder.is_none() {
            self.folder = Some(Folder::new()?);
        }
        self.folder.as_ref()
    }
}

impl Daemons {
    pub(super) fn new(device: &DeviceOptions) -> Arc<Self> {
        let (device, all) = (device.clone(), processors::allowed());
        Arc::new(Self { device, all, running: Mutex::default() })
    }

    /// Tries to reach a daemon, if there is to be one.
    ///
    /// # Errors
    ///
    /// A reason for people.
    pub(super) fn probe(&self) -> Result<(), String> {
        let setting = match (self.settings(), &self.device.socket) {
            ([], _) => return Ok(()),
            (_, Some(_)) => Setting::Given,
            _ => Setting::Auto,
        };
        match (self.link(setting), &self.device.socket) {
            (Some(_), _) => Ok(()),
            (None, Some(path)) => Err(format!("no daemon serves at {}", path.display())),
            (None, None) => Err("no daemon can be started here".to_owned()),
        }
    }

    /// The settings that can be measured; none if there is no daemon.
    pub(super) fn settings(&self) -> &'static [Setting] {
        match (&self.device.socket, &self.device.command[..]) {
            (Some(_), _) => &[Setting::Given],
            (None, []) => &[],
            (None, _) => &Setting::OURS,
        }
    }

    /// The same for several processes.
    pub(super) fn settings_of_processes(&self) -> &'static [Setting] {
        match (&self.device.socket, &self.device.command[..]) {
            (_, []) => &[],
            (Some(_), _) => &[Setting::Given],
            (None, _) => &Setting::OF_PROCESSES,
        }
    }

    pub(super) fn command(&self) -> &[OsString] {
        &self.device.command
    }

    pub(super) fn processors(&self) -> &[usize] {
        &self.all
    }

    /// The connection of this process to the daemon of a setting.
    pub(super) fn link(&self, setting: Setting) -> Option<Arc<Mutex<Link>>> {
        let mut running = self.running();
        if let Some(link) = running.links.get(&setting) {
            return Some(link.clone());
        }
        let socket = self.started(&mut running, setting, Of::ThisProcess)?;
        let link = Arc::new(Mutex::new(Link::connect(&socket, setting)?));
        running.links.insert(setting, link.clone());
        Some(link)
    }

    /// The socket of the daemon that client processes have in a setting.
    pub(super) fn socket(&self, setting: Setting) -> Option<PathBuf> {
        self.started(&mut self.running(), setting, Of::Clients)
    }

    fn started(&self, running: &mut Running, setting: Setting, of: Of) -> Option<PathBuf> {
        if let Some(socket) = &self.device.socket {
            return Some(socket.clone());
        }
        let name = match of {
            Of::ThisProcess => setting.suffix().to_owned(),
            Of::Clients => format!("{}-clients", setting.suffix()),
        };
        let socket = running.folder()?.0.join(name);
        let Running { daemons, .. } = running;
        if let Entry::Vacant(place) = daemons.entry((setting, of)) {
            let mut daemon = Process::start(&self.device.command).ok()?;
            let spin_us = u64::try_from(setting.spin().as_micros()).unwrap_or(0);
            let processors = setting.of_daemon(&self.all);
            daemon.tell(&Order::Daemon { socket: socket.clone(), processors, spin_us }).ok()?;
            if daemon.hear().ok()? != Reply::DONE {
                return None;
            }
            place.insert(daemon);
        }
        Some(socket)
    }

    /// Has `work` use this many client processes; none if they cannot be started.
    pub(super) fn with_clients<T>(
        &self,
        count: usize,
        work: impl FnOnce(&mut [Process]) -> T,
    ) -> Option<T> {
        let mut running = self.running();
        while running.clients.len() < count {
            let token = running.folder()?.token()?;
            let client = Process::start_with(&self.device.command, Some(&token)).ok()?;
            running.clients.push(client);
        }
        Some(work(running.clients.get_mut(..count)?))
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A directory for sockets and the folder of a token, which only this user may enter. It is removed
/// in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Option<Self> {
        // It numbers the directories of this process, and orders nothing.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lanecrypt-speed-{}-{number}", process::id());
        let path = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&path).ok()?;
        Some(Self(path))
    }

    /// The settings of a token whose folder is in this one.
    fn token(&self) -> Option<PathBuf> {
        let (settings, tokens) = (self.0.join("softhsm2.conf"), self.0.join("tokens"));
        DirBuilder::new().recursive(true).mode(0o700).create(&tokens).ok()?;
        fs::write(&settings, format!("directories.tokendir = {}\n", tokens.display())).ok()?;
        Some(settings)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
