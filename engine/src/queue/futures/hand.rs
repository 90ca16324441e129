//! A worker, as its queue holds it.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::super::Settings;
use super::super::jobs::Taken;
use super::super::service::Service;
use super::super::worker::shared::Shared;
use super::super::worker::thread::Worker;
use super::slots::{Outlet, Slots};
use crate::lanes::Lanes;

/// A worker, as its queue holds it.
pub(super) struct Hand {
    pub(super) shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

impl Hand {
    /// A worker that processes these jobs and stores its completions in these places.
    pub(super) fn new<B: AsMut<[u8]> + Send + 'static>(
        jobs: Taken<B>,
        places: Arc<Slots<B>>,
        lanes: Lanes,
        settings: &Settings,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(settings.depth));
        let service = Service::new(lanes, settings.depth);
        let outlet = Outlet::new(places, service.most());
        let worker = Worker::new(jobs, outlet, shared.clone(), service, settings);
        let thread = thread::Builder::new().name("lanecrypt-queue".into());
        Ok(Self { shared, thread: thread.spawn(move || worker.run())? })
    }

    /// Wakes the worker if it sleeps.
    pub(super) fn ring(&self) {
        if self.shared.worker.is_due() {
            self.thread.thread().unpark();
        }
    }

    /// Requests the worker to end after it has completed all messages.
    pub(super) fn close(&self) {
        self.shared.closed.set();
    }

    /// Waits until the worker has ended.
    pub(super) fn join(self) {
        // The worker does not panic; if it did, there is nothing more to do.
        let _ = self.thread.join();
    }

    /// Forgets a worker that does not exist in this process.
    pub(super) fn forget(self) {
        core::mem::forget(self.thread);
    }
}
