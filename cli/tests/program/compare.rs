//! `lanecrypt compare`.

use core::fmt::Write as _;
use std::fs;
use std::process::Output;

use crate::support::{Folder, assert_one_line, lanecrypt};

/// A run of 60 points of a peer and one of ours, as `speed --json` writes it.
pub(crate) fn results(cpu: &str, peers: f64, ours: f64) -> String {
    let point = |source: &str, number: u32, cycles: f64| {
        format!(
            "{{\"id\":\"t/{source}/{number}\",\"table\":\"t\",\"source\":\"{source}\",\"api\":\"a\",\
             \"subject\":\"s\",\"op\":\"o\",\"cycles\":{cycles},\"cycles_low\":{},\
             \"cycles_high\":{},\"ns\":{},\"verified\":true}}",
            cycles * 0.999,
            cycles * 1.001,
            cycles / 2.0
        )
    };
    let mut points = point("lanecrypt", 0, ours);
    for number in 0..60 {
        let _ = write!(points, ",{}", point("openssl", number, peers + f64::from(number) / 100.0));
    }
    format!(
        "{{\"schema\":1,\"machine\":{{\"cpu\":\"{cpu}\",\"arch\":\"x86_64\",\"flags\":[],\
         \"isa\":\"avx2\",\"processors\":2,\"tsc_ghz\":2.0,\"kernel\":\"6\",\"virtualised\":false,\
         \"profile\":\"release\",\"libraries\":[]}},\"points\":[{points}]}}"
    )
}

fn compare(folder: &Folder, old: &str, new: &str, arguments: &[&str]) -> Output {
    let paths = [folder.path("old.json"), folder.path("new.json")];
    fs::write(&paths[0], old).expect("it can be written");
    fs::write(&paths[1], new).expect("it can be written");
    let all = [&["compare", &paths[0], &paths[1]], arguments].concat();
    lanecrypt(&all).output().expect("the program starts")
}

#[test]
fn says_what_became_slower() {
    let folder = Folder::new("compare");
    let old = results("a", 100.0, 100.0);
    let same = compare(&folder, &old, &old, &[]);
    assert_eq!(same.status.code(), Some(0));

    let slower = compare(&folder, &old, &results("a", 100.0, 110.0), &[]);
    let text = String::from_utf8(slower.stdout).expect("UTF-8");
    assert_eq!(slower.status.code(), Some(1), "{text}");
    assert!(text.contains("1.100") && text.contains("t/lanecrypt/0  slower"), "{text}");
    assert!(text.ends_with("0 of ours faster, 1 slower\n"), "{text}");

    let faster = compare(&folder, &old, &results("a", 100.0, 90.0), &[]);
    assert_eq!(faster.status.code(), Some(0));
    // A peer that becomes slower is none of our regressions.
    let peers = compare(&folder, &old, &results("a", 101.0, 100.0), &["--all"]);
    assert_eq!(peers.status.code(), Some(0));
}

#[test]
fn says_what_an_emulator_measured() {
    let folder = Folder::new("compare-emulated");
    let old = results("a", 100.0, 100.0);
    let new = old.replace("\"arch\"", "\"emulator\":\"qemu-s390x\",\"arch\"");
    let text = |output: Output| String::from_utf8(output.stdout).expect("UTF-8");
    let one = text(compare(&folder, &old, &new, &["--force"]));
    assert!(one.starts_with("new: EMULATED by qemu-s390x: ") && !one.contains("old:"), "{one}");
    assert_one_line(&compare(&folder, &old, &new, &[]), 2, "emulator");
    let both = text(compare(&folder, &new, &new, &[]));
    assert_eq!(both.matches("EMULATED").count(), 2, "{both}");
    assert!(!text(compare(&folder, &old, &old, &[])).contains("EMULATED"));
}

#[test]
fn refuses_what_cannot_be_compared() {
    let folder = Folder::new("compare-refused");
    let (old, other) = (results("a", 100.0, 100.0), results("b", 100.0, 100.0));
    assert_one_line(&compare(&folder, &old, &other, &[]), 2, "processor a and b");
    assert_eq!(compare(&folder, &old, &other, &["--force"]).status.code(), Some(0));
    assert_one_line(&compare(&folder, &old, "{}", &[]), 2, "new.json");
    assert_one_line(&compare(&folder, &old, "\0", &[]), 2, "new.json");
    let schema = old.replace("\"schema\":1", "\"schema\":9");
    assert_one_line(&compare(&folder, &old, &schema, &[]), 2, "schema 9");
    let none = old.replace("\"t/", "\"u/");
    assert_one_line(&compare(&folder, &old, &none, &[]), 2, "in common");
    let missing = lanecrypt(&["compare", "/nowhere/a", "/nowhere/b"]).output();
    assert_one_line(&missing.expect("the program starts"), 2, "/nowhere/a");
}
