//! As `armaes`, with EOR3.

kernel!(ArmSha3, armsha3, #[target_feature(enable = "aes,sha3")]);
