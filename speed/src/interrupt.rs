//! Ends a run early when the user interrupts it.

use core::sync::atomic::AtomicBool;
use std::io;
use std::sync::Arc;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// A flag that the first interrupt (Ctrl-C) sets; the second ends the program with status 130.
///
/// # Errors
///
/// If the kernel refuses the handler.
pub fn on_interrupt() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    // In this order: the first interrupt must find the flag unset here, and then set it.
    flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&stop))?;
    flag::register(SIGINT, Arc::clone(&stop))?;
    Ok(stop)
}
