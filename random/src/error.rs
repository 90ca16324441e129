//! The only error of this crate, and aborting the process where no error can be returned.

use core::fmt;

/// The kernel gave no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntropyError {
    code: i32,
}

impl EntropyError {
    /// The value for an error without a number.
    #[cfg(not(target_os = "linux"))]
    pub(crate) const UNKNOWN: i32 = 0;

    #[cold]
    pub(crate) const fn from_code(code: i32) -> Self {
        Self { code }
    }

    /// The error number of the system call, as in `errno(3)`. It is 0 on systems other than Linux
    /// that return none.
    #[must_use]
    pub const fn raw_os_error(self) -> i32 {
        self.code
    }
}

impl fmt::Display for EntropyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = std::io::Error::from_raw_os_error(self.code);
        write!(f, "the kernel gave no random bytes: {reason}")
    }
}

impl core::error::Error for EntropyError {}

impl From<EntropyError> for std::io::Error {
    fn from(error: EntropyError) -> Self {
        Self::from_raw_os_error(error.code)
    }
}

/// Aborts the process, because the caller expects random bytes and must not receive anything else.
///
/// Async-signal-safe: no allocation and no lock.
#[cold]
#[inline(never)]
pub(crate) fn abort(error: EntropyError) -> ! {
    let mut line = *b"lanecrypt: the kernel gave no random bytes (error 000); aborting\n";
    let code = error.code.unsigned_abs();
    for (place, digit) in line[50..53].iter_mut().zip([code / 100, code / 10, code]) {
        *place = b'0' + u8::try_from(digit % 10).unwrap_or(0);
    }
    say(&line);
    std::process::abort()
}

/// The result of a request. With `ABORT`, an error ends the process instead.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn or_abort<const ABORT: bool>(
    result: Result<(), EntropyError>,
) -> Result<(), EntropyError> {
    match result {
        Err(error) if ABORT => abort(error),
        result => result,
    }
}

/// Ends the process for another reason.
#[cfg(all(feature = "study", target_os = "linux"))]
#[cold]
#[inline(never)]
pub(crate) fn abort_because(reason: &str) -> ! {
    for part in ["lanecrypt: ", reason, "; aborting\n"] {
        say(part.as_bytes());
    }
    std::process::abort()
}

#[cfg(target_os = "linux")]
fn say(text: &[u8]) {
    // SAFETY: the pointer and the length describe a live slice.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
}

#[cfg(not(target_os = "linux"))]
fn say(text: &[u8]) {
    // Without standard error the message is lost.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text);
}
