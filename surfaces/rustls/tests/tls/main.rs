//! Our provider with itself and with those that it stands on, from single records to servers.

mod appendix_a;
mod connections;
mod damage;
mod packets;
mod pairings;
mod parties;
#[cfg(feature = "pk")]
mod pool;
mod provider;
mod quinn_server;
mod records;
/// The packaged example has them, so that its tests are whole.
#[path = "../../../../lanecrypt/examples/shared/rfc9001.rs"]
mod rfc9001;
mod schedule;
#[cfg(feature = "pk")]
mod tasks;
mod tokio_server;
mod wiped;
