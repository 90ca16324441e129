//! Peer: the kernel's generator by system call, through the vDSO and as a file.

use std::fs::File;
use std::os::fd::AsRawFd;

use lanecrypt_kernels::Level;

use crate::library::text;
use crate::project::{Hold, Project};
use crate::{Draw, Failed, Generator, Peer, PeerLibraries, generator};

#[cfg(target_os = "linux")]
mod vdso;

const DEVICE: &str = "/dev/urandom";

pub(crate) struct Kernel;

impl Project for Kernel {
    fn source(&self) -> &'static str {
        "kernel"
    }

    /// The generator uses no instructions above the portable level.
    fn hold(&self, _level: Level) -> Hold {
        Hold::Yes
    }

    fn generators(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        let version = Ok(release());
        let peer = |api, found: &Result<String, String>, make: fn() -> Option<_>| {
            Peer::generator(["kernel", api, "chacha20"], found, move |_| make())
        };
        vec![
            #[cfg(target_os = "linux")]
            peer("getrandom", &version, || generator(GetRandom)),
            #[cfg(target_os = "linux")]
            peer("vdso", &vdso::check().and(version.clone()), vdso::make),
            peer("read", &device().and(version), || generator(Read(File::open(DEVICE).ok()?))),
        ]
    }
}

fn device() -> Result<(), String> {
    File::open(DEVICE).map(drop).map_err(|error| format!("cannot open {DEVICE}: {error}"))
}

/// The kernel's release, such as `6.12.9-amd64`.
fn release() -> String {
    // SAFETY: the structure consists of byte arrays, for which zero is a value.
    let mut names = unsafe { core::mem::zeroed::<libc::utsname>() };
    // SAFETY: uname fills the structure that it is given.
    let failed = unsafe { libc::uname(&raw mut names) } != 0;
    if failed {
        return "unknown".to_owned();
    }
    // SAFETY: uname ended the string with a zero byte.
    unsafe { text(names.release.as_ptr()) }
}

/// The system call itself: the function of the C library goes through the vDSO since glibc 2.41.
#[cfg(target_os = "linux")]
struct GetRandom;

#[cfg(target_os = "linux")]
impl Draw for GetRandom {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        fill_by(buffer, |rest| {
            // SAFETY: the kernel writes at most `rest.len()` bytes to a buffer of that size.
            unsafe { libc::syscall(libc::SYS_getrandom, rest.as_mut_ptr(), rest.len(), 0_u32) }
        })
    }
}

/// One open descriptor of the device.
struct Read(File);

impl Draw for Read {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        let descriptor = self.0.as_raw_fd();
        fill_by(buffer, |rest| {
            // SAFETY: the kernel writes at most `rest.len()` bytes to a buffer of that size.
            unsafe { libc::read(descriptor, rest.as_mut_ptr().cast(), rest.len()) }
        })
    }
}

/// Repeats a call that may return less than was asked for, or be interrupted by a signal.
#[inline]
fn fill_by<N: TryInto<usize>>(
    mut rest: &mut [u8],
    mut call: impl FnMut(&mut [u8]) -> N,
) -> Result<(), Failed> {
    while !rest.is_empty() {
        match call(rest).try_into() {
            Ok(0) => return Err(Failed),
            Ok(written) => rest = rest.get_mut(written..).ok_or(Failed)?,
            Err(_) => Failed::unless(interrupted())?,
        }
    }
    Ok(())
}

#[cold]
fn interrupted() -> bool {
    std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_are_continued_and_failures_are_not() {
        let mut buffer = [0; 5];
        let mut calls = 0;
        let filled = fill_by(&mut buffer, |rest| {
            calls += 1;
            let part = rest.len().min(2);
            rest[..part].fill(calls);
            part
        });
        assert_eq!((filled, buffer), (Ok(()), [1, 1, 2, 2, 3]));
        assert_eq!(fill_by(&mut buffer, |_| 0_usize), Err(Failed));
        assert_eq!(fill_by(&mut buffer, |rest| rest.len() + 1), Err(Failed));
        let closed = |_: &mut [u8]| {
            // SAFETY: there is no such descriptor, and nothing may be written.
            unsafe { libc::read(-1, core::ptr::null_mut(), 0) }
        };
        assert_eq!(fill_by(&mut buffer, closed), Err(Failed));
    }

    #[test]
    fn the_release_is_the_kernels() {
        let file = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux has it");
        assert_eq!(release(), file.trim_end());
    }
}
