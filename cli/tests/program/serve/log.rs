//! The log never stops the daemon.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use super::{end, output};
use crate::support::{Folder, assert_one_line, lanecrypt};

fn checks(socket: &str) -> bool {
    let said = output(lanecrypt(&["info", "--socket", socket, "--check", "--timeout", "60"]));
    said.status.success()
}

/// Waits until the daemon answers, for as long as it takes.
fn until_it_answers(socket: &str) {
    while !checks(socket) {
        std::thread::yield_now();
    }
}

fn serve_with(socket: &str, errors: impl Into<Stdio>) -> std::process::Child {
    let mut command: Command = lanecrypt(&["serve", "--socket", socket]);
    command.stderr(errors).spawn().expect("the program starts")
}

#[test]
fn a_reader_that_does_not_read_does_not_stop_it() {
    let folder = Folder::new("serve-full");
    let socket = folder.path("socket");
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    rustix::io::ioctl_fionbio(&writer, true).expect("it is a pipe");
    let mut full = File::from(OwnedFd::from(writer.try_clone().expect("it can be copied")));
    while full.write(&[b'x'; 4096]).is_ok() {}
    while full.write(b"x").is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).expect("it is a pipe");
    drop(full);
    let daemon = serve_with(&socket, OwnedFd::from(writer));
    until_it_answers(&socket);
    // It ends with a log that nobody reads.
    end(daemon);
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("it can be read");
    assert!(text.starts_with('x'));
}

#[test]
fn a_closed_pipe_or_a_full_disk_does_not_stop_it() {
    let folder = Folder::new("serve-closed");
    let socket = folder.path("socket");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let full = File::options().write(true).open("/dev/full").expect("every system has it");
    for errors in [OwnedFd::from(writer), OwnedFd::from(full)] {
        let daemon = serve_with(&socket, errors);
        until_it_answers(&socket);
        end(daemon);
    }
}

#[test]
fn lines_of_json() {
    let folder = Folder::new("serve-json");
    let socket = folder.path("socket");
    let mut command = lanecrypt(&["serve", "--socket", &socket, "--log", "json"]);
    let mut daemon = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut line = String::new();
    let mut said = BufReader::new(daemon.stderr.take().expect("a pipe"));
    said.read_line(&mut line).expect("it can be read");
    let json: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
    assert_eq!(json["event"], "message");
    assert_eq!(json["text"], format!("serving at {socket}"));
    assert!(json["time"].as_f64().is_some());
    end(daemon);
    assert_one_line(&output(lanecrypt(&["serve", "--log", "xml"])), 2, "--log");
}

#[test]
fn a_check_is_one_line() {
    let folder = Folder::new("serve-check");
    let socket = folder.path("socket");
    let check = |more: &[&str]| {
        output(lanecrypt(&[&["info", "--socket", &socket, "--check"], more].concat()))
    };
    assert_one_line(&check(&[]), 1, "no such socket");
    let daemon = super::serve(&["--socket", &socket]);
    let said = check(&["--timeout", "60"]);
    assert_eq!(said.status.code(), Some(0));
    let text = String::from_utf8(said.stdout).expect("it is UTF-8");
    assert_eq!(text, format!("{socket}: the daemon answers\n"));
    assert_one_line(&check(&["--json"]), 2, "--json");
    for wrong in ["0", "-1", "x", "1e9", "nan"] {
        assert_one_line(&check(&[&format!("--timeout={wrong}")]), 2, "--timeout");
    }
    // One that is stopped does not answer.
    let process = rustix::process::Pid::from_child(&daemon);
    rustix::process::kill_process(process, rustix::process::Signal::STOP).expect("it runs");
    assert_one_line(&check(&["--timeout", "0.1"]), 1, "the daemon does not answer");
    rustix::process::kill_process(process, rustix::process::Signal::CONT).expect("it runs");
    end(daemon);
}
