//! Random bytes of a daemon, as a row repeats the requests.

use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_device::Message;
use lanecrypt_peers::Failed;

use super::link::Link;
use crate::ciphers::sessions;
use crate::row::{Arena, Workload};
use crate::verify::{self, Defect};

/// Bytes that are looked at before anything is timed.
const SAMPLE: usize = 64 << 10;
/// The shortest end of a request that is never all zeros: once in 2^128 times.
const END: usize = 16;

/// Requests for random bytes.
pub(super) struct Fills {
    link: Arc<Mutex<Link>>,
    depth: usize,
    /// One of each request in flight.
    buffers: Vec<Box<[u8]>>,
}

impl Fills {
    /// Requests of `size` bytes, of which `depth` are in flight; one is a blocked call.
    pub(super) fn new(link: &Arc<Mutex<Link>>, size: usize, depth: usize) -> Self {
        let buffers = (0..depth).map(|_| vec![0; size].into_boxed_slice()).collect();
        Self { link: link.clone(), depth, buffers }
    }

    fn requests(&mut self, requests: usize) -> Result<(), Failed> {
        let Self { link, depth, buffers } = self;
        let client = &mut link.lock().unwrap_or_else(PoisonError::into_inner).client;
        if let [buffer] = &mut buffers[..] {
            return (0..requests).try_for_each(|_| client.fill(buffer)).or(Err(Failed));
        }
        let (mut given, mut done) = (0, 0);
        while done < requests {
            while given < requests
                && given - done < *depth
                && let Some(buffer) = buffers.pop()
            {
                client.submit(Message::fill(buffer)).or(Err(Failed))?;
                given += 1;
            }
            let mut completion = client.wait().or(Err(Failed))?;
            while let Some(came) = completion {
                came.outcome.or(Err(Failed))?;
                buffers.push(came.buffer);
                done += 1;
                completion = client.poll().or(Err(Failed))?;
            }
        }
        Ok(())
    }

    /// Draws a sample that looks random, or says what is wrong with it.
    pub(super) fn sample(&mut self) -> Result<Vec<u8>, Defect> {
        let mut sample = Vec::with_capacity(SAMPLE);
        while sample.len() < SAMPLE {
            self.buffers.iter_mut().for_each(|buffer| buffer.fill(0));
            self.requests(self.depth)?;
            for buffer in &self.buffers {
                let end = buffer.len().saturating_sub(END);
                if buffer.len() >= END && buffer[end..].iter().all(|&byte| byte == 0) {
                    return Err(Defect::Unfilled);
                }
                let rest = SAMPLE - sample.len();
                sample.extend(&buffer[..buffer.len().min(rest)]);
            }
        }
        verify::look_random(&sample)?;
        Ok(sample)
    }

    /// Gets ready for a batch.
    pub(super) fn ready(&mut self) -> Result<(), Defect> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).wake()?;
        Ok(self.requests(self.depth)?)
    }
}

impl Workload for Fills {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.ready()
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        if self.requests(requests).is_err() {
            panic!("the daemon's random bytes failed in the middle of a measurement");
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        let each = self.buffers.iter().map(|buffer| sessions::digest(buffer));
        each.fold(0, |folded, digest| folded.rotate_left(7) ^ digest)
    }

    fn check(&mut self, _arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        self.sample()
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.sample().map(|_| ())
    }
}
