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
fn fills_documents() {
    let folder = Folder::new("report-into");
    let (file, document) = (folder.path("run.json"), folder.path("page.md"));
    fs::write(&file, with_a_chart()).expect("it can be written");
    let table = |peer: &str| {
        format!(
            "<!-- figures: run, cycles\nOurs = t/lanecrypt/*\nTheirs = t/{peer}/*\nA row : 0\n-->\n\
             <!-- end of figures -->\n"
        )
    };
    fs::write(&document, table("nobody")).expect("it can be written");
    let refused = report(&[&file, "--into", &document]);
    assert_one_line(&refused, 2, "page.md: no figure in the column Theirs");
    assert_eq!(fs::read_to_string(&document).expect("it is there"), table("nobody"));
    fs::write(&document, table("openssl")).expect("it can be written");
    assert!(report(&[&file, "--into", &document]).status.success());
    let text = fs::read_to_string(&document).expect("it is there");
    assert!(text.contains("| A row | **50** | 100 |"), "{text}");
}

/// The documents of this repository have the figures of its results.
#[test]
fn documents_are_up_to_date() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let Ok(machines) = fs::read_dir(format!("{root}/results")) else {
        println!("SKIPPED results: they are not in the package");
        return;
    };
    let folders = machines.map(|entry| entry.expect("it can be read").path());
    let folders: Vec<String> = folders
        .filter(|path| path.is_dir())
        .map(|path| path.to_str().expect("UTF-8").to_owned())
        .collect();
    let folder = Folder::new("report-documents");
    let mut tables = 0;
    let notes = fs::read_dir(format!("{root}/docs/notes")).expect("the folder is there");
    let notes = notes.map(|entry| entry.expect("it can be read").file_name());
    let notes = notes.map(|name| format!("docs/notes/{}", name.display()));
    for name in ["README.md", "FIGURES.md"].map(String::from).into_iter().chain(notes) {
        let text = fs::read_to_string(format!("{root}/{name}")).expect("it is there");
        tables += text.matches("<!-- figures: ").count();
        let copy = folder.path("document.md");
        fs::write(&copy, &text).expect("it can be written");
        let arguments: Vec<&str> =
            folders.iter().map(String::as_str).chain(["--into", &copy]).collect();
        let output = report(&arguments);
        assert!(output.status.success(), "{output:?}");
        let new = fs::read_to_string(&copy).expect("it is there");
        assert!(new == text, "{name} differs from results/: run `make figures`");
    }
    assert!(tables > 0, "no table is filled from results/");
}

#[test]
fn refuses_what_it_cannot_draw() {
    let folder = Folder::new("report-refused");
    assert_one_line(&report(&[&folder.path("none.json")]), 2, "none.json");
    assert_one_line(&report(&[&folder.path("")]), 2, "no file of results");
    // A folder of folders names those with results.
    let inner = folder.path("inner");
    fs::create_dir(&inner).expect("a new folder");
    fs::write(folder.path("inner/random.json"), "{}").expect("a new file");
    assert_one_line(&report(&[&folder.path("")]), 2, &inner);
    let file = folder.path("a.json");
    fs::write(&file, with_a_chart()).expect("it can be written");
    assert_one_line(&report(&[&file, "--svg", "none"]), 2, "there are random-random-bytes");
    assert_one_line(&report(&[&file, "--csv", "--markdown"]), 2, "cannot be used with");
    fs::write(folder.path("b.json"), results("b", 1.0, 1.0)).expect("it can be written");
    assert_one_line(&report(&[&folder.path("")]), 2, "another machine: processor a and b");
}
