//! `lanecrypt speed handshakes`: a short run as JSON, and its report.

use std::fs;

use crate::support::{Folder, assert_one_line, errors, lanecrypt, run};

#[test]
fn a_short_run_as_json_and_its_report() {
    let only = "handshakes/*/p256/sign*";
    let mut command = lanecrypt(&["speed", "handshakes", "--budget", "5s", "--only", only]);
    command.args(["--peers", "rustcrypto,aws-lc", "--json", "-"]);
    let output = run(command, b"");
    assert!(output.status.success(), "{}", errors(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let points = json["points"].as_array().expect("points");
    for (source, api) in [("rustcrypto", "crate"), ("aws-lc", "crate"), ("lanecrypt", "process")] {
        let of_it = |point: &&serde_json::Value| point["source"] == source && point["api"] == api;
        let mut batches = Vec::new();
        for point in points.iter().filter(of_it) {
            assert_eq!(point["table"], "handshakes");
            assert!(point["verified"] == true && point["cycles"].as_f64() > Some(0.0), "{point}");
            assert_eq!(point.get("isa").is_some(), source == "lanecrypt", "{point}");
            batches.push(point["batch"].as_u64().expect("a number in flight"));
        }
        let expected = if source == "lanecrypt" { &[1, 2, 4, 8, 64][..] } else { &[1] };
        assert_eq!(batches, expected, "{source}: {json}");
    }

    let folder = Folder::new("handshakes");
    let file = folder.path("run.json");
    fs::write(&file, &output.stdout).expect("it can be written");
    let page = run(lanecrypt(&["report", &file]), b"");
    let page = String::from_utf8(page.stdout).expect("UTF-8");
    assert!(page.contains("Handshakes") && page.contains("<figure"), "{page}");
    let markdown = run(lanecrypt(&["report", &file, "--markdown"]), b"");
    let markdown = String::from_utf8(markdown.stdout).expect("UTF-8");
    assert!(markdown.contains("P-256 sign: cycles by operations in flight"), "{markdown}");
}

#[test]
fn another_library_is_no_crypto_mb() {
    let mut command = lanecrypt(&["speed", "handshakes", "--only", "handshakes/crypto-mb/*"]);
    command.args(["--peer-lib", "crypto-mb=libc.so.6"]);
    assert_one_line(&run(command, b""), 2, "crypto-mb");
}
