//! GCM with AES instructions and PMULL. Constant time in key and data.

kernel!(ArmAes, armaes, #[target_feature(enable = "aes")]);
