//! Whether a program runs the instructions of this process, in place of a processor.

use std::fs::read_link;

/// The name of the program that runs this process, such as `qemu-s390x`; none on a processor.
///
/// Figures of such a run say what the emulator costs, and nothing of a processor. User-mode
/// emulators (qemu, Valgrind) answer for `/proc/self/exe` with the program that they run, and leave
/// the same link of a thread alone. Emulators of a whole machine are not recognised.
#[must_use]
pub fn emulator() -> Option<String> {
    let claimed = read_link("/proc/self/exe").ok()?;
    let runs = read_link("/proc/thread-self/exe").ok()?;
    if claimed == runs {
        return None;
    }
    Some(runs.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the kernel's architecture is that of the program, tests run on a processor.
    #[test]
    fn a_processor_is_no_emulator() {
        let arch = std::fs::read_to_string("/proc/sys/kernel/arch").unwrap_or_default();
        if !arch.is_empty() {
            assert_eq!(emulator().is_some(), arch.trim() != std::env::consts::ARCH);
        }
    }
}
