//! Signals, full disks and much data.

use core::time::Duration;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use super::{CHUNK, HEADER, data, encrypted, key, names, through};
use crate::support::{Folder, assert_one_line, errors, lanecrypt, shell};

/// The program in the middle of a file that comes by a pipe.
fn begun(folder: &Folder, key: &str, command: &str, input: &[u8]) -> Child {
    let output = folder.path("output");
    let mut child = lanecrypt(&[command, "--key-file", key, "--output", &output])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let pipe = child.stdin.as_mut().expect("a pipe");
    pipe.write_all(input).expect("it reads");
    let start = Instant::now();
    while !names(folder).iter().any(|name| name.ends_with(".part")) {
        assert!(start.elapsed() < Duration::from_secs(60), "it begins no file");
        sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_signal_leaves_nothing_behind() {
    let folder = Folder::new("crypt-signals");
    let key = key(&folder);
    let input = data(30 * CHUNK);
    let sealed = encrypted(&key, &[], &input);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        for (command, input) in [("encrypt", &input), ("decrypt", &sealed)] {
            let mut child = begun(&folder, &key, command, &input[..20 * CHUNK]);
            // `wait` would close it, and the end of the input would be an end of its own.
            let _pipe = child.stdin.take();
            kill_process(Pid::from_child(&child), signal).expect("it runs");
            let status = child.wait().expect("it ends");
            assert_eq!(status.signal(), Some(signal.as_raw()), "{command} {status}");
            assert_eq!(names(&folder), ["key"], "{command}");
        }
    }
    // A file that was there before is what it was.
    fs::write(folder.path("output"), b"precious").expect("a new file");
    let sleeper = format!(
        "exec 3<{0}; (head -c 3000000 /dev/zero; sleep 50) | timeout -s INT 1 \
         \"$lanecrypt\" encrypt --key-file {0} --force --output {1}",
        key,
        folder.path("output")
    );
    let start = Instant::now();
    let output = shell(&sleeper.replace("sleep 50", "sleep 3"));
    assert!(start.elapsed() < Duration::from_secs(50));
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(fs::read(folder.path("output")).expect("it stays"), b"precious");
    assert_eq!(names(&folder), ["key", "output"]);
}

/// One that was started to outlive its terminal does.
#[test]
fn an_ignored_signal_is_ignored() {
    let folder = Folder::new("crypt-nohup");
    let key = key(&folder);
    let script = format!(
        "trap '' HUP; mkfifo {2}; \"$lanecrypt\" encrypt --key-file {0} --output {1} <{2} & it=$!
        exec 3>{2}; head -c 1000000 /dev/zero >&3
        while ! ls {3}.*.part; do sleep 0.01; done
        kill -HUP $it; sleep 0.1; echo end >&3; exec 3>&-; wait $it",
        key,
        folder.path("output"),
        folder.path("fifo"),
        folder.path("")
    );
    let output = shell(&script);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let sealed = fs::read(folder.path("output")).expect("it is whole");
    assert_eq!(through("decrypt", &key, &[], &sealed).stdout.len(), 1_000_004);
}

#[test]
fn an_input_that_ends_early_is_only_a_short_one() {
    let folder = Folder::new("crypt-early");
    let key = key(&folder);
    let input = data(5 * CHUNK);
    let mut child = begun(&folder, &key, "encrypt", &input);
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
    assert_eq!(names(&folder), ["key", "output"]);
    let sealed = encrypted(&key, &[], &input);
    fs::remove_file(folder.path("output")).expect("it is ours");
    let mut child = begun(&folder, &key, "decrypt", &sealed[..2 * CHUNK]);
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("it ends");
    assert_one_line(&output, 1, "not authentic, or cut off");
    assert_eq!(names(&folder), ["key"]);
}

/// One that came while the other was being written.
#[test]
fn what_appears_meanwhile_is_not_replaced() {
    let folder = Folder::new("crypt-meanwhile");
    let key = key(&folder);
    let child = begun(&folder, &key, "encrypt", &data(5 * CHUNK));
    fs::write(folder.path("output"), b"precious").expect("a new file");
    let output = child.wait_with_output().expect("it ends");
    assert_one_line(&output, 1, "already exists");
    assert_eq!(fs::read(folder.path("output")).expect("it stays"), b"precious");
    assert_eq!(names(&folder), ["key", "output"]);
}

/// A limit on the size of files stands in for a disk that fills up half way, with and without the
/// signal that goes with it.
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = Folder::new("crypt-full");
    let key = key(&folder);
    let input = folder.path("input");
    fs::write(&input, data(40 * CHUNK)).expect("a new file");
    for trap in ["trap '' XFSZ;", ""] {
        let script =
            format!("{trap} ulimit -f 1000; exec \"$lanecrypt\" encrypt --key-file {key} {input}");
        assert_one_line(&shell(&script), 1, "cannot write: File too large");
        assert_eq!(names(&folder), ["input", "key"]);
    }
    for (command, input) in
        [("encrypt", data(40 * CHUNK)), ("decrypt", encrypted(&key, &[], &data(40 * CHUNK)))]
    {
        let path = folder.path("input");
        fs::write(&path, input).expect("it is ours");
        let full = File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
        let child = lanecrypt(&[command, "-k", &key, &path, "-o", "-"])
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn();
        let output = child.and_then(|child| child.wait_with_output()).expect("it ends");
        assert_one_line(&output, 1, "cannot write: No space left on device");
    }
}

