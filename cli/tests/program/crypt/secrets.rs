//! Where keys and passphrases come from: descriptors, credentials, the terminal.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::process::Command;

use rustix::termios::{LocalModes, tcgetattr};

use super::{key, set_mode};
use crate::support::{Folder, assert_one_line, errors, lanecrypt, run, shell};
use crate::terminal::terminal;

/// A folder with `key`, `plain` and `words`.
fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    key(&folder);
    fs::write(folder.path("plain"), b"some text").expect("a new file");
    fs::write(folder.path("words"), b"correct horse\n").expect("a new file");
    folder
}

/// Runs a script in the folder, by bash.
fn script(folder: &Folder, script: &str) -> std::process::Output {
    fs::write(folder.path("script"), script).expect("a file");
    shell(&format!("cd '{}' && bash script", folder.path("")))
}

#[test]
fn keys_come_by_descriptors() {
    let folder = folder("crypt-key-fd");
    for (encrypt, decrypt) in [
        ("--key-fd 3 3<key", "-k key"),
        ("-k key", "--key-fd 3 3<key"),
        ("-k key", "--key-fd 3 3< <(cat key)"),
        ("-k <(cat key)", "-k <(sleep 0.1; cat key)"),
        ("-k /dev/fd/5 5<key", "-k /proc/self/fd/5 5< <(cat key)"),
        ("--key-fd 0 <key", "-k /dev/stdin <key"),
    ] {
        let output = script(
            &folder,
            &format!(
                "set -e; rm -f plain.lanecrypt; \"$lanecrypt\" encrypt plain {encrypt}
                 \"$lanecrypt\" decrypt plain.lanecrypt -o - {decrypt}"
            ),
        );
        assert!(output.status.success(), "{encrypt}, {decrypt}: {}", errors(&output));
        assert_eq!(output.stdout, b"some text");
    }
    for (arguments, code, about) in [
        ("--key-fd 7 7<&-", 1, "--key-fd 7: No such file"),
        ("--key-fd 3 3</dev/null", 1, "0 bytes where a key has 32"),
        // The writer has come and gone.
        ("--key-fd 3 3< <(true)", 1, "0 bytes where a key has 32"),
        ("-k <(head -c 31 key)", 1, "31 bytes where a key has 32"),
        ("-k <(cat key key)", 1, "64 bytes where a key has 32"),
        // A file is a file, by whichever path.
        ("-k /dev/fd/3 3<open", 1, "others can read or change it"),
        ("--key-fd 3 -k key 3<key", 2, "cannot be used with"),
    ] {
        fs::copy(folder.path("key"), folder.path("open")).expect("a copy");
        set_mode(&folder.path("open"), 0o644);
        let text = format!(
            "\"$lanecrypt\" encrypt plain -o - {arguments} </dev/null | cat\n\
                            exit ${{PIPESTATUS[0]}}"
        );
        assert_one_line(&script(&folder, &text), code, about);
    }
    let text = "\"$lanecrypt\" encrypt - --key-fd 0 <key";
    assert_one_line(&script(&folder, text), 2, "the key or a file, not both");
}

#[test]
fn a_key_is_a_credential() {
    let folder = folder("crypt-credential");
    fs::create_dir(folder.path("credentials")).expect("a folder");
    let path = folder.path("credentials/backup");
    fs::copy(folder.path("key"), &path).expect("a copy");
    let plain = folder.path("plain");
    let encrypt = |name: &str| {
        let mut command = lanecrypt(&["encrypt", "--credential", name, "-o", "-", &plain]);
        command.env("CREDENTIALS_DIRECTORY", folder.path("credentials"));
        run(command, b"")
    };
    // As they are with an access list.
    set_mode(&path, 0o440);
    let output = encrypt("backup");
    assert!(output.status.success(), "{}", errors(&output));
    let sealed = output.stdout;
    let opened = run(lanecrypt(&["decrypt", "-k", &folder.path("key")]), &sealed);
    assert_eq!(opened.stdout, b"some text");
    set_mode(&path, 0o444);
    assert_one_line(&encrypt("backup"), 1, "others can read or change it");
    for name in ["../key", "", "..", ".", "/etc/passwd"] {
        assert_one_line(&encrypt(name), 1, "is not a name");
    }
    assert_one_line(&encrypt("other"), 1, "No such file");
    let mut command = lanecrypt(&["encrypt", "--credential", "backup", "-o", "-", &plain]);
    command.env_remove("CREDENTIALS_DIRECTORY");
    assert_one_line(&run(command, b""), 1, "there is no $CREDENTIALS_DIRECTORY");
}

