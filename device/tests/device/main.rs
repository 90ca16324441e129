//! Daemons, their clients, and the driver `device`. One program, because linking is what takes most
//! of the time of a small one.

#![cfg(target_os = "linux")]

mod daemon;
mod futures;
mod hostile;
#[cfg(feature = "pk")]
mod hostile_exchange;
#[cfg(feature = "rsa")]
mod hostile_rsa;
mod isolation;
mod lifecycle;
#[cfg(feature = "pk")]
mod named_curve_keys;
#[cfg(feature = "pk")]
mod named_exchange_keys;
mod named_keys;
#[cfg(feature = "rsa")]
mod named_rsa_keys;
mod requests;
#[cfg(feature = "rsa")]
mod rsa;
mod soak;
#[cfg(feature = "pk")]
mod upgrade;
mod users;
mod vectors;
