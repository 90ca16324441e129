//! What the daemon gives up before it serves.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use lanecrypt_device::Client;
use lanecrypt_rsa::{Hash, Padding};

use super::{end, output, serve};
use crate::support::{Folder, assert_one_line, errors, lanecrypt};

/// The number of SIGSYS, by which the kernel ends a process that makes a forbidden call.
const SIGSYS: i32 = 31;

/// The values of one row in the status of all threads of a process.
fn rows(process: u32, name: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let row = |path: &Path| {
        // A thread may have ended.
        let status = fs::read_to_string(path.join("status")).ok()?;
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(value.trim().to_owned())
    };
    tasks.filter_map(|task| row(&task.expect("it can be read").path())).collect()
}

/// What `--explain` prints.
fn explained(folder: &Folder) -> String {
    let said = output(lanecrypt(&["serve", "--socket", &folder.path("none"), "--explain"]));
    assert!(said.status.success(), "{}", errors(&said));
    String::from_utf8(said.stdout).expect("it is UTF-8")
}

#[test]
fn all_threads_are_in_the_sandbox() {
    let folder = Folder::new("serve-sandbox");
    let socket = folder.path("socket");
    let metrics = folder.path("metrics");
    let has_filter = explained(&folder).contains("System calls (enforced");
    let daemon = serve(&["--socket", &socket, "--metrics", &metrics]);
    // Threads for RSA start with the first key.
    let mut client: Client = Client::connect(&socket).expect("it listens");
    let padding = Padding::pss(Hash::SHA256);
    let session = client.generated_rsa_session(2048, padding).expect("it makes keys");
    client.sign(session, b"message", &mut [0; 256]).expect("it signs");
    let process = daemon.id();
    let all = |name: &str, is_right: fn(&str) -> bool| {
        let rows = rows(process, name);
        assert!(rows.len() > 3, "{name} {rows:?}");
        assert!(rows.iter().all(|row| is_right(row)), "{name} {rows:?}");
    };
    all("NoNewPrivs:", |row| row == "1");
    // Memory that is locked beyond a limit needs one right.
    let is_right = |row: &str| ["0000000000000000", "0000000000004000"].contains(&row);
    all("CapEff:", is_right);
    all("CapPrm:", is_right);
    all("CapInh:", |row| row == "0000000000000000");
    if has_filter {
        all("Seccomp:", |row| row == "2");
    }
    end(daemon);
    for path in [&socket, &metrics] {
        assert!(fs::metadata(path).is_err(), "the sandbox lets it remove {path}");
    }
}

#[test]
fn forbidden_things_fail() {
    let folder = Folder::new("serve-forbidden");
    let kernel = explained(&folder);
    let socket = folder.path("socket");
    let tries = |what: &str| {
        let mut arguments = vec!["serve", "--socket", &socket, "--try-forbidden", what];
        let kept = output(lanecrypt(&arguments));
        arguments.push("--no-sandbox");
        (kept, output(lanecrypt(&arguments)))
    };
    let (file, free) = tries("file");
    assert!(free.status.success(), "{}", errors(&free));
    if kernel.contains("Files (enforced") {
        assert_one_line(&file, 1, "forbidden: Permission denied");
    }
    if kernel.contains("System calls (enforced") {
        for what in ["program", "network"] {
            let (ended, free) = tries(what);
            assert_eq!(ended.status.signal(), Some(SIGSYS), "{what}: {}", errors(&ended));
            assert!(free.status.code().is_some(), "{what}");
        }
    }
}

#[test]
fn it_explains_what_it_allows() {
    let folder = Folder::new("serve-explain");
    let text = explained(&folder);
    let own = folder.path("*");
    for part in ["Files (", "System calls (", " recvmsg", "no new privileges       yes", &own] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("execve"), "{text}");
    let both = output(lanecrypt(&["serve", "--explain", "--no-sandbox"]));
    assert_one_line(&both, 2, "--no-sandbox");
}

#[test]
fn it_becomes_another_user() {
    let folder = Folder::new("serve-user");
    let unknown = output(lanecrypt(&["serve", "--user", "no-such-user"]));
    assert_one_line(&unknown, 1, "no user no-such-user");
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED serve-user: run the tests as root");
        return;
    }
    let passwd = fs::read_to_string("/etc/passwd").expect("it can be read");
    let nobody = passwd.lines().find_map(|line| line.strip_prefix("nobody:"));
    let nobody = nobody.and_then(|line| line.split(':').nth(1)).and_then(|id| id.parse().ok());
    let nobody: u32 = nobody.expect("every system has this user");
    let place = folder.path("place");
    fs::create_dir(&place).expect("it is new");
    std::os::unix::fs::chown(&place, Some(nobody), None).expect("root may");
    let socket = folder.path("place/socket");
    // Root's, which the other user cannot read.
    super::secret(&folder, "key", &[7; 32]);
    let text = "[[key]]\nname = \"k\"\nfile = \"key\"\nalgorithm = \"aes-256-gcm\"\nallow = [0]";
    let config = super::secret(&folder, "config.toml", text.as_bytes());
    let daemon = serve(&["--socket", &socket, "--user", "nobody", "--config", &config]);
    assert_eq!(fs::metadata(&socket).expect("it is there").uid(), nobody);
    let number = nobody.to_string();
    for row in rows(daemon.id(), "Uid:") {
        assert!(row.split_whitespace().all(|user| user == number), "{row}");
    }
    let mut client: Client = Client::connect(&socket).expect("it listens");
    client.named_session("k").expect("it is for root");
    drop(client);
    end(daemon);
    assert!(fs::metadata(&socket).is_err(), "the socket is removed");
}
