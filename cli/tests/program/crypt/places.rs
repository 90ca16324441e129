//! Where output goes, what it replaces, and what it keeps of its source.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::process::Output;

use super::{CHUNK, HEADER, data, encrypted, key, mode, names, set_mode, through};
use crate::support::{Folder, assert_one_line, errors, lanecrypt, run, shell};

fn with(key: &str, command: &str, more: &[&str]) -> Output {
    run(lanecrypt(&[&[command, "--key-file", key], more].concat()), b"")
}

#[track_caller]
fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", errors(output));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{}", errors(output));
}

#[test]
fn files_are_written_beside_and_come_back() {
    let folder = Folder::new("crypt-beside");
    let key = key(&folder);
    let files = ["one", "two words", "three.tar"].map(|name| folder.path(name));
    for (i, file) in files.iter().enumerate() {
        fs::write(file, data(i * CHUNK)).expect("a new file");
    }
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    succeeds(&with(&key, "encrypt", &all));
    let sealed: Vec<String> = files.iter().map(|file| format!("{file}.lanecrypt")).collect();
    for (i, file) in files.iter().enumerate() {
        assert_eq!(fs::read(file).expect("it stays"), data(i * CHUNK));
        fs::remove_file(file).expect("it is ours");
    }
    let all: Vec<&str> = sealed.iter().map(String::as_str).collect();
    succeeds(&with(&key, "decrypt", &all));
    for (i, file) in files.iter().enumerate() {
        assert!(fs::read(file).expect("it is back") == data(i * CHUNK));
    }
    assert_eq!(names(&folder).len(), 7);
}

#[test]
fn output_has_the_name_or_the_folder_that_was_said() {
    let folder = Folder::new("crypt-output");
    let key = key(&folder);
    let (file, other, to) = (folder.path("file"), folder.path("other"), folder.path("to"));
    fs::write(&file, b"text").expect("a new file");
    fs::write(&other, b"more").expect("a new file");
    fs::create_dir(&to).expect("a new folder");
    succeeds(&with(&key, "encrypt", &[&file, &other, "--output", &to]));
    let named = folder.path("named");
    succeeds(&with(&key, "decrypt", &["-o", &named, &format!("{to}/file.lanecrypt")]));
    assert_eq!(fs::read(&named).expect("it is there"), b"text");
    // From a pipe into a file, and from a file into a pipe.
    let sealed = folder.path("sealed");
    succeeds(&through("encrypt", &key, &["-o", &sealed], b"from a pipe"));
    assert_eq!(mode(&sealed), 0o600);
    let output = with(&key, "decrypt", &[&sealed, "-o", "-"]);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"from a pipe"[..]));
    assert_eq!(names(&folder), ["file", "key", "named", "other", "sealed", "to"]);

    let refused = |arguments: &[&str], code, about| {
        let [command, arguments @ ..] = arguments else { return };
        assert_one_line(&with(&key, command, arguments), code, about);
    };
    refused(&["encrypt", &file, &other, "-o", &named], 2, "a folder that exists");
    refused(&["encrypt", "-", &file, "-"], 2, "can be read once");
    refused(&["decrypt", &sealed], 1, "does not end with .lanecrypt");
    refused(&["decrypt", &folder.path(".lanecrypt")], 1, "does not end with .lanecrypt");
    refused(&["encrypt", &to], 1, "is a folder");
    refused(&["encrypt", &folder.path("none")], 1, "No such file");
    refused(&["encrypt", &file, "-o", &folder.path("no/such")], 1, "No such file");
    // A device is read by a link in this folder: the system's own must not be at stake in a test.
    symlink("/dev/null", folder.path("link")).expect("a new link");
    refused(&["encrypt", &folder.path("link")], 1, "not a regular file");
    let fifo = folder.fifo("fifo");
    refused(&["encrypt", &file, "-f", "-o", &fifo], 1, "not a regular file");
    let all = ["fifo", "file", "key", "link", "named", "other", "sealed", "to"];
    assert_eq!(names(&folder), all);
}

#[test]
fn what_exists_is_replaced_only_when_asked_for() {
    let folder = Folder::new("crypt-exists");
    let key = key(&folder);
    let (file, sealed) = (folder.path("file"), folder.path("file.lanecrypt"));
    fs::write(&file, b"text").expect("a new file");
    fs::write(&sealed, b"precious").expect("a new file");
    let output = with(&key, "encrypt", &[&file]);
    assert_one_line(&output, 1, "already exists; --force replaces it");
    assert_eq!(fs::read(&sealed).expect("it stays"), b"precious");
    succeeds(&with(&key, "encrypt", &[&file, "--force"]));
    assert_eq!(fs::read(&sealed).expect("it is replaced").len(), HEADER + 4 + 16);
    let output = with(&key, "decrypt", &[&sealed]);
    assert_one_line(&output, 1, "already exists");
    // Before anything is read: this input has no end.
    let endless = format!(
        "exec 3<>{}; exec \"$lanecrypt\" encrypt -k {key} -o {sealed} <&3",
        folder.fifo("fifo")
    );
    assert_one_line(&shell(&endless), 1, "already exists");
    fs::remove_file(folder.path("fifo")).expect("it is ours");
    // A failure replaces nothing, forced or not.
    fs::write(&file, b"newer").expect("it is ours");
    let mut damaged = fs::read(&sealed).expect("it is there");
    damaged[HEADER] ^= 1;
    fs::write(&sealed, damaged).expect("it is ours");
    assert_one_line(&with(&key, "decrypt", &["-f", &sealed]), 1, "not authentic");
    assert_eq!(fs::read(&file).expect("it stays"), b"newer");
    assert_eq!(names(&folder), ["file", "file.lanecrypt", "key"]);
}

