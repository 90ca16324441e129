//! Several client processes at a time: this process tells them what to do, and waits for all.

use std::sync::Arc;

use super::daemons::Daemons;
use super::process::{Job, Order, Process, Reply};
use crate::row::{Arena, Workload};
use crate::verify::{self, Defect};

/// A job of several processes.
pub(super) struct Many {
    daemons: Arc<Daemons>,
    job: Job,
    processes: usize,
    /// Folded from the digests of all.
    digest: u64,
}

impl Many {
    pub(super) fn new(daemons: &Arc<Daemons>, job: Job, processes: usize) -> Self {
        Self { daemons: daemons.clone(), job, processes, digest: 0 }
    }

    /// Tells all processes the same; their samples and their digest.
    fn all(&mut self, order: &Order) -> Result<Vec<Vec<u8>>, Defect> {
        let replies = self.daemons.with_clients(self.processes, |clients| {
            for client in &mut *clients {
                client.tell(order).or(Err(Defect::Failed))?;
            }
            // Everybody is heard, so that the next order finds no answer of this one.
            let heard: Vec<Option<Reply>> =
                clients.iter_mut().map(|client: &mut Process| client.hear().ok()).collect();
            heard.into_iter().map(outcome).collect::<Result<Vec<_>, Defect>>()
        });
        let replies = replies.ok_or(Defect::Failed)??;
        let digests = replies.iter().map(|(_, digest)| digest);
        self.digest = digests.fold(0, |folded: u64, digest| folded.rotate_left(1) ^ digest);
        Ok(replies.into_iter().map(|(sample, _)| sample).collect())
    }
}

fn outcome(reply: Option<Reply>) -> Result<(Vec<u8>, u64), Defect> {
    match reply {
        Some(Reply::Done { sample, digest }) => Ok((sample, digest)),
        Some(Reply::Wrong) => Err(Defect::Answer),
        Some(Reply::Failed) | None => Err(Defect::Failed),
    }
}

impl Workload for Many {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.all(&Order::Begin(self.job.clone())).map(|_| ())
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        if self.all(&Order::Run(self.job.clone(), requests)).is_err() {
            panic!("a client process failed in the middle of a measurement");
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        self.digest
    }

    fn check(&mut self, _arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        let samples = self.all(&Order::Prepare(self.job.clone()))?;
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        if verify::repeats(&samples) {
            return Err(Defect::Repeats);
        }
        Ok(Vec::new())
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.all(&Order::Check(self.job.clone())).map(|_| ())
    }
}
