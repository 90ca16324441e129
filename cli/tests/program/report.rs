//! `lanecrypt report`.

use std::fs;
use std::process::Output;

use crate::compare::results;
use crate::support::{Folder, assert_one_line, lanecrypt};

fn report(arguments: &[&str]) -> Output {
    lanecrypt(&[&["report"], arguments].concat()).output().expect("the program starts")
}

/// A run with a chart: random bytes at two sizes, ours and a peer's.
fn with_a_chart() -> String {
    let mut text = results("a", 100.0, 50.0);
    for (old, new) in [("t/lanecrypt/0", 16), ("t/openssl/0", 16), ("t/openssl/1", 32)] {
        let id = format!("\"id\":\"{old}\",\"table\":\"t\"");
        let fill = format!("\"id\":\"{old}\",\"table\":\"random\",\"size\":{new}");
        assert!(text.contains(&id));
        text = text.replace(&id, &fill);
    }
    text.replace("\"op\":\"o\"", "\"op\":\"fill\"")
}

#[test]
fn draws_files_and_folders() {
    let folder = Folder::new("report");
    let file = folder.path("run.json");
    fs::write(&file, with_a_chart()).expect("it can be written");
    let page = String::from_utf8(report(&[&file]).stdout).expect("UTF-8");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
    assert_eq!(page.matches("<figure").count(), 1);

    let whole = folder.path("");
    assert!(String::from_utf8(report(&[&whole]).stdout).expect("UTF-8").contains("<figure"));
    let csv = String::from_utf8(report(&[&file, "--csv"]).stdout).expect("UTF-8");
    assert_eq!(csv.lines().count(), 1 + 61);
    let markdown = report(&[&file, "--markdown"]);
    assert!(String::from_utf8(markdown.stdout).expect("UTF-8").contains("| 16 |"));
    let svg = report(&[&file, "--svg", "random-random-bytes-cost-of-a-request"]);
    assert!(String::from_utf8(svg.stdout).expect("UTF-8").starts_with("<svg "));
}

#[test]
fn refuses_what_it_cannot_draw() {
    let folder = Folder::new("report-refused");
    assert_one_line(&report(&[&folder.path("none.json")]), 2, "none.json");
    assert_one_line(&report(&[&folder.path("")]), 2, "no file of results");
    let file = folder.path("a.json");
    fs::write(&file, with_a_chart()).expect("it can be written");
    assert_one_line(&report(&[&file, "--svg", "none"]), 2, "there are random-random-bytes");
    assert_one_line(&report(&[&file, "--csv", "--markdown"]), 2, "cannot be used with");
    fs::write(folder.path("b.json"), results("b", 1.0, 1.0)).expect("it can be written");
    assert_one_line(&report(&[&folder.path("")]), 2, "another machine: processor a and b");
}
