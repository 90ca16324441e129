//! The built-in drivers.

mod null;
mod software;

pub use null::Null;
pub(crate) use software::serve_class;
