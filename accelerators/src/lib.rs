//! Drivers of an engine that share load and stand in for each other, and simulated accelerator
//! cards.
//!
//! [`Balanced`] is a [`Driver`](lanecrypt_engine::Driver) made of several others: each batch goes
//! to the one that it costs least, or is divided among them. With migration, sessions move when
//! their driver fails. [`model`] has a driver that takes the time that a card would take, and says
//! from which size on a card is faster than software. Both only use what every driver can use.

#![forbid(unsafe_code)]

mod balanced;
pub mod model;

pub use balanced::{Balanced, Member, MembersError};
