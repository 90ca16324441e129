//! The levels of AArch64.
#![cfg(target_arch = "aarch64")]

use super::Level;

levels! {
    is_aarch64_feature_detected:
    Neon => "neon";
    // Detection and compiler mean both AES and PMULL by it.
    ArmAes => "aes";
    ArmSha3 => "sha3";
}
