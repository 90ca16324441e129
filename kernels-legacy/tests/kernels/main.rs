//! Every kernel against published values, other implementations and the portable kernel, at every
//! instruction set.

mod arc4;
mod des;
#[path = "../../../kernels/tests/kernels/guards.rs"]
mod guards;
mod hc128;
mod lanes_des;
mod lanes_guards;
mod lanes_salsa;
mod lanes_serpent;
mod modes;
#[path = "../../../kernels/tests/kernels/places.rs"]
mod places;
mod salsa;
mod serpent;
#[path = "../../../kernels/tests/kernels/streams.rs"]
mod streams;
