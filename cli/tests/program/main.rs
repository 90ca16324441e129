//! The built program, as its users meet it.

mod arguments;
mod check;
mod check_tags;
mod random;
mod support;
mod terminal;
