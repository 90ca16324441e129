//! Our generator outside of Linux: the functions at the root, which ask the system.

use lanecrypt_peers::{Draw, Failed, generator};

use crate::candidate::Candidate;

/// The entry point of the functions at the root.
pub(crate) const DEFAULT: &str = "default";

struct Root;

impl Draw for Root {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        lanecrypt_random::try_fill(buffer).map_err(|_| Failed)
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(lanecrypt_random::u32())
    }
}

/// Our generators in the tables by size.
pub(crate) fn by_size() -> Vec<Candidate> {
    vec![Candidate::new(["lanecrypt", DEFAULT, "system"], || generator(Root))]
}

/// None has kernels of ours.
pub(crate) fn by_level() -> Vec<Candidate> {
    Vec::new()
}
