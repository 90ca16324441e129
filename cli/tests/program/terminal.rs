//! Behaviour with a terminal as standard input or output.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{Folder, errors, lanecrypt, run};

/// A new terminal: the side of the screen and the side of the program.
pub(crate) fn terminal() -> (File, File) {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&screen).expect("granted");
    unlockpt(&screen).expect("unlocked");
    let name = ptsname(&screen, Vec::new()).expect("a name").into_string().expect("ASCII");
    let program = File::options().read(true).write(true).open(name).expect("the other side");
    (screen.into(), program)
}

/// Runs a program to its end and returns its exit code and what a terminal as its standard output
/// (and input, if it is to be) showed.
fn on_terminal(mut command: Command, input: bool) -> (Option<i32>, Vec<u8>) {
    let (mut screen, program) = terminal();
    if input {
        command.stdin(program.try_clone().expect("a second handle"));
    }
    let mut child = command.stdout(program).spawn().expect("it starts");
    // The command holds the program's side, too; while it is open the screen has no end.
    drop(command);
    let mut shown = Vec::new();
    // The end of a terminal is an error of its own, EIO.
    let _ = screen.read_to_end(&mut shown);
    (child.wait().expect("it ends").code(), shown)
}

fn assert_hex(shown: &[u8], bytes: usize) {
    let text = str::from_utf8(shown).expect("text").trim_end_matches(['\r', '\n']);
    assert_eq!(text.len(), 2 * bytes, "{text:?}");
    assert!(text.bytes().all(|c| c.is_ascii_hexdigit()), "{text:?}");
}

#[test]
fn a_terminal_gets_hex() {
    let (code, shown) = on_terminal(lanecrypt(&["random"]), false);
    assert_eq!(code, Some(0));
    assert_hex(&shown, 32);
    let (code, shown) = on_terminal(lanecrypt(&["random", "100"]), false);
    assert_eq!(code, Some(0));
    assert_hex(&shown, 100);
}

#[test]
fn other_formats_when_asked_for() {
    let (code, shown) = on_terminal(lanecrypt(&["random", "--format", "base64"]), false);
    assert_eq!(code, Some(0));
    assert_eq!(shown.trim_ascii_end().len(), 44);
    let (code, shown) = on_terminal(lanecrypt(&["random", "5000", "--format", "raw"]), false);
    assert_eq!(code, Some(0));
    // The terminal may turn one byte into two, and never fewer.
    assert!(shown.len() >= 5000 && shown.iter().any(|byte| *byte >= 0x80));
}

#[test]
fn a_terminal_on_standard_input_starts_the_self_test() {
    let (code, shown) = on_terminal(lanecrypt(&["check"]), true);
    let text = str::from_utf8(&shown).expect("text");
    assert_eq!(code, Some(0), "{text}");
    for name in ["aes-256-ctr", "aes-128-ecb", "chacha20-ietf", "salsa20/20", "arc4", "hc128"] {
        let line = text.lines().find(|line| line.starts_with(name)).expect(name);
        assert!(line.contains("ok"), "{line}");
    }
}

#[test]
fn the_rate_comes_and_goes() {
    let (mut screen, program) = terminal();
    // A reader of 32 MB/s keeps it going long enough to be worth a line.
    let mut child = lanecrypt(&["random", "48M"])
        .stdout(Stdio::piped())
        .stderr(program)
        .spawn()
        .expect("it starts");
    let mut pipe = child.stdout.take().expect("a pipe");
    let mut total = 0;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = pipe.read(&mut buffer).expect("a pipe can be read");
        if n == 0 {
            break;
        }
        total += n;
        std::thread::sleep(core::time::Duration::from_secs_f64(n as f64 / 32e6));
    }
    assert_eq!(total, 48 << 20);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let mut shown = Vec::new();
    let _ = screen.read_to_end(&mut shown);
    let text = String::from_utf8(shown).expect("text");
    assert!(text.contains("MB/s") && text.contains('%'), "{text:?}");
    assert!(text.ends_with("\r\x1b[K"), "{text:?}");
}

#[test]
fn ciphertext_is_not_for_terminals() {
    let folder = Folder::new("crypt-terminal");
    let key = folder.path("key");
    assert!(run(lanecrypt(&["keygen", &key]), b"").status.success());
    let mut command = lanecrypt(&["encrypt", "-k", &key]);
    let (code, shown) = on_terminal(command, false);
    assert_eq!((code, &shown[..]), (Some(2), &b""[..]));
    command = lanecrypt(&["decrypt", "-k", &key]);
    let (code, shown) = on_terminal(command, true);
    assert_eq!((code, &shown[..]), (Some(2), &b""[..]));
    // Plaintext is.
    let sealed = run(lanecrypt(&["encrypt", "-k", &key]), b"some text").stdout;
    let file = folder.path("text.lanecrypt");
    std::fs::write(&file, sealed).expect("a new file");
    let (code, shown) = on_terminal(lanecrypt(&["decrypt", "-k", &key, &file, "-o", "-"]), false);
    assert_eq!((code, &shown[..]), (Some(0), &b"some text"[..]));
}

#[test]
fn the_progress_of_a_file_comes_and_goes() {
    let folder = Folder::new("crypt-progress");
    let key = folder.path("key");
    assert!(run(lanecrypt(&["keygen", &key]), b"").status.success());
    let file = folder.path("file");
    std::fs::write(&file, vec![7; 24 << 20]).expect("a new file");
    let (mut screen, program) = terminal();
    let mut command = lanecrypt(&["encrypt", "-k", &key, &file, "-o", "-"]);
    let mut child = command.stdout(Stdio::piped()).stderr(program).spawn().expect("it starts");
    drop(command);
    // A slow reader keeps it going long enough to be seen.
    let mut pipe = child.stdout.take().expect("a pipe");
    let mut buffer = vec![0; 1 << 20];
    while pipe.read(&mut buffer).expect("a pipe can be read") > 0 {
        std::thread::sleep(core::time::Duration::from_millis(15));
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let mut shown = Vec::new();
    let _ = screen.read_to_end(&mut shown);
    let text = String::from_utf8(shown).expect("text");
    for part in ["MiB/24.00 MiB", "/s", "left", "[==="] {
        assert!(text.contains(part), "{part} is not in {text:?}");
    }
    // Nothing is left of the last line.
    let after = text.rsplit("left").next().expect("the last line");
    assert!(after.contains("\u{1b}[2K") && !after.contains("file"), "{after:?}");
    // Where standard error is no terminal, it says nothing.
    let quiet = run(lanecrypt(&["encrypt", "-k", &key, &file, "-o", "-"]), b"");
    assert_eq!((quiet.status.code(), errors(&quiet)), (Some(0), ""));
}
