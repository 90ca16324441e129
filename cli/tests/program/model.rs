//! `lanecrypt speed engine --model`: a report, or one line that says what is wrong with a file.

use crate::support::{Folder, assert_one_line, errors, lanecrypt, run};

#[test]
fn a_card_and_a_host_that_are_built_in() {
    // All figures are given, so that nothing is measured.
    let arguments = ["speed", "engine", "--model", "broadcom-5820", "--host", "host-2003"];
    let output = run(lanecrypt(&arguments), b"");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("3des-cbc *") && text.contains("rsa-1024 with CRT"), "{text}");
}

#[test]
fn bad_descriptions_and_arguments() {
    let folder = Folder::new("model");
    let bad = folder.path("bad.toml");
    std::fs::write(&bad, "kind = \"card\"\nname = 5\n").expect("a file");
    let cases: [(&[&str], &str); 8] = [
        (&["engine", "--model", "/nosuch"], "built in are broadcom-5820"),
        (&["engine", "--model", &bad], "bad.toml: line 2: name: must be a text, is 5"),
        (&["engine", "--model", "/dev/zero"], "longer than"),
        (&["engine", "--model", "/dev/null"], "line 1: kind: missing"),
        (&["engine", "--model", "hifn-6500", "--host", "nosuch"], "host-2003, host-2026"),
        (&["random", "--model", "hifn-6500"], "table engine"),
        (&["engine", "--host", "host-2003"], "--model"),
        (&["engine", "--model", "hifn-6500", "--quick"], "--quick"),
    ];
    for (arguments, about) in cases {
        let arguments = [&["speed"], arguments].concat();
        let output = run(lanecrypt(&arguments), b"");
        assert_one_line(&output, 2, about);
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