#[test]
fn passphrases_come_by_descriptors() {
    let folder = folder("crypt-passphrase");
    let output = script(
        &folder,
        "\"$lanecrypt\" encrypt plain --passphrase-fd 3 3<words && rm plain &&
         \"$lanecrypt\" decrypt plain.lanecrypt --passphrase-fd 3 3< <(printf 'correct horse')",
    );
    assert!(output.status.success() && output.stderr.is_empty(), "{}", errors(&output));
    assert_eq!(fs::read(folder.path("plain")).expect("it is back"), b"some text");
    let sealed = fs::read(folder.path("plain.lanecrypt")).expect("it is there");
    // Version 2, AES-256-GCM, chunks of 64 KiB, a passphrase, 4 lanes, 3 passes, 64 MiB.
    assert_eq!(sealed[10..24], [2, 1, 0, 1, 0, 0, 1, 4, 0, 3, 0, 1, 0, 0]);
    assert_eq!(sealed.len(), 104 + 9 + 16);
    for (arguments, about) in [
        ("--passphrase-fd 3 3< <(echo another)", "another key, or its header was changed"),
        ("--passphrase-fd 3 3< <(true)", "--passphrase-fd 3: it is empty"),
        ("--passphrase-fd 3 3< <(head -c 5000 /dev/zero)", "longer than 4096 bytes"),
        ("-k key", "is encrypted with a passphrase; use --passphrase"),
    ] {
        let text = format!("\"$lanecrypt\" decrypt plain.lanecrypt -o - {arguments}");
        assert_one_line(&script(&folder, &text), 1, about);
    }
    let text = "\"$lanecrypt\" encrypt -k key <plain >of_key
         \"$lanecrypt\" decrypt --passphrase-fd 3 3<words <of_key";
    assert_one_line(&script(&folder, text), 1, "is encrypted with a key; use --key-file");
}

/// Runs it with a terminal of its own, answers its questions in order, and returns its exit code
/// and what the terminal showed. At the end it must show again what is typed.
fn typed(arguments: &[&str], answers: &[&str]) -> (Option<i32>, String) {
    let (mut screen, program) = terminal();
    // Programs inherit ignored signals.
    let mut command = Command::new("env");
    command.args(["--default-signal", "setsid", "--ctty", "--wait"]);
    command.arg(env!("CARGO_BIN_EXE_lanecrypt")).args(arguments);
    command.env_remove("LANECRYPT_ISA").stdin(program.try_clone().expect("a second handle"));
    command.stderr(program.try_clone().expect("a second handle"));
    let mut child = command.spawn().expect("setsid");
    drop(command);
    let mut shown = String::new();
    for answer in answers {
        read_to_question(&mut screen, &mut shown);
        assert!(!tcgetattr(&program).expect("a terminal").local_modes.contains(LocalModes::ECHO));
        screen.write_all(answer.as_bytes()).expect("a terminal");
    }
    let code = child.wait().expect("it ends").code();
    assert!(tcgetattr(&program).expect("a terminal").local_modes.contains(LocalModes::ECHO));
    drop(program);
    // The end of a terminal is an error of its own, EIO.
    let mut rest = Vec::new();
    let _ = screen.read_to_end(&mut rest);
    (code, shown + &String::from_utf8_lossy(&rest))
}

fn read_to_question(screen: &mut File, shown: &mut String) {
    let before = shown.len();
    while !shown[before..].ends_with(": ") {
        let mut byte = [0];
        screen.read_exact(&mut byte).expect("it asks");
        shown.push(char::from(byte[0]));
    }
}

#[test]
fn a_passphrase_is_typed_and_not_shown() {
    let folder = folder("crypt-typed");
    let (plain, sealed) = (folder.path("plain"), folder.path("plain.lanecrypt"));
    let encrypt = ["encrypt", "--passphrase", &plain];
    let (code, shown) = typed(&encrypt, &["correct horse\n", "correct house\n"]);
    assert!(code == Some(1) && shown.contains("these are two passphrases"), "{shown}");
    let (code, shown) = typed(&encrypt, &["\n"]);
    assert!(code == Some(1) && shown.contains("the passphrase is empty"), "{shown}");
    // Interrupted: setsid repeats the signal as 128 and its number.
    let (code, shown) = typed(&encrypt, &["corr\u{3}"]);
    assert!(code == Some(130) || code.is_none(), "{code:?} {shown}");
    assert!(!fs::exists(&sealed).expect("a folder"));

    let (code, shown) = typed(&encrypt, &["correct horse\n", "correct horse\n"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("horse"), "{shown}");
    fs::remove_file(&plain).expect("it is ours");
    let (code, shown) = typed(&["decrypt", "-p", &sealed], &["correct horse\n"]);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(fs::read(&plain).expect("it is back"), b"some text");
    // Without a terminal.
    let mut command = Command::new("setsid");
    command.args(["--wait", env!("CARGO_BIN_EXE_lanecrypt"), "decrypt", "-p", &sealed]);
    assert_one_line(&run(command, b""), 1, "there is no terminal");
}
