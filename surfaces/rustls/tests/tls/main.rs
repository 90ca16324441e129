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
mod tokio_server;
