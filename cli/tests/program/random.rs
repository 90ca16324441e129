//! `lanecrypt random`: sizes, formats, threads, and how it ends.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Output, Stdio};

use crate::support::{assert_one_line, errors, lanecrypt, run};

fn random(arguments: &[&str]) -> Output {
    let output = run(lanecrypt(&[&["random"], arguments].concat()), b"");
    assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
    assert!(output.stderr.is_empty(), "{arguments:?}: {}", errors(&output));
    output
}

/// Whether the bytes could come from a generator: no value is much too frequent.
fn looks_random(bytes: &[u8]) -> bool {
    let mut counts = [0_usize; 256];
    bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let expected = bytes.len() / 256;
    counts.iter().all(|&count| count.abs_diff(expected) < expected / 2)
}

/// Every core with a generator that it has.
const CORES: [(&str, &str); 18] = [
    ("fastest", "erasing"),
    ("fastest", "rekeying"),
    ("chacha20", "erasing"),
    ("chacha12", "erasing"),
    ("chacha8", "erasing"),
    ("salsa20", "erasing"),
    ("salsa12", "erasing"),
    ("salsa8", "erasing"),
    ("aes-256-ctr", "erasing"),
    ("chacha20", "rekeying"),
    ("chacha12", "rekeying"),
    ("chacha8", "rekeying"),
    ("salsa20", "rekeying"),
    ("salsa12", "rekeying"),
    ("salsa8", "rekeying"),
    ("aes-256-ctr", "rekeying"),
    ("hc128", "rekeying"),
    ("arc4", "rekeying"),
];

const PLACEMENTS: [&str; 3] = ["per-thread", "per-cpu", "shared"];

/// Runs any core; the one that is broken says so in one line.
fn random_of(core: &str, generator: &str, more: &[&str]) -> Vec<u8> {
    let chosen = ["random", "--core", core, "--generator", generator];
    let output = run(lanecrypt(&[&chosen, more].concat()), b"");
    assert!(output.status.success(), "{core} {more:?}: {}", errors(&output));
    if core == "arc4" {
        let warning = errors(&output);
        assert!(warning.contains("ARC4 is broken") && warning.contains("study only"), "{warning}");
        assert_eq!(warning.matches('\n').count(), 1, "{warning}");
    } else {
        assert!(output.stderr.is_empty(), "{core} {more:?}: {}", errors(&output));
    }
    output.stdout
}

#[test]
fn sizes_are_exact_for_every_core_and_any_number_of_threads() {
    for (core, generator) in CORES {
        for (size, bytes) in [("0", 0), ("1", 1), ("1kB", 1000), ("1MiB", 1 << 20)] {
            let out = random_of(core, generator, &[size]);
            assert_eq!(out.len(), bytes, "{core} {size}");
            assert!(bytes < 1 << 19 || looks_random(&out), "{core} {generator}");
        }
    }
    for threads in ["1", "2", "3", "17", "256"] {
        for bytes in [0, 5, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 7_654_321] {
            let output = random(&[&bytes.to_string(), "--threads", threads]);
            assert_eq!(output.stdout.len(), bytes, "{threads} threads");
            assert!(bytes < 1 << 19 || looks_random(&output.stdout), "{threads} threads");
        }
    }
}

#[test]
fn text_is_complete_across_pieces() {
    for threads in ["1", "2", "5"] {
        for bytes in [0_usize, 1, 2, 3, 4, 31, (1 << 19) + 1, 2_000_000, 3 << 18, (3 << 18) + 1] {
            let size = bytes.to_string();
            let hex = random(&[&size, "--format", "hex", "--threads", threads]).stdout;
            assert_eq!(hex.len(), 2 * bytes + 1);
            assert_eq!(hex.last(), Some(&b'\n'));
            let digit = |c: &u8| c.is_ascii_digit() || (b'a'..=b'f').contains(c);
            assert!(hex[..2 * bytes].iter().all(digit));

            let base64 = random(&[&size, "--format", "base64", "--threads", threads]).stdout;
            assert_eq!(base64.len(), bytes.div_ceil(3) * 4 + 1);
            assert_eq!(base64.last(), Some(&b'\n'));
            let padding = (3 - bytes % 3) % 3;
            let (body, end) = base64[..base64.len() - 1].split_at(base64.len() - 1 - padding);
            assert!(end.iter().all(|&c| c == b'='));
            let letter = |c: &u8| c.is_ascii_alphanumeric() || b"+/".contains(c);
            assert!(body.iter().all(letter), "{bytes}");
        }
    }
}

