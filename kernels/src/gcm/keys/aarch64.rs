//! Kernels of AArch64.
#![cfg(target_arch = "aarch64")]

pub(crate) mod armaes {
    use crate::aes::aarch64::armaes::{expand128, expand192, expand256};
    use crate::ghash::aarch64::armaes::fill_from;

    level!(ArmAes, "aes");
}
