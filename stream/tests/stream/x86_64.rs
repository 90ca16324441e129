//! What is looked for in freed memory.

#![cfg(target_arch = "x86_64")]

mod wiped;
