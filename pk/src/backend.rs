//! Which implementation serves requests.

/// Which implementation serves requests. Outcomes are the same.
///
/// Unlike this crate, AWS-LC allocates, and may lock, during each operation. A forked child of a
/// process with several threads must not use it: choose [`Own`](Self::Own) there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Whatever costs least: lanes where enough requests of one operation are processed together,
    /// and otherwise AWS-LC (feature `aws-lc`) or this crate.
    #[default]
    Measured,
    /// This crate and those in Rust that it uses; no AWS-LC.
    Own,
    /// Lanes for every request, even where they cost more. For tests and measurements.
    Lanes,
    /// AWS-LC for all that it takes, one request after another.
    #[cfg(feature = "aws-lc")]
    AwsLc,
}

impl Backend {
    /// All backends of this build.
    pub const ALL: &'static [Self] = &[
        Self::Measured,
        Self::Own,
        Self::Lanes,
        #[cfg(feature = "aws-lc")]
        Self::AwsLc,
    ];
}
