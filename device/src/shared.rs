//! Memory that a client and the daemon share: rings, flags, and the arena of data.
//!
//! Either side may be hostile to the other, so nothing here is ever a Rust value: bytes are copied
//! by one routine, each word of a ring once, and the copy is checked. The only references are to
//! atomic numbers, which others may change.
//!
//! All `unsafe` code of the crate is in this folder.

#[cfg_attr(target_arch = "x86_64", path = "shared/x86_64.rs")]
mod arch;
mod copy;
mod count;
mod layout;
mod mapping;
pub(crate) mod processor;
pub(crate) mod rights;
pub(crate) mod wakeup;

pub(crate) use self::layout::Layout;
pub(crate) use self::mapping::{Mapping, Side};
