//! What the module has done in a process that runs.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;

/// The first bytes of the counts in the module's writable data; they begin at a multiple of 64.
const NAME: &[u8; 16] = b"lanecrypt-counts";
/// The counts that follow, 64 bits each.
const COUNTS: [&str; 8] =
    ["contexts", "messages", "draws", "signatures", "together", "checks", "keys", "agreements"];
/// More than the writable data of a module has.
const MOST: u64 = 4 << 20;

/// The line that the module itself writes at the end of a process (`count =`).
///
/// # Errors
///
/// The process cannot be read, or does not have the module.
pub(super) fn of_process(process: u32) -> Result<String, String> {
    let counts = counts(process).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("process {process}: there is none"),
        ErrorKind::PermissionDenied => {
            format!("process {process}: its memory can be read by root only")
        }
        _ => format!("process {process}: {error}"),
    })?;
    let counts = counts.ok_or_else(|| format!("process {process}: has not loaded the provider"))?;
    let mut line = format!("process {process}");
    for (name, count) in COUNTS.iter().zip(counts) {
        line += &format!(" {name} {count}");
    }
    Ok(line + "\n")
}

/// The counts, if the process has loaded the module. Nothing of the process is trusted: wrong data
/// make wrong counts.
fn counts(process: u32) -> io::Result<Option<[u64; COUNTS.len()]>> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let memory = File::open(format!("/proc/{process}/mem"))?;
    for place in maps.lines().filter_map(writable_file) {
        let mut data = vec![0; (place.end - place.start).min(MOST) as usize];
        // Taken away meanwhile, if it cannot be read.
        if memory.read_exact_at(&mut data, place.start).is_err() {
            continue;
        }
        for at in (0..data.len()).step_by(64) {
            let words = data[at..].strip_prefix(NAME).map(|rest| rest.as_chunks().0);
            if let Some(words) = words.and_then(|words| words.first_chunk()) {
                return Ok(Some(words.map(u64::from_ne_bytes)));
            }
        }
    }
    Ok(None)
}

/// The addresses of a line of `maps`, if they are the process's own copy of a file's data.
fn writable_file(line: &str) -> Option<core::ops::Range<u64>> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let is_writable = fields.next()?.starts_with("rw-p");
    let has_file = fields.nth(3)?.starts_with('/');
    let [start, end] = [start, end].map(|text| u64::from_str_radix(text, 16).ok());
    (is_writable && has_file).then_some(start?..end?).filter(|place| place.start <= place.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read() {
        let line = "7f00a000-7f00b000 rw-p 00010000 fd:00 99   /lib/a b.so (deleted)";
        assert_eq!(writable_file(line), Some(0x7f00_a000..0x7f00_b000));
        for line in [
            "",
            "7f00a000-7f00b000 r--p 00010000 fd:00 99   /lib/a.so",
            "7f00a000-7f00b000 rw-s 00010000 fd:00 99   /lib/a.so",
            "7f00a000-7f00b000 rw-p 00000000 00:00 0",
            "7f00a000-7f00b000 rw-p 00000000 00:00 0    [heap]",
            "7f00b000-7f00a000 rw-p 00010000 fd:00 99   /lib/a.so",
            "x-7f00a000 rw-p 00010000 fd:00 99   /lib/a.so",
        ] {
            assert_eq!(writable_file(line), None, "{line}");
        }
    }

    #[test]
    fn processes_without_the_module_have_no_counts() {
        let reason = of_process(std::process::id()).expect_err("none");
        assert!(reason.contains("has not loaded"), "{reason}");
        let reason = of_process(u32::MAX).expect_err("no process");
        assert!(reason.contains("there is none"), "{reason}");
    }
}