#[test]
fn a_reader_that_leaves_ends_decryption_quietly_and_encryption_with_an_error() {
    let folder = Folder::new("crypt-closed");
    let key = key(&folder);
    let path = folder.path("sealed");
    fs::write(&path, encrypted(&key, &[], &data(100 * CHUNK))).expect("a new file");
    for (command, code) in [("decrypt", Some(0)), ("encrypt", Some(1))] {
        let mut child = lanecrypt(&[command, "-k", &key, &path, "-o", "-"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut seen = vec![0; 100];
        let mut pipe = child.stdout.take().expect("a pipe");
        pipe.read_exact(&mut seen).expect("it writes");
        drop(pipe);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), code, "{}", errors(&output));
        assert_eq!(output.stderr.is_empty(), code == Some(0), "{}", errors(&output));
    }
}

/// The other end of a terminal or socket may leave its file description in non-blocking mode.
#[test]
fn pipes_that_do_not_block_get_everything() {
    let folder = Folder::new("crypt-nonblocking");
    let key = key(&folder);
    let input = data(20 * CHUNK + 1);
    let sealed = encrypted(&key, &[], &input);
    let non_blocking = |end: &dyn std::os::fd::AsFd| {
        let flags = rustix::fs::fcntl_getfl(end).expect("flags");
        rustix::fs::fcntl_setfl(end, flags | rustix::fs::OFlags::NONBLOCK).expect("set");
    };
    let (program_in, mut ours_in) = std::io::pipe().expect("a pipe");
    let (mut ours_out, program_out) = std::io::pipe().expect("a pipe");
    non_blocking(&program_in);
    non_blocking(&program_out);
    let mut command = lanecrypt(&["decrypt", "-k", &key]);
    let mut child = command.stdin(program_in).stdout(program_out).spawn().expect("it starts");
    drop(command);
    let writer = std::thread::spawn(move || {
        for part in sealed.chunks(50_000) {
            sleep(Duration::from_millis(1));
            ours_in.write_all(part).expect("it reads");
        }
    });
    let mut opened = Vec::new();
    ours_out.read_to_end(&mut opened).expect("a pipe can be read");
    writer.join().expect("everything is written");
    assert!(child.wait().expect("it ends").success() && opened == input);
}

/// 64 MiB, and 10 GiB with `LANECRYPT_LONG`, through both in a row.
#[test]
fn any_amount_of_data_takes_little_memory() {
    let folder = Folder::new("crypt-much");
    let key = key(&folder);
    let is_long = std::env::var_os("LANECRYPT_LONG").is_some();
    let total: u64 = if is_long { 10 << 30 } else { 64 << 20 };
    let start = |command| {
        lanecrypt(&[command, "-k", &key])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts")
    };
    let (mut encrypt, mut decrypt) = (start("encrypt"), start("decrypt"));
    let (mut into, mut between) = (encrypt.stdin.take(), encrypt.stdout.take());
    let (mut onward, out) = (decrypt.stdin.take(), decrypt.stdout.take());
    let piece = data(1 << 20);
    let expected = piece.clone();
    let (peaks, seen) = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut into = into.take().expect("a pipe");
            for _ in 0..total >> 20 {
                into.write_all(&piece).expect("it reads");
            }
        });
        let middle = scope.spawn(move || {
            let (between, onward) = (between.as_mut(), onward.as_mut());
            let sealed =
                std::io::copy(between.expect("a pipe"), onward.expect("a pipe")).expect("it flows");
            // Both are at their end, and have not ended.
            sealed
        });
        let mut out = out.expect("a pipe");
        let mut piece = vec![0; 1 << 20];
        let mut peaks = [0, 0];
        let mut seen = 0;
        while seen < total {
            out.read_exact(&mut piece).expect("it is authentic");
            assert!(piece == expected, "at {seen}");
            seen += 1 << 20;
            for (peak, child) in peaks.iter_mut().zip([&encrypt, &decrypt]) {
                *peak = (*peak).max(peak_memory(child));
            }
        }
        assert_eq!(out.read(&mut piece).expect("the end"), 0);
        let sealed = middle.join().expect("it flows");
        assert_eq!(sealed, HEADER as u64 + total + 16 * (total / CHUNK as u64));
        (peaks, seen)
    });
    assert_eq!(seen, total);
    for (peak, child) in peaks.into_iter().zip([&mut encrypt, &mut decrypt]) {
        assert!(child.wait().expect("it ends").success());
        assert!(peak > 0 && peak < 32 << 10, "{peak} KiB");
    }
}

/// The most memory that a process had so far, in KiB; 0 when it has ended.
fn peak_memory(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}
