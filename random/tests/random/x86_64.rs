//! Cases that step through instructions or read registers.

#![cfg(target_arch = "x86_64")]

mod bytes;
mod erasure;
mod frames;
mod signals;

use lanecrypt_testing::harness::Case;

pub(crate) const CASES: [&[Case]; 4] =
    [bytes::CASES, erasure::CASES, frames::CASES, signals::CASES];
