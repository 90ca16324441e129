//! Measurement: ours beside its peers, interleaved in one process, on the user's machine.
//!
//! [`run`] measures the points that [`Options`] select. It returns [`Results`], the JSON of schema
//! 2, and text for people. Cycles are those of the time-stamp counter, or of the core on other
//! processors than x86-64; [`Machine`] has their length.
//!
//! # Method
//!
//! The measuring thread is pinned to one processor, and its helper in rows of two threads to
//! another. Rows of more threads than processors spread them evenly, in longer batches.
//!
//! A run is several short passes over all rows. A row has up to eleven batches of 0.3 ms in each,
//! and its figure there is their median. The order is another one in each pass, and each row is
//! once in every part of it. Two loops of known cost before and after each batch show whether
//! another guest of the host used the core; such batches do not count, nor do those that lost their
//! processor. A row's figure is the median of its passes. Its 95 % interval is that of the passes.
//! It is half a per cent wide to each side at least, because runs differ by that. Rows whose
//! interval is wider than one per cent to each side get further passes while there is time. A row
//! is ranked only if its answers were checked (see [`Defect`]), it is firm (see [`Point::is_firm`])
//! and its interval does not overlap with the next one's.
//!
//! [`Conditions`] tell what else the machine did.
//!
//! # Systems
//!
//! It runs on Linux. CI compiles it for macOS, where it has not been run. Outside of Linux there
//! are no tables `cprng` and `device` and no counts of instructions, nothing is pinned, and what else
//! the machine did is not known.

#![deny(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, unused_imports, reason = "what only tables of Linux use")
)]

mod block;
mod candidate;
mod card_report;
mod ciphers;
pub mod clock;
mod compare;
mod conditions;
#[cfg(target_os = "linux")]
mod count;
mod depth;
mod device;
#[cfg(target_os = "linux")]
mod draw;
mod drawing;
mod emulator;
mod figure;
mod fit;
mod glob;
mod interrupt;
#[cfg(target_os = "linux")]
mod kernel_check;
mod machine;
mod options;
#[cfg_attr(not(target_os = "linux"), path = "own_generators/other_os.rs")]
mod own_generators;
mod peer_set;
mod plan;
mod processor_model;
mod processors;
mod progress;
mod reference;
mod results;
mod ring;
mod row;
mod run;
mod sampler;
mod scope;
mod selection;
mod software;
mod statistics;
mod table;
mod tables;
mod text;
mod thread_team;
#[cfg(target_os = "linux")]
mod unsynchronised;
mod verdict;
mod verify;
mod view;
mod worker;

pub use block::{Block, Sheet};
pub use card_report::card_report;
pub use compare::{Change, Comparison, differences};
pub use conditions::Conditions;
#[cfg(target_os = "linux")]
pub use count::{Counts, count, counted};
pub use depth::Depth;
pub use device::DeviceOptions;
pub use drawing::{Drawing, Measure, Side};
pub use emulator::emulator;
pub use fit::Fit;
pub use glob::Glob;
pub use interrupt::on_interrupt;
pub use lanecrypt_peers::{
    BadLibrary, CannotHold, CannotOpen, PeerLibraries, environment, streams,
};
pub use machine::{Hold, Library, Machine};
pub use options::{Error, Options, Peers, Shown, Table};
pub use processor_model::processor_model;
pub use results::{Point, Results, SCHEMA, fastest};
pub use run::{Report, run};
pub use selection::{UnknownTable, usual_times};
pub use statistics::Estimate;
#[cfg(target_os = "linux")]
pub use tables::device::child;
pub use tables::{drawings, sheets, verdict};
pub use verify::Defect;
pub use worker::work;

#[cfg(test)]
#[path = "../tests/unit/runs.rs"]
mod tests;
