//! Our provider with itself and with those that it stands on, from single records to servers.

mod appendix_a;
mod connections;
mod damage;
mod packets;
mod pairings;
mod parties;
mod provider;
mod quinn_server;
mod records;
/// The packaged example has them, so that its tests are whole.
#[path = "../../../../lanecrypt/examples/shared/rfc9001.rs"]
mod rfc9001;
mod tokio_server;
mod wiped;
