//! The built-in drivers.

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod null;
#[cfg(feature = "openssl")]
mod openssl;
mod software;

#[cfg(feature = "aws-lc")]
pub use aws_lc::AwsLc;
pub use null::Null;
#[cfg(feature = "openssl")]
pub use openssl::{OpenSsl, OpenSslError};
pub(crate) use software::serve_class;
