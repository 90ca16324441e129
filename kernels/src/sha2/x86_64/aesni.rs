//! SHA-256 with SHA-NI.
//!
//! A processor that has AES-NI need not have SHA-NI. Those without it run the portable kernel.

use super::shani;
use crate::Level;
use crate::sha2::portable;
use crate::sha2::streams::Jobs;

pub(crate) const NEEDS: Level = Level::AesNi;

pub(crate) fn absorb256(jobs: Jobs<'_, u32>) {
    if has_sha() {
        // SAFETY: the processor has SHA-NI, and at this level SSE4.1.
        unsafe { shani::absorb(jobs) }
    } else {
        portable::absorb256(jobs);
    }
}

pub(crate) fn step256(states: &mut [[u32; 8]], blocks: &[[u8; 64]]) {
    if has_sha() {
        // SAFETY: the processor has SHA-NI, and at this level SSE4.1.
        unsafe { shani::step(states, blocks) }
    } else {
        portable::step256(states, blocks);
    }
}

/// Without detection, this is what the program was compiled for.
pub(crate) fn has_sha() -> bool {
    #[cfg(feature = "std")]
    {
        std::arch::is_x86_feature_detected!("sha")
    }
    #[cfg(not(feature = "std"))]
    {
        cfg!(target_feature = "sha")
    }
}
