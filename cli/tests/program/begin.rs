//! The first minutes: what the program says of itself, completions in real shells, manual pages.

use std::fs;
use std::process::Command;

use crate::support::{Folder, assert_one_line, errors, lanecrypt, run, shell};

/// All commands that are shown.
const COMMANDS: [&str; 13] = [
    "random",
    "keygen",
    "encrypt",
    "decrypt",
    "speed",
    "compare",
    "report",
    "info",
    "check",
    "serve",
    "openssl",
    "completions",
    "man",
];

#[test]
fn without_a_command_it_says_how_to_begin() {
    let output = run(lanecrypt(&[]), b"");
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty(), "a pipe gets nothing");
    assert!(text.lines().count() < 24 && text.lines().all(|line| line.len() <= 80), "{text}");
    // What it says to type works, one line after the other.
    let folder = Folder::new("begin");
    fs::write(folder.path("notes.txt"), "notes").expect("a new file");
    let mut script =
        format!("set -e; cd {}; lanecrypt() {{ $lanecrypt \"$@\"; }}\n", folder.path(""));
    let mut examples = 0;
    for line in text.lines().filter(|line| line.starts_with("  lanecrypt ")) {
        let words = line.trim_start().split("   ").next().expect("words");
        examples += 1;
        match words {
            // It takes too long.
            "lanecrypt speed --quick" => script += "lanecrypt speed --quick --help > out\n",
            _ if words.contains("decrypt") => script += &format!("rm notes.txt; {words}\n"),
            _ => script += &format!("{words} > out\n"),
        }
    }
    assert_eq!(examples, 6);
    let output = shell(&script);
    assert_eq!(output.status.code(), Some(0), "{script}: {}", errors(&output));
    assert_eq!(fs::read(folder.path("notes.txt")).expect("it is back"), b"notes");
}

#[test]
fn help_has_every_command_and_the_exit_codes() {
    let output = run(lanecrypt(&["--help"]), b"");
    let text = str::from_utf8(&output.stdout).expect("text");
    for command in COMMANDS {
        assert!(text.contains(&format!("\n  {command} ")), "{command}");
    }
    for part in ["Exit status:", "To begin:", "LANECRYPT_ISA"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("-child"), "{text}");
}

/// Each command has examples and its exit status, in its help and in its page.
#[test]
fn manual_pages_have_examples_status_and_each_other() {
    let folder = Folder::new("man-pages");
    let output = run(lanecrypt(&["man", &folder.path("")]), b"");
    assert!(output.status.success(), "{}", errors(&output));
    for command in COMMANDS {
        let page = fs::read_to_string(folder.path(&format!("lanecrypt-{command}.1")));
        let page = page.expect("a page for each command");
        for part in ["\n.SH EXIT STATUS\n", "\n.SH SEE ALSO\nlanecrypt(1), lanecrypt\\-"] {
            assert!(page.contains(part), "{command}: {page}");
        }
        assert!(page.contains("\n.SH EXAMPLES\n"), "{command}");
        assert!(page.contains(&format!("lanecrypt\\-{command} \\- ")), "{command}: {page}");
    }
    let page = fs::read_to_string(folder.path("lanecrypt.1")).expect("the program's own");
    assert!(page.contains(".SH EXAMPLES") && page.contains("lanecrypt\\-encrypt(1)"), "{page}");
}

fn script(shell: &str) -> String {
    let output = run(lanecrypt(&["completions", shell]), b"");
    assert!(output.status.success(), "{}", errors(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// The words that bash offers for the last one of `words`.
fn offered(folder: &Folder, words: &[&str]) -> Vec<String> {
    let mut ask = format!("source {}\nCOMP_WORDS=(", folder.path("lanecrypt.bash"));
    for word in words {
        ask += &format!("'{word}' ");
    }
    let last = words.len() - 1;
    let [word, before] = [words[last], words[last - 1]];
    ask += &format!(") COMP_CWORD={last}\n_lanecrypt lanecrypt '{word}' '{before}'\n");
    ask += "printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["--norc", "-c", &ask]).output().expect("bash");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let folder = Folder::new("bash");
    fs::write(folder.path("lanecrypt.bash"), script("bash")).expect("a new file");
    assert_eq!(offered(&folder, &["lanecrypt", "enc"]), ["encrypt"]);
    let all = offered(&folder, &["lanecrypt", ""]);
    for command in COMMANDS {
        assert!(all.iter().any(|word| word == command), "{command}: {all:?}");
    }
    assert!(!all.iter().any(|word| word.ends_with("child")), "{all:?}");
    assert_eq!(offered(&folder, &["lanecrypt", "encrypt", "--key"]), ["--key-file", "--key-fd"]);
    assert_eq!(
        offered(&folder, &["lanecrypt", "random", "--format", ""]),
        ["raw", "hex", "base64"]
    );
    assert_eq!(offered(&folder, &["lanecrypt", "openssl", "--for", "ng"]), ["nginx"]);
    assert_eq!(offered(&folder, &["lanecrypt", "completions", "z"]), ["zsh"]);
}

/// Other shells read what is for them.
#[test]
fn other_shells_understand_their_scripts() {
    let folder = Folder::new("shells");
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let file = folder.path(shell);
        fs::write(&file, script(shell)).expect("a new file");
        match Command::new(shell).args([check, &file]).output() {
            Ok(output) => {
                assert!(output.status.success(), "{shell}: {}", errors(&output));
                assert!(output.stderr.is_empty(), "{shell}: {}", errors(&output));
            }
            Err(_) => println!("SKIPPED {shell}: apt install {shell}"),
        }
    }
    assert!(script("powershell").contains("Register-ArgumentCompleter"));
    assert_one_line(&run(lanecrypt(&["completions", "csh"]), b""), 2, "powershell, zsh");
}

#[test]
fn manual_pages_are_sound() {
    let folder = Folder::new("man");
    let pages = folder.path("man1");
    let output = run(lanecrypt(&["man", &pages]), b"");
    assert!(output.status.success() && output.stdout.is_empty(), "{}", errors(&output));
    let mut names: Vec<String> = fs::read_dir(&pages)
        .expect("a folder")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    let mut expected: Vec<String> =
        COMMANDS.iter().map(|command| format!("lanecrypt-{command}.1")).collect();
    expected.push(String::from("lanecrypt.1"));
    expected.sort();
    assert_eq!(names, expected);
    let whole = run(lanecrypt(&["man"]), b"");
    assert!(fs::read(format!("{pages}/lanecrypt.1")).expect("a page") == whole.stdout);
    assert!(String::from_utf8(whole.stdout).expect("text").contains("EXIT STATUS"));
    for name in &names {
        let page = format!("{pages}/{name}");
        match Command::new("groff").args(["-man", "-ww", "-z", "-Tutf8", &page]).output() {
            Ok(output) => assert!(
                output.status.success() && output.stderr.is_empty(),
                "{name}: {}",
                errors(&output)
            ),
            Err(_) => {
                println!("SKIPPED groff: apt install groff-base");
                break;
            }
        }
    }
    let output = run(lanecrypt(&["man", "/dev/null/pages"]), b"");
    assert_one_line(&output, 1, "/dev/null/pages");
}
