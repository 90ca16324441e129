//! Operations, single and many at once, against published values and other implementations.

mod allocations;
mod common;
mod keys;
mod mixed;
mod vectors;
mod wiped;
mod wycheproof;
