//! Random bytes from the kernel: by system call, or through the vDSO where it has a generator.

use crate::errno::Errno;
use crate::error::{EntropyError, abort};
use crate::vdso;
use crate::word::Word;

/// Fills `out` by system call: reading this process's memory does not tell these bytes.
///
/// # Errors
///
/// What the system call answers, except interruption, after which it is made again.
pub(crate) fn ask(out: &mut [u8]) -> Result<(), EntropyError> {
    fill(vdso::State::NONE, out)
}

/// Fills `out` from the kernel, through the vDSO if it can.
///
/// `state` is this owner's state of the kernel's generator in the vDSO, if there is one. The vDSO
/// notices by itself when it is entered again in a signal handler or after a fork.
///
/// # Errors
///
/// As for [`ask`].
pub(crate) fn fill(state: vdso::State, out: &mut [u8]) -> Result<(), EntropyError> {
    let mut rest = out;
    while !rest.is_empty() {
        let written = match vdso::getrandom(state, rest) {
            Some(written) if written > 0 => written,
            _ => system_call(rest)?,
        };
        // Never more than was asked for; a wrong count must not become a panic.
        let written = written.min(rest.len());
        rest = &mut rest[written..];
    }
    Ok(())
}

/// Fills `out` for a draw that finds its generator in use.
///
/// By system call: this may be a signal handler, and the draw that it interrupted inside of the
/// vDSO.
///
/// # Errors
///
/// As for [`ask`].
#[cold]
#[inline(never)]
pub(crate) fn stand_in(out: &mut [u8]) -> Result<(), EntropyError> {
    let _errno = Errno::keep();
    ask(out)
}

/// [`stand_in`] for a number; aborts where that returns an error.
#[cold]
#[inline(never)]
pub(crate) fn stand_in_word<W: Word>() -> W {
    W::by(stand_in).unwrap_or_else(|error| abort(error))
}

/// One `getrandom` system call; returns how many bytes it wrote, at least one.
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
