//! The driver `model`: a simulated accelerator card.
//!
//! A [`Card`] describes the cost of its requests: the host's part, the bus, the engines. A [`Host`]
//! describes the times of a system call, a context switch and an interrupt, and optionally of its
//! software. Both are TOML files; [`Card::BUILT_IN`] and [`Host::BUILT_IN`] list those that are
//! part of this crate. A [`Model`] is a [`Driver`](lanecrypt_engine::Driver) that returns correct
//! results at the time at which the card would. [`Card::nanoseconds`] and [`break_even`] compute
//! without waiting whether a card would help.
//!
//! ```
//! use lanecrypt_accelerators::model::{Card, Host, Work, break_even};
//! use lanecrypt_engine::Algorithm;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let card = Card::built_in("broadcom-5820").expect("it is built in");
//! let host = Host::built_in("host-2003").expect("it is built in");
//!
//! let alone = card.nanoseconds(&host, Work::rsa(1024), 1).expect("it has an engine for RSA");
//! let many = card.nanoseconds(&host, Work::rsa(1024), 32).expect("it has an engine for RSA");
//! assert!(alone > 1.9 * many, "one blocked thread leaves the card idle");
//!
//! let software = |bytes| host.software(Work::new(Algorithm::TRIPLE_DES_CBC, bytes), 1);
//! let even = break_even(&card, &host, Algorithm::TRIPLE_DES_CBC, 1, software);
//! assert!(even.expect("it has this engine").from > Some(64), "small requests lose");
//! # Ok(())
//! # }
//! ```

mod break_even;
mod card;
mod demand;
mod driver;
mod faults;
mod file_error;
mod host;
mod rates;
mod read;
mod schedule;

pub use break_even::{BreakEven, break_even};
pub use card::Card;
pub use demand::{Figure, Work};
pub use driver::{Model, VirtualClock};
pub use faults::{Fault, Faults};
pub use file_error::FileError;
pub use host::Host;
