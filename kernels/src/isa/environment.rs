//! The environment variable `LANECRYPT_ISA`, which lowers the level.

#[cfg(any(target_os = "linux", target_os = "android"))]
use std::fs::File;
#[cfg(any(target_os = "linux", target_os = "android", test))]
use std::io::{ErrorKind, Read};

use super::Level;

/// The level that the variable names, unless the program runs with more rights than its caller.
///
/// The kernel gives the environment that the program was started with. `getenv` would race with
/// threads that call `setenv`, because a library can be loaded while threads run. Opening and
/// reading a file take no lock and no memory, and a signal handler may do both.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn wanted() -> Option<Level> {
    // Miri has no auxiliary vector.
    // SAFETY: getauxval reads the process's auxiliary vector and has no preconditions.
    let secure = cfg!(miri) || unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    if secure {
        return None;
    }
    named(File::open("/proc/self/environ").ok()?)
}

/// The level that the variable names. The system itself orders calls that read and change it.
#[cfg(windows)]
pub(super) fn wanted() -> Option<Level> {
    std::env::var("LANECRYPT_ISA").ok()?.parse().ok()
}

/// Elsewhere nobody can read the environment while another thread may call `setenv`.
#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
pub(super) fn wanted() -> Option<Level> {
    None
}

/// The level that the first `LANECRYPT_ISA` in `environment` names, if any. Each entry ends with
/// a zero byte.
#[cfg(any(target_os = "linux", target_os = "android", test))]
fn named(mut environment: impl Read) -> Option<Level> {
    // Longer entries are cut off: they name no level.
    let mut entry = [0; 32];
    let mut length = 0;
    let mut piece = [0; 512];
    loop {
        let read = match environment.read(&mut piece) {
            Ok(0) => return None,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        for &byte in piece.get(..read)? {
            if byte != 0 {
                if let Some(place) = entry.get_mut(length) {
                    *place = byte;
                    length += 1;
                }
                continue;
            }
            let whole = entry.get(..length)?;
            length = 0;
            if let Some(value) = whole.strip_prefix(b"LANECRYPT_ISA=") {
                return Level::OF_TARGET
                    .iter()
                    .find(|level| level.name().as_bytes() == value)
                    .copied();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of any length, at any place in the pieces that are read.
    #[test]
    fn the_environment_names_a_level() {
        use std::io::{self, Read};

        /// Gives one byte at a time.
        struct Bytewise<'a>(&'a [u8]);

        impl Read for Bytewise<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let end = buffer.len().min(1);
                self.0.read(&mut buffer[..end])
            }
        }

        let long = |length: usize| [b"LONG=", vec![b'x'; length].as_slice(), b"\0"].concat();
        // Names of other architectures name nothing.
        let level = |name: &str| name.parse().ok();
        let cases: [(&[u8], Option<Level>); 9] = [
            (b"", None),
            (b"LANECRYPT_ISA=avx2\0", level("avx2")),
            (b"LANECRYPT_ISA=avx2vaes\0HOME=/\0", level("avx2vaes")),
            (b"LANECRYPT_ISA=portable\0LANECRYPT_ISA=avx2\0", Some(Level::Portable)),
            (b"LANECRYPT_ISA=z80\0LANECRYPT_ISA=avx2\0", None),
            (b"LANECRYPT_ISA=portable and much more\0", None),
            (b"LANECRYPT_ISA=\0", None),
            (b"XLANECRYPT_ISA=avx2\0lanecrypt_isa=avx2\0LANECRYPT_IS=avx2\0", None),
            // The end is missing, so the value may be, too.
            (b"LANECRYPT_ISA=avx2", None),
        ];
        for (entries, level) in cases {
            for before in [0, 1, 26, 27, 28, 485, 500, 506, 507, 5000] {
                let environment = [&long(before), entries].concat();
                assert_eq!(named(environment.as_slice()), level, "{before}");
                assert_eq!(named(Bytewise(&environment)), level, "{before}");
            }
        }
    }
}
