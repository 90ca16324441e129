//! Random bytes for handshakes.

use rustls::crypto::{GetRandomFailed, SecureRandom};

/// The calling thread's generator.
#[derive(Debug)]
pub(crate) struct Random;

impl SecureRandom for Random {
    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        lanecrypt_random::try_fill(buf).map_err(|_| GetRandomFailed)
    }
}
