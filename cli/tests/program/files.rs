//! `lanecrypt speed`: files that it is given, and cannot use or must not wait for.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};

use crate::support::{Folder, assert_one_line, errors, shell};

/// A run of a second.
const SPEED: &str = "$lanecrypt speed --peers none --budget 1s --only 'random/*/u32/4/t1'";

const LIBRARIES: [&str; 6] =
    ["ipsec-mb", "libgcrypt", "libsodium", "nettle", "openssl", "openssl-newest"];

#[test]
fn a_library_that_cannot_be_used_is_a_bad_argument() {
    let folder = Folder::new("libraries");
    let (fifo, empty, text) = (folder.fifo("fifo"), folder.path("empty"), folder.path("text"));
    fs::write(&empty, []).expect("a new file");
    fs::write(&text, "a line of text that is no library\n".repeat(100)).expect("a new file");
    let cases = [
        (fifo.as_str(), "not a file"),
        (&folder.path(""), "not a file"),
        ("/dev/null", "not a file"),
        (&empty, "file too short"),
        (&text, "invalid ELF header"),
        ("/nonexistent/lib.so", "No such file"),
        ("lanecrypt-nonexistent.so", "No such file"),
        // A library, but not this one.
        ("libc.so.6", "the library has no "),
    ];
    for name in LIBRARIES {
        for (path, about) in cases {
            let output = shell(&format!("exec {SPEED} --peer-lib {name}={path}"));
            assert_one_line(&output, 2, about);
            assert!(errors(&output).contains(name), "{}", errors(&output));
            assert!(output.stdout.is_empty(), "nothing was measured");
        }
    }
}

#[test]
fn a_library_that_may_not_be_read_is_a_bad_argument() {
    let folder = Folder::new("unreadable");
    let file = folder.path("lib.so");
    fs::write(&file, "x").expect("a new file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("it is ours");
    if fs::read(&file).is_ok() {
        println!("SKIPPED unreadable-library: run the tests as another user than root");
        return;
    }
    let output = shell(&format!("exec {SPEED} --peer-lib openssl={file}"));
    assert_one_line(&output, 2, "Permission denied");
}

#[test]
fn results_that_cannot_be_written_are_known_before_anything_is_measured() {
    let folder = Folder::new("targets");
    for (target, about) in [
        (folder.fifo("fifo"), "nobody reads it"),
        (folder.path(""), "Is a directory"),
        (folder.path("no/such"), "No such file"),
    ] {
        let output = shell(&format!("exec {SPEED} --json {target}"));
        assert_one_line(&output, 1, about);
        assert!(output.stdout.is_empty(), "nothing was measured");
    }
    let output = shell(&format!("exec {SPEED} --json /dev/full"));
    assert_one_line(&output, 1, "cannot write /dev/full: No space left on device");
}

/// Also when standard output is closed, or full: that is said, and the results are there.
#[test]
fn results_replace_those_in_a_file() {
    let folder = Folder::new("results");
    let file = folder.path("results.json");
    for (redirection, code) in [("", 0), (">&-", 0), (">/dev/full", 1)] {
        fs::write(&file, "x".repeat(1 << 20)).expect("a file");
        let output = shell(&format!("exec {SPEED} --json {file} {redirection}"));
        assert_eq!(output.status.code(), Some(code), "{redirection}: {}", errors(&output));
        let text = fs::read_to_string(&file).expect("the file");
        assert!(text.starts_with('{') && text.ends_with("}\n") && !text.contains("xx"), "{text}");
    }
}

/// It sees the end once, when all has been written.
#[test]
fn whoever_reads_a_fifo_gets_all_results() {
    let folder = Folder::new("fifo");
    let fifo = folder.fifo("fifo");
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let reader = rustix::fs::open(&fifo, flags, Mode::empty()).expect("opens without a writer");
    let text = std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            // Until there is something to read, or whoever opened it has closed it again.
            poll(&mut [PollFd::new(&reader, PollFlags::IN)], None).expect("a descriptor");
            rustix::fs::fcntl_setfl(&reader, OFlags::RDONLY).expect("a descriptor");
            let mut text = String::new();
            File::from(reader).read_to_string(&mut text).map(|_| text)
        });
        let output = shell(&format!("exec {SPEED} --json {fifo}"));
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        reader.join().expect("no panic").expect("text")
    });
    assert!(text.starts_with('{') && text.ends_with("}\n"), "{text:?}");
}