#[test]
fn two_runs_differ() {
    for (core, generator) in CORES {
        let runs = [(); 3].map(|()| random_of(core, generator, &["32"]));
        assert!(runs[0] != runs[1] && runs[1] != runs[2] && runs[0] != runs[2], "{core}");
    }
}

/// Threads that share a generator, or a processor's, write no piece twice.
#[test]
fn every_placement_serves_every_core() {
    for (core, generator) in CORES {
        for placement in PLACEMENTS {
            let more = ["3M", "--placement", placement, "--threads", "4"];
            let out = random_of(core, generator, &more);
            assert!(out.len() == 3 << 20 && looks_random(&out), "{core} {generator} {placement}");
            let mut blocks: Vec<_> = out.as_chunks::<16>().0.to_vec();
            blocks.sort_unstable();
            assert!(blocks.is_sorted_by(|a, b| a < b), "{core} {generator} {placement}: twice");
        }
    }
}

/// A cipher that cannot erase its keys is used only by who asks for that.
#[test]
fn what_does_not_exist_is_refused() {
    for core in ["hc128", "arc4"] {
        for more in [&[][..], &["--generator", "erasing"], &["--placement", "shared"]] {
            let output = run(lanecrypt(&[&["random", "1", "--core", core], more].concat()), b"");
            assert_one_line(&output, 2, "needs --generator rekeying");
            assert!(errors(&output).contains(core) && output.stdout.is_empty(), "{core} {more:?}");
        }
    }
}

#[test]
fn no_size_is_endless_and_a_closed_pipe_ends_it_quietly() {
    for arguments in
        [&["random"][..], &["random", "--threads", "3"], &["random", "--format", "hex"]]
    {
        let mut child = lanecrypt(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut seen = vec![0; 5_000_000];
        let mut pipe = child.stdout.take().expect("a pipe");
        pipe.read_exact(&mut seen).expect("it does not end by itself");
        drop(pipe);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty(), "{}", errors(&output));
    }
}

#[test]
fn a_full_disk_is_one_line_with_the_number_of_bytes() {
    for arguments in [&["random", "100"][..], &["random"], &["random", "9M", "--threads", "2"]] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
        let child = lanecrypt(arguments).stdout(full).stderr(Stdio::piped()).spawn();
        let output = child.and_then(|child| child.wait_with_output()).expect("it ends");
        assert_one_line(&output, 1, "after 0 bytes: No space left on device");
    }
}

#[test]
fn every_instruction_set_writes_the_same_number_of_bytes() {
    for level in ["portable", "ssse3", "aesni", "avx2", "avx2vaes", "avx512"] {
        for core in ["chacha20", "salsa12", "aes-256-ctr"] {
            let mut command = lanecrypt(&["random", "123457", "--core", core]);
            command.env("LANECRYPT_ISA", level);
            let output = run(command, b"");
            assert!(output.stdout.len() == 123_457 && looks_random(&output.stdout), "{level}");
        }
    }
}

/// A limit on the size of files stands in for a disk that fills up half way.
#[test]
fn a_short_write_says_how_far_it_came() {
    let file = std::env::temp_dir().join(format!("lanecrypt-short-{}", std::process::id()));
    for (arguments, blocks) in [("random 1M", 100), ("random 9M --threads 3 --format hex", 5000)] {
        // A shell can ignore the signal that goes with the limit, and its child inherits that.
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {} {arguments} >'{}'",
            env!("CARGO_BIN_EXE_lanecrypt"),
            file.display()
        );
        let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
        let written = std::fs::metadata(&file).expect("the file").len();
        std::fs::remove_file(&file).expect("the file was there");
        assert!(written > 0);
        assert_one_line(&output, 1, &format!("after {written} bytes: File too large"));
    }
}

/// The other end of a terminal or socket may leave its file description in non-blocking mode.
#[test]
fn a_non_blocking_pipe_gets_everything() {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let flags = rustix::fs::fcntl_getfl(&writer).expect("flags");
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK).expect("set");
    let mut command = lanecrypt(&["random", "5M"]);
    let mut child = command.stdout(writer).spawn().expect("the program starts");
    // The command holds a handle of the pipe, which would keep it open.
    drop(command);
    let mut all = Vec::new();
    reader.read_to_end(&mut all).expect("a pipe can be read");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(all.len(), 5 << 20);
}
