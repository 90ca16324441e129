//! Peer: `SystemRandom` of aws-lc-rs, a CTR-DRBG with AES-256 in each thread (NIST SP 800-90A).

use aws_lc_rs::rand::{SecureRandom, SystemRandom};

use crate::{Draw, Failed, GeneratorPeer, generator};

pub(crate) fn generators() -> [GeneratorPeer; 1] {
    let version = aws_lc_rs::awslc_version().to_owned();
    [GeneratorPeer::tried("aws-lc", "system-random", "aes-256-ctr", Ok(version), || {
        generator(Fill(SystemRandom::new()))
    })]
}

struct Fill(SystemRandom);

impl Draw for Fill {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.fill(buffer).map_err(|_| Failed)
    }
}