#[test]
fn permissions_come_from_the_source() {
    let folder = Folder::new("crypt-modes");
    let key = key(&folder);
    for permissions in [0o600, 0o640, 0o644, 0o755, 0o444, 0o4711] {
        let (file, sealed) = (folder.path("file"), folder.path("file.lanecrypt"));
        fs::write(&file, b"text").expect("a new file");
        set_mode(&file, permissions);
        succeeds(&with(&key, "encrypt", &[&file]));
        // Never those that change who runs it.
        assert_eq!(mode(&sealed), permissions & 0o777);
        fs::remove_file(&file).expect("it is ours");
        succeeds(&with(&key, "decrypt", &[&sealed]));
        assert_eq!(mode(&file), permissions & 0o777);
        fs::remove_file(&file).expect("it is ours");
        fs::remove_file(&sealed).expect("it is ours");
    }
    // Root keeps the owner, too.
    let (file, sealed) = (folder.path("file"), folder.path("file.lanecrypt"));
    fs::write(&file, b"text").expect("a new file");
    if std::os::unix::fs::chown(&file, Some(4321), Some(8765)).is_err() {
        println!("SKIPPED crypt-owner: only root may give files away");
        return;
    }
    succeeds(&with(&key, "encrypt", &[&file]));
    let meta = fs::metadata(&sealed).expect("it is there");
    assert_eq!((meta.uid(), meta.gid()), (4321, 8765));
}

/// The source is what a link points to. A link at the place of the output is not followed.
#[test]
fn links() {
    let folder = Folder::new("crypt-links");
    let key = key(&folder);
    let (file, link, sealed) =
        (folder.path("file"), folder.path("link"), folder.path("link.lanecrypt"));
    fs::write(&file, b"text").expect("a new file");
    symlink("file", &link).expect("a new link");
    // One that points nowhere exists, too.
    for to in ["precious", "nowhere"] {
        let target = folder.path("precious");
        fs::write(&target, b"precious").expect("a file");
        symlink(to, &sealed).expect("a new link");
        assert_one_line(&with(&key, "encrypt", &[&link]), 1, "already exists");
        assert!(fs::symlink_metadata(&sealed).expect("it stays").is_symlink());
        succeeds(&with(&key, "encrypt", &["--force", &link]));
        assert!(fs::symlink_metadata(&sealed).expect("it is there").is_file());
        assert_eq!(fs::read(&target).expect("it stays"), b"precious");
        fs::remove_file(&sealed).expect("it is ours");
    }
    assert_eq!(names(&folder), ["file", "key", "link", "precious"]);
}

#[test]
fn a_failure_does_not_stop_the_others() {
    let folder = Folder::new("crypt-several");
    let key = key(&folder);
    let sealed = encrypted(&key, &[], b"text");
    for name in ["a", "b", "d"] {
        fs::write(folder.path(&format!("{name}.lanecrypt")), &sealed).expect("a new file");
    }
    fs::write(folder.path("b.lanecrypt"), &sealed[..90]).expect("it is ours");
    let all = ["a", "b", "c", "d"].map(|name| folder.path(&format!("{name}.lanecrypt")));
    let output = with(&key, "decrypt", &[&all[0], &all[1], &all[2], &all[3]]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<&str> = errors(&output).lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("b.lanecrypt") && lines[1].contains("c.lanecrypt"), "{lines:?}");
    for name in ["a", "d"] {
        assert_eq!(fs::read(folder.path(name)).expect("it is there"), b"text");
    }
    // Two that would become one.
    let (one, two) = (Folder::new("crypt-one"), Folder::new("crypt-two"));
    for from in [&one, &two] {
        fs::write(from.path("same"), from.path("")).expect("a new file");
    }
    let (from, to) = ([one.path("same"), two.path("same")], Folder::new("crypt-to"));
    let output = with(&key, "encrypt", &[&from[0], &from[1], "-f", "-o", &to.path("")]);
    assert_one_line(&output, 1, "another file becomes");
    assert_eq!(names(&to), ["same.lanecrypt"]);
}
