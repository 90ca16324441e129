//! Peer: `arc4random` of the C library (glibc 2.36 and later, musl has none).
//!
//! glibc forwards every request to the kernel: by system call until 2.40, through the vDSO since
//! 2.41 where the kernel has it.

use core::ffi::{c_char, c_void};
use std::sync::OnceLock;

use crate::library::{Open, text};
use crate::peer::Versioned;
use crate::project::Project;
use crate::{Draw, Failed, Generator, Peer, PeerLibraries, generator};

pub(crate) struct Glibc;

impl Project for Glibc {
    fn generators(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        let found = functions().ok_or_else(|| "needs glibc 2.36 or later".to_owned());
        vec![Peer::generator(["glibc", "arc4random", "chacha20"], &found, |functions| {
            generator(Arc4Random { word: functions.word, fill: functions.fill })
        })]
    }
}

struct Functions {
    version: String,
    word: unsafe extern "C" fn() -> u32,
    fill: unsafe extern "C" fn(*mut c_void, usize),
}

impl Versioned for &'static Functions {
    fn version(&self) -> String {
        self.version.clone()
    }
}

/// Found by name, because a program that links `arc4random` does not start with an older glibc.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(find).as_ref()
}

fn find() -> Option<Functions> {
    let program = Open::program();
    // SAFETY: the type is that of gnu/libc-version.h.
    let version = unsafe {
        program.symbol::<unsafe extern "C" fn() -> *const c_char>(c"gnu_get_libc_version")
    }
    .ok()?;
    // SAFETY: the type is that of stdlib.h; the C library stays loaded.
    let word = unsafe { program.symbol(c"arc4random") }.ok()?;
    // SAFETY: the type is that of stdlib.h; the C library stays loaded.
    let fill = unsafe { program.symbol(c"arc4random_buf") }.ok()?;
    // SAFETY: takes no arguments.
    let version = unsafe { version() };
    // SAFETY: the C library returns a static string.
    let version = unsafe { text(version) };
    Some(Functions { version, word, fill })
}

struct Arc4Random {
    word: unsafe extern "C" fn() -> u32,
    fill: unsafe extern "C" fn(*mut c_void, usize),
}

impl Draw for Arc4Random {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        // SAFETY: writes `buffer.len()` bytes to a buffer of that size; aborts when it cannot.
        unsafe { (self.fill)(buffer.as_mut_ptr().cast(), buffer.len()) };
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        // SAFETY: takes nothing; aborts when it cannot answer.
        Ok(unsafe { (self.word)() })
    }
}
