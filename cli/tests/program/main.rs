//! The built program, as its users meet it.

mod arguments;
#[cfg(target_os = "linux")]
mod attack;
mod begin;
mod check;
mod check_rsa;
mod check_tags;
mod compare;
#[cfg(target_os = "linux")]
mod count;
mod crypt;
mod device;
mod engine;
mod files;
mod handshakes;
mod interrupt;
mod isa;
mod model;
mod openssl;
mod random;
mod report;
mod serve;
mod streams;
mod support;
mod terminal;
#[cfg(target_os = "linux")]
mod upgrade;
