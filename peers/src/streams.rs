//! Whether the program was started without standard input or output (`<&-`, `>&-`).
//!
//! Before `main`, Rust's library opens `/dev/null` in place of each closed standard stream. From
//! then on the two cannot be distinguished: it opens for reading and writing without further flags,
//! as Python, Node and `daemon` do for programs whose output is not wanted. So the descriptors are
//! checked earlier.

use core::sync::atomic::{AtomicU8, Ordering};

/// A bit for each of the descriptors 0 and 1 that was closed. Written before `main`, when there is
/// one thread; relaxed, because it publishes nothing else.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Whether standard input was closed when the program started.
#[must_use]
pub fn input_was_closed() -> bool {
    was_closed(libc::STDIN_FILENO)
}

/// Whether standard output was closed when the program started.
#[must_use]
pub fn output_was_closed() -> bool {
    was_closed(libc::STDOUT_FILENO)
}

fn was_closed(descriptor: i32) -> bool {
    CLOSED.load(Ordering::Relaxed) & 1 << descriptor != 0
}

/// Run by the C library before Rust's begins. If it is not run, no stream counts as closed.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn before_main() {
        for descriptor in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
            // SAFETY: reads the flags of a descriptor, which fails only if it is closed.
            if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
                CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
            }
        }
    }
    before_main
};
