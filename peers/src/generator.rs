//! A random number generator as the tables measure it.

/// One generator, used by one thread.
///
/// The loops are inside the implementation, so that a dynamic call happens once a batch and
/// nothing but the request itself is inside the loop.
///
/// # Panics
///
/// Drawing panics when the generator fails in the middle of a measurement, because there is
/// no time that could be reported. [`GeneratorPeer::make`] has tried it before.
pub trait Generator {
    /// Draws `requests` 32-bit words, by the generator's own 32-bit call where there is one and
    /// else by a 4-byte fill, and returns their XOR.
    fn words(&mut self, requests: usize) -> u32;

    /// Fills the whole of `buffer`, `requests` times.
    fn fills(&mut self, buffer: &mut [u8], requests: usize);

    /// Has the generator drop what it has buffered and take a new key from the kernel; false if it
    /// has no call for that, or if the call failed.
    fn rekey(&mut self) -> bool;
}

/// Whether a peer can be measured here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Availability {
    /// It can; the version that was found.
    Found(String),
    /// It cannot; what to do about it, for people, such as `apt install libsodium23`.
    Missing(String),
}

/// A generator that a table can measure, as the points of the results name it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GeneratorPeer {
    /// The project it comes from: `openssl`, `kernel`, `rand`, …
    pub source: &'static str,
    /// The entry point that is timed: `rand-bytes`, `vdso`, `thread-rng-held`, …
    pub api: &'static str,
    /// The cipher behind it where it is known: `chacha12`, `aes-256-ctr`, …
    pub subject: &'static str,
    /// Whether it can be measured here.
    pub availability: Availability,
    /// Makes one generator for the calling thread; `None` when the peer is missing or a first
    /// draw of 32 bytes fails. Any number of threads may call it at the same time.
    pub make: fn() -> Option<Box<dyn Generator>>,
}

impl GeneratorPeer {
    /// A peer of the version that was `found`, if it also works; else the hint in the error.
    pub(crate) fn tried(
        source: &'static str,
        api: &'static str,
        subject: &'static str,
        found: Result<String, String>,
        make: fn() -> Option<Box<dyn Generator>>,
    ) -> Self {
        let availability = match found {
            Ok(version) if make().is_some() => Availability::Found(version),
            Ok(version) => {
                Availability::Missing(format!("{source} {version} refuses to work here"))
            }
            Err(hint) => Availability::Missing(hint),
        };
        Self { source, api, subject, availability, make }
    }
}
