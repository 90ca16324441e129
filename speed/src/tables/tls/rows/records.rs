//! Records of TLS 1.3.

use lanecrypt_ciphers::Algorithm;

use super::connections::Link;
use super::providers::Provider;
use crate::ciphers::Sizes;
use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// Records over one pair of connections.
pub(super) struct Records {
    provider: Provider,
    algorithm: Algorithm,
    sizes: Sizes,
    link: Link,
    /// What is sent, other bytes in each batch.
    data: Vec<u8>,
    /// What has come.
    came: Vec<u8>,
    /// The records that were sent; the sizes of a mix follow from it.
    sent: usize,
    /// Moves what rustls allocates, to another place in each batch.
    pad: Vec<u8>,
}

/// More than a record, so that no gap that records have left takes it.
const LEAST_PAD: usize = 32 << 10;
/// The distances of places, in cache lines of a page.
const PLACES: usize = 64;

impl Records {
    pub(super) fn new(provider: &Provider, algorithm: Algorithm, sizes: Sizes) -> Option<Self> {
        let link = Link::new(provider, provider, algorithm)?;
        let (data, came) = (vec![0; sizes.longest()], vec![0; sizes.longest()]);
        let provider = provider.clone();
        Some(Self { provider, algorithm, sizes, link, data, came, sent: 0, pad: Vec::new() })
    }

    /// The length of the next record: an odd step goes through all lengths of a mix in an order
    /// that is hard to predict.
    fn next(&mut self) -> usize {
        self.sent = self.sent.wrapping_add(97);
        self.sizes.of(self.sent)
    }

    /// Records go to another provider and come from it, and damaged ones are refused.
    fn checked(&mut self) -> Result<(), Defect> {
        let others = self.provider.reference();
        for (from, to) in [(&self.provider, &others), (&others, &self.provider)] {
            let mut link = Link::new(from, to, self.algorithm).ok_or(Defect::Failed)?;
            for round in 0..32 {
                let length = self.sizes.of(97 * round);
                let (data, came) = (&mut self.data[..length], &mut self.came[..length]);
                lanecrypt_random::fill(data);
                link.write(data).or(Err(Defect::Failed))?;
                // What is sent is protected.
                if link.wire.windows(16).any(|window| data.starts_with(window)) {
                    return Err(Defect::Answer);
                }
                link.read(came).or(Err(Defect::RejectReason))?;
                if data != came {
                    return Err(Defect::Answer);
                }
            }
        }
        for place in 0..3 {
            let (from, to) = (&others, &self.provider);
            let mut link = Link::new(from, to, self.algorithm).ok_or(Defect::Failed)?;
            let length = self.sizes.longest();
            link.write(&self.data[..length]).or(Err(Defect::Failed))?;
            // Behind the header: the first byte, one in the middle, and one of the tag.
            let at = [5, link.wire.len() / 2, link.wire.len() - 1][place];
            link.wire[at] ^= 0x20;
            if link.read(&mut self.came[..length]).is_ok() {
                return Err(Defect::Forgery);
            }
        }
        Ok(())
    }
}

impl Workload for Records {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        lanecrypt_random::fill(&mut self.data);
        // C libraries copy 16 KiB by one instruction, which takes ten thousand cycles more at some
        // distances of the two places. Rustls copies what it opens into memory of its own, so the
        // same row would always be lucky, or never.
        self.pad = Vec::new();
        self.pad = Vec::with_capacity(LEAST_PAD + 64 * lanecrypt_random::range(0..PLACES));
        Ok(())
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        for _ in 0..requests {
            let length = self.next();
            let passed = self.link.pass(&self.data[..length], &mut self.came[..length]);
            assert!(passed.is_ok(), "a record failed in the middle of a measurement: {passed:?}");
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        super::packets::folded(&self.came)
    }

    fn check(&mut self, _arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        // Nothing is random here, so nothing has to differ between threads.
        self.checked().map(|()| Vec::new())
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        // As much as every record of the last batch had.
        let length = self.sizes.of(0);
        if self.came[..length] != self.data[..length] {
            return Err(Defect::Answer);
        }
        self.checked()
    }
}
