//! Peer: `arc4random` of the C library (glibc 2.36 and later, musl has none).
//!
//! glibc forwards every request to the kernel: by system call until 2.40, through the vDSO since
//! 2.41 where the kernel has it.

use core::ffi::c_char;
use std::sync::OnceLock;

use lanecrypt_kernels::Level;

use crate::arc4random::Arc4Random;
use crate::library::{Open, text};
use crate::peer::Versioned;
use crate::project::{Hold, Project};
use crate::{Generator, Peer, PeerLibraries, generator};

pub(crate) struct Glibc;

impl Project for Glibc {
    fn source(&self) -> &'static str {
        "glibc"
    }

    /// The bytes are the kernel's.
    fn hold(&self, _level: Level) -> Hold {
        Hold::Yes
    }

    fn generators(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        let found = functions().ok_or_else(|| "needs glibc 2.36 or later".to_owned());
        vec![Peer::generator(["glibc", "arc4random", "chacha20"], &found, |functions| {
            generator(functions.random)
        })]
    }
}

struct Functions {
    version: String,
    random: Arc4Random,
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
    Some(Functions { version, random: Arc4Random { word, fill } })
}
