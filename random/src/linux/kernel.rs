//! Random bytes from the kernel: by system call, or through the vDSO if it has a generator.

use crate::error::{EntropyError, abort};
use crate::linux::errno::Errno;
use crate::linux::vdso;
use crate::linux::word::Word;

/// Fills `out` by system call. These bytes cannot be computed from this process's memory.
///
/// # Errors
///
/// The error of the system call, except interruption, after which the call is repeated.
pub(crate) fn ask(out: &mut [u8]) -> Result<(), EntropyError> {
    fill(vdso::State::NONE, out)
}

/// Fills `out` from the kernel, through the vDSO if possible.
///
/// `state` is this owner's state of the kernel's generator in the vDSO, if there is one. The vDSO
/// detects re-entry in a signal handler or after a fork.
///
/// # Errors
///
/// Same as [`ask`].
pub(crate) fn fill(state: vdso::State, out: &mut [u8]) -> Result<(), EntropyError> {
    let mut rest = out;
    while !rest.is_empty() {
        let written = match vdso::getrandom(state, rest) {
            Some(written) if written > 0 => written,
            _ => system_call(rest)?,
        };
        // At most the requested length: a wrong count must not cause a panic.
        let written = written.min(rest.len());
        rest = &mut rest[written..];
    }
    Ok(())
}

/// Fills `out` for a draw whose generator is in use.
///
/// By system call: this may be a signal handler that interrupted a draw inside of the vDSO.
///
/// # Errors
///
/// Same as [`ask`].
#[cold]
#[inline(never)]
pub(crate) fn stand_in(out: &mut [u8]) -> Result<(), EntropyError> {
    let _errno = Errno::keep();
    ask(out)
}

/// Same as [`stand_in`], for a number. Aborts where that returns an error.
#[cold]
#[inline(never)]
pub(crate) fn stand_in_word<W: Word>() -> W {
    W::by(stand_in).unwrap_or_else(|error| abort(error))
}

/// Makes one `getrandom` system call. Returns how many bytes it wrote, at least one.
fn system_call(out: &mut [u8]) -> Result<usize, EntropyError> {
    loop {
        // SAFETY: the pointer and the length describe memory that this function may write.
        let result = unsafe { libc::syscall(libc::SYS_getrandom, out.as_mut_ptr(), out.len(), 0) };
        match usize::try_from(result) {
            Ok(0) => return Err(EntropyError::from_code(libc::EIO)),
            Ok(written) => return Ok(written),
            Err(_) => {}
        }
        let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if code != libc::EINTR {
            return Err(EntropyError::from_code(code));
        }
    }
}
