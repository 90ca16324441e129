//! `lanecrypt speed` and an interrupt, and what a terminal shows meanwhile.

use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
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
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut text = String::new();
    // By the line about the noise, it listens to interrupts and measures.
    while !text.contains("noise: ") {
        assert!(output.read_line(&mut text).expect("text") > 0, "it ended: {text}");
    }
    thread::sleep(Duration::from_secs(2));
    let process = Pid::from_raw(child.id().try_into().expect("a number of a process"));
    kill_process(process.expect("not zero"), Signal::INT).expect("it runs");
    output.read_to_string(&mut text).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{text}");
    assert!(text.ends_with("interrupted: these are the figures until then\n"), "{text}");
    let json = fs::read_to_string(json).expect("it was written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["conditions"]["interrupted"], true);
    assert!(json["points"].as_array().expect("points").iter().all(|p| p["table"] != "packets"));
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
