//! `lanecrypt speed` and an interrupt, and what a terminal shows meanwhile.

use core::time::Duration;
use std::fs;
use std::io::Read as _;
use std::process::Stdio;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Folder, lanecrypt};
use crate::terminal::terminal;

#[test]
fn an_interrupt_leaves_what_there_is() {
    let folder = Folder::new("interrupt");
    let json = folder.path("results.json");
    let arguments = ["speed", "random", "packets", "--peers", "none", "--budget", "10m"];
    let mut command = lanecrypt(&[&arguments[..], &["--json", &json]].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    // It listens to interrupts before it measures.
    let status = format!("/proc/{}/status", child.id());
    while !catches_interrupts(&fs::read_to_string(&status).expect("it runs")) {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_secs(3));
    let process = Pid::from_raw(child.id().try_into().expect("a number of a process"));
    kill_process(process.expect("not zero"), Signal::INT).expect("it runs");
    let (mut text, mut output) = (String::new(), child.stdout.take().expect("a pipe"));
    output.read_to_string(&mut text).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{text}");
    assert!(text.ends_with("interrupted: these are the figures until then\n"), "{text}");
    let json = fs::read_to_string(json).expect("it was written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["conditions"]["interrupted"], true);
    assert!(json["points"].as_array().expect("points").iter().all(|p| p["table"] != "packets"));
}

/// Whether the set of caught signals has SIGINT.
fn catches_interrupts(status: &str) -> bool {
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.expect("Linux shows it").trim(), 16);
    caught.expect("a number") & 1 << (Signal::INT.as_raw() - 1) != 0
}

#[test]
fn a_terminal_shows_the_time_left() {
    let (mut screen, program) = terminal();
    let arguments = ["speed", "random", "--peers", "none", "--budget", "3s"];
    let mut command = lanecrypt(&arguments);
    let mut child = command.stdout(Stdio::null()).stderr(program).spawn().expect("it starts");
    drop(command);
    let mut shown = Vec::new();
    // The end of a terminal is an error of its own, EIO.
    let _ = screen.read_to_end(&mut shown);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("random [") && shown.contains(" s left"), "{shown}");
}
