//! The built-in drivers.

#[cfg(feature = "model")]
#[cfg_attr(docsrs, doc(cfg(feature = "model")))]
pub mod model;
mod null;
mod software;

pub use null::Null;
pub(crate) use software::serve_class;
