//! Drivers that share load and stand in for each other, and cards that are descriptions only.

mod balanced;
mod flaky;
#[cfg(target_os = "linux")]
mod key_memory;
mod migration;
mod model;
mod model_files;
mod model_study;
mod queue_failures;
#[allow(dead_code, reason = "the tests of the engine use the rest")]
#[path = "../../../engine/tests/engine/queues/mod.rs"]
mod queues;
#[cfg(feature = "rsa")]
mod rsa;
#[cfg(feature = "rsa")]
#[allow(unexpected_cfgs, reason = "it asks for features of its own crate")]
#[path = "../../../rsa/tests/common/mod.rs"]
mod rsa_common;
#[cfg(feature = "rsa")]
#[allow(dead_code, reason = "the tests of the engine use the rest")]
#[path = "../../../engine/tests/engine/signatures.rs"]
mod signatures;
#[cfg(feature = "rsa")]
#[path = "../../../engine/tests/engine/signers.rs"]
mod signers;
