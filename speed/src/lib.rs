//! Measurement: ours beside its peers, interleaved in one process, on the user's machine.
//!
//! [`run`] measures the points that [`Options`] select. It returns [`Results`], the JSON of schema
//! 1, and text for people. All cycles are those of the time-stamp counter; [`Machine`] has their
//! length.
//!
//! # Method
//!
//! The measuring thread is pinned to one processor, and its helper in rows of two threads to
//! another. Rows of more threads than processors spread them evenly, in longer batches. Each row is
//! timed in batches of about a millisecond. The rows take turns in shuffled order, so that a
//! disturbance of the machine affects all of them. Batches that lost their processor are repeated.
//! A figure is the median of the batches with its 95 % interval, and a row is done when that is
//! narrower than one per cent. A row is ranked only if its answers were checked (see [`Defect`])
//! and its interval does not overlap with the next one's.

#![deny(unsafe_code)]

mod card_report;
mod chosen;
mod ciphers;
pub mod clock;
mod compare;
mod contender;
mod crew;
mod depth;
mod device;
mod draws;
mod emulator;
mod fit;
mod glob;
mod interrupt;
mod machine;
mod options;
mod ours;
mod processors;
mod progress;
mod results;
mod ring;
mod rivals;
mod row;
mod run;
mod sampler;
mod software;
mod statistics;
mod table;
mod tables;
mod text;
mod unsynchronised;
mod verify;

pub use card_report::card_report;
pub use chosen::{UnknownTable, usual_times};
pub use compare::{Change, Comparison, differences};
pub use depth::Depth;
pub use device::DeviceOptions;
pub use emulator::emulator;
pub use fit::Fit;
pub use glob::Glob;
pub use interrupt::on_interrupt;
pub use lanecrypt_peers::{BadLibrary, CannotOpen, PeerLibraries, streams};
pub use machine::{Library, Machine};
pub use options::{Error, Options, Peers, Table};
pub use results::{Point, Results, SCHEMA, fastest};
pub use run::{Report, run};
pub use statistics::Estimate;
pub use tables::device::child;
pub use verify::Defect;

#[cfg(test)]
mod tests;
