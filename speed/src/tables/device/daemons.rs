//! The daemons of a run, one for each setting, and the connections of this process to them.

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
    daemons: BTreeMap<Setting, Process>,
    links: BTreeMap<Setting, Arc<Mutex<Link>>>,
    clients: Vec<Process>,
    folder: Option<Folder>,
}

impl Daemons {
    pub(super) fn new(device: &DeviceOptions) -> Arc<Self> {
        let (device, all) = (device.clone(), processors::allowed());
        Arc::new(Self { device, all, running: Mutex::default() })
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
        let socket = self.started(&mut running, setting)?;
        let link = Arc::new(Mutex::new(Link::connect(&socket, setting)?));
        running.links.insert(setting, link.clone());
        Some(link)
    }

    /// The socket of the daemon of a setting.
    pub(super) fn socket(&self, setting: Setting) -> Option<PathBuf> {
        self.started(&mut self.running(), setting)
    }

    fn started(&self, running: &mut Running, setting: Setting) -> Option<PathBuf> {
        if let Some(socket) = &self.device.socket {
            return Some(socket.clone());
        }
        let Running { daemons, folder, .. } = running;
        if folder.is_none() {
            *folder = Some(Folder::new()?);
        }
        let socket = folder.as_ref()?.0.join(setting.suffix());
        if let Entry::Vacant(place) = daemons.entry(setting) {
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
            let client = Process::start(&self.device.command).ok()?;
            running.clients.push(client);
        }
        Some(work(running.clients.get_mut(..count)?))
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A directory for sockets, which only this user may enter. It is removed in the end.
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
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
