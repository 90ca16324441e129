//! Measurement: ours beside its peers, interleaved in one process, on the user's machine.
//!
//! [`run`] measures what [`Options`] ask for and gives [`Results`], the JSON of schema 1, and text
//! for people. All cycles are those of the time-stamp counter; [`Machine`] tells how long one is.
//!
//! # Method
//!
//! The measuring thread is pinned to one processor, its helper in rows of two threads to another;
//! rows of more threads than processors share these out evenly, in longer batches.
//! Each row is timed in batches of about a millisecond; the rows take turns in shuffled order, so
//! that whatever disturbs the machine disturbs all of them; batches that lost their processor are
//! made again. A figure is the median of the batches with its 95 % interval, and a row is done
//! when that is narrower than one per cent. Nothing is ranked whose answers were not checked (see
//! [`Defect`]) or whose interval overlaps with the next one's.

#![deny(unsafe_code)]

mod bandwidth;
mod ciphers;
pub mod clock;
mod contender;
mod crew;
mod depth;
mod draws;
mod fit;
mod glob;
mod interrupt;
mod machine;
mod options;
mod ours;
mod processors;
mod progress;
mod repeats;
mod results;
mod rivals;
mod row;
mod run;
mod sampler;
mod statistics;
mod tables;
mod text;
mod unsynchronised;
mod verify;

pub use depth::Depth;
pub use fit::Fit;
pub use glob::Glob;
pub use interrupt::on_interrupt;
pub use lanecrypt_peers::{BadLibrary, CannotOpen, PeerLibraries, streams};
pub use machine::{Library, Machine};
pub use options::{Error, Options, Peers, Table, UnknownTable, usual_times};
pub use results::{Point, Results, SCHEMA, fastest};
pub use run::{Report, run};
pub use statistics::Estimate;
pub use verify::Defect;

#[cfg(test)]
mod tests;
