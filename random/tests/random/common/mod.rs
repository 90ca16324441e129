//! What the tests of this crate share.

pub(crate) mod arena;
pub(crate) mod careless;
pub(crate) mod drawer;
pub(crate) mod expected;
#[cfg(target_arch = "x86_64")]
pub(crate) mod frames;
pub(crate) mod listener;
pub(crate) mod maps;
pub(crate) mod numbered;
pub(crate) mod processors;
#[cfg(target_arch = "x86_64")]
pub(crate) mod stepping;
pub(crate) mod toy;
#[cfg(target_arch = "x86_64")]
pub(crate) mod traces;
pub(crate) mod windows;
