//! Sessions, batches, drivers and queues: what needs no process of its own. One program, because
//! linking is what takes most of the time of a small one.

#[cfg(feature = "pk")]
mod agreement;
#[cfg(feature = "pk")]
mod agreement_queues;
#[cfg(feature = "pk")]
mod agreements;
mod batches;
#[cfg(feature = "pk")]
mod curves;
mod driver_names;
mod drivers;
#[cfg(any(feature = "pk", feature = "rsa"))]
mod encoding;
mod faults;
mod fuzz_inputs;
mod jobs;
mod lanes;
#[cfg(feature = "openssl")]
mod openssl;
#[cfg(feature = "openssl")]
mod openssl_vectors;
mod queue_futures;
mod queue_local;
mod queue_worker;
mod queues;
mod refusals;
mod reuse;
#[cfg(feature = "rsa")]
mod rsa;
#[cfg(feature = "rsa")]
#[path = "../../../rsa/tests/common/mod.rs"]
mod rsa_common;
#[cfg(feature = "rsa")]
mod rsa_drivers;
#[cfg(feature = "rsa")]
mod rsa_queues;
#[cfg(feature = "rsa")]
mod rsa_vectors;
mod sent;
#[cfg(feature = "rsa")]
mod signatures;
#[cfg(feature = "rsa")]
mod signers;
mod threads;
mod unfinished;
mod wycheproof;
