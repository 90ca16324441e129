//! What the tests of this crate share.

pub(crate) mod arena;
pub(crate) mod careless;
pub(crate) mod drawer;
pub(crate) mod expected;
pub(crate) mod listener;
pub(crate) mod maps;
pub(crate) mod numbered;
pub(crate) mod processors;
pub(crate) mod toy;
pub(crate) mod windows;
pub(crate) mod x86_64;
