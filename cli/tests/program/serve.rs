//! `lanecrypt serve`, and what `info --socket` says about it.

mod files;
mod keys;
mod log;
mod metrics;
mod sandbox;
mod service;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Output, Stdio};

use lanecrypt_device::Client;
use lanecrypt_engine::Operation;
use lanecrypt_rsa::{Hash, Padding, PrivateKey, Workspace};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Folder, assert_one_line, errors, lanecrypt, shell};

/// A daemon that has said that it serves.
fn serve(arguments: &[&str]) -> Child {
    serve_by(lanecrypt(&[&["serve"], arguments].concat()))
}

/// The same with a command that starts it.
fn serve_by(mut command: Command) -> Child {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut line = String::new();
    let pipe = child.stderr.as_mut().expect("a pipe");
    BufReader::new(pipe).read_line(&mut line).expect("it can be read");
    assert!(line.starts_with("lanecrypt: serving at "), "{line}");
    child
}

fn end(child: Child) {
    end_by(child, Signal::TERM);
}

fn end_by(mut child: Child, signal: Signal) {
    kill_process(Pid::from_child(&child), signal).expect("it runs");
    assert!(child.wait().expect("it ends").success());
}

fn output(mut command: Command) -> Output {
    command.output().expect("the program starts")
}

/// Writes a file that only its user can read.
fn secret(folder: &Folder, name: &str, bytes: &[u8]) -> String {
    let path = folder.path(name);
    fs::write(&path, bytes).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    path
}

#[test]
fn serves_named_keys_and_tells_what_it_has_done() {
    let folder = Folder::new("serve");
    let socket = folder.path("socket");
    secret(&folder, "key", &[7; 32]);
    let config = secret(
        &folder,
        "config.toml",
        b"[[key]]\nname = \"backup\"\nfile = \"key\"\nalgorithm = \"aes-256-gcm\"\n\
          operations = [\"seal\"]\n",
    );
    let daemon = serve(&["--socket", &socket, "--config", &config, "--spin", "0"]);
    assert_eq!(fs::metadata(&socket).expect("it is there").permissions().mode() & 0o777, 0o600);
    let mut client: Client = Client::connect(&socket).expect("it listens");
    let session = client.named_session("backup").expect("it is for this user");
    let mut packet = [1; 20 + 16];
    let nonce = client.seal_next(session, b"", &mut packet).expect("it is allowed");
    let opened = client.open(session, &nonce, b"", &mut packet).map(|_| ());
    assert_eq!(opened, Err(lanecrypt_device::Error::NotAllowed), "{}", Operation::Open.name());

    let output_of_info = output(lanecrypt(&["info", "--socket", &socket]));
    let text = String::from_utf8(output_of_info.stdout).expect("it is UTF-8");
    for row in ["Clients                           1\n", "Named keys                        1\n"] {
        assert!(text.contains(row), "{text}");
    }
    assert!(text.contains("p99.9 "), "{text}");
    let output_of_info = output(lanecrypt(&["info", "--socket", &socket, "--json"]));
    let json: serde_json::Value =
        serde_json::from_slice(&output_of_info.stdout).expect("it is JSON");
    assert_eq!((json["requests"].as_u64(), json["failed"].as_u64()), (Some(2), Some(1)));
    assert!(json["latency_ns"]["p50"].as_f64().is_some_and(|time| time > 0.0));

    // A second one at the same path; the first keeps running.
    let second = output(lanecrypt(&["serve", "--socket", &socket]));
    assert_one_line(&second, 1, "another daemon listens there");
    end(daemon);
    assert!(fs::metadata(&socket).is_err(), "the socket is removed");
    let gone = output(lanecrypt(&["info", "--socket", &socket]));
    assert_one_line(&gone, 1, "no such socket");
}

#[test]
fn serves_named_rsa_keys() {
    let folder = Folder::new("serve-rsa");
    let socket = folder.path("socket");
    let pem = include_str!("../../../rsa/tests/key.pem");
    let key = PrivateKey::from_pem(pem).expect("it is a key");
    secret(&folder, "key.pem", pem.as_bytes());
    secret(&folder, "public.der", &key.public_key().to_spki_der());
    let config = secret(
        &folder,
        "config.toml",
        b"[[key]]\nname = \"release\"\nfile = \"key.pem\"\nalgorithm = \"rsa-pss-sha384\"\n\
          operations = [\"sign\"]\n\
          [[key]]\nname = \"check\"\nfile = \"public.der\"\nalgorithm = \"rsa-pkcs1v15-sha256\"\n\
          [[key]]\nname = \"tls\"\nfile = \"key.pem\"\n\
          algorithm = [\"rsa-pss-sha256\", \"rsa-pkcs1v15-sha512\"]\n",
    );
    let daemon = serve(&["--socket", &socket, "--config", &config]);
    let mut client: Client = Client::connect(&socket).expect("it listens");
    let release = client.named_session("release").expect("it is for this user");
    let mut signature = [0; 256];
    client.sign(release, b"message", &mut signature).expect("it is allowed");
    let mut workspace = Workspace::new();
    let padding = Padding::pss(Hash::SHA384);
    let right = key.public_key().verify(padding, b"message", &signature, &mut workspace);
    assert_eq!(right, Ok(()));
    let refused = client.verify(release, b"message", &signature);
    assert_eq!(refused, Err(lanecrypt_device::Error::NotAllowed));
    let check = client.named_session("check").expect("it is for this user");
    let padding = Padding::pkcs1v15(Hash::SHA256);
    key.sign(padding, b"message", &mut signature, &mut workspace).expect("it is made");
    client.verify(check, b"message", &signature).expect("it is right");
    let output_of_info = output(lanecrypt(&["info", "--socket", &socket]));
    let text = String::from_utf8(output_of_info.stdout).expect("it is UTF-8");
    assert!(text.contains("Signatures                        2\n"), "{text}");
    for padding in [Padding::pss(Hash::SHA256), Padding::pkcs1v15(Hash::SHA512)] {
        let tls = client.named_rsa_session("tls", padding).expect("it has the padding");
        client.sign(tls, b"message", &mut signature).expect("it is allowed");
        let right = key.public_key().verify(padding, b"message", &signature, &mut workspace);
        assert_eq!(right, Ok(()));
    }
    let asked =
        |name| output(lanecrypt(&["openssl", "--check", "--key", name, "--socket", &socket]));
    let found = String::from_utf8(asked("release").stdout).expect("it is UTF-8");
    assert_eq!(found, format!("{socket}: key release: RSA, 2048 bits\n"));
    assert_one_line(&asked("missing"), 1, &format!("{socket}: key missing: "));
    let other = client.named_rsa_session("tls", Padding::pss(Hash::SHA512));
    let refusal = lanecrypt_device::RejectReason::Padding;
    assert_eq!(other, Err(lanecrypt_device::Error::Denied(refusal)));
    end(daemon);
}

#[test]
fn a_killed_daemon_is_replaced() {
    let folder = Folder::new("serve-stale");
    let socket = folder.path("socket");
    let mut daemon = serve(&["--socket", &socket]);
    daemon.kill().expect("it runs");
    daemon.wait().expect("it ends");
    let stale = output(lanecrypt(&["info", "--socket", &socket]));
    assert_one_line(&stale, 1, "no daemon listens there");
    end(serve(&["--socket", &socket, "--allow-null", "--placement", "same"]));
}

#[test]
fn the_end_of_its_terminal_ends_it_in_order() {
    let folder = Folder::new("serve-hangup");
    let socket = folder.path("socket");
    for signal in [Signal::HUP, Signal::INT] {
        end_by(serve(&["--socket", &socket]), signal);
        assert!(fs::metadata(&socket).is_err(), "the socket is removed");
    }
    // One that was started to outlive its terminal does.
    let script = format!(
        "trap '' HUP
        \"$lanecrypt\" serve --socket {socket} & daemon=$!
        while ! \"$lanecrypt\" info --socket {socket} >/dev/null 2>&1; do sleep 0.01; done
        kill -HUP $daemon && \"$lanecrypt\" info --socket {socket} && kill $daemon && wait $daemon"
    );
    let said = shell(&script);
    assert!(said.status.success(), "{}", errors(&said));
}

#[test]
fn its_memory_is_locked_or_it_says_that_it_is_not() {
    let folder = Folder::new("serve-locked");
    let socket = folder.path("socket");
    let mut command = lanecrypt(&["serve", "--socket", &socket]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut text = String::new();
    said.read_line(&mut text).expect("it can be read");
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    let locked = locked.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    end(child);
    said.read_to_string(&mut text).expect("it can be read");
    let is_locked = locked > Some(1000_u64);
    assert_ne!(is_locked, text.contains("keys may reach swap space"), "{locked:?} {text}");
}

#[test]
fn the_default_socket_is_of_the_user() {
    let folder = Folder::new("serve-default");
    let mut command = lanecrypt(&["serve"]);
    command.env("XDG_RUNTIME_DIR", folder.path(""));
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut line = String::new();
    let pipe = child.stderr.as_mut().expect("a pipe");
    BufReader::new(pipe).read_line(&mut line).expect("it can be read");
    assert!(Client::<Vec<u8>>::connect(folder.path("lanecrypt.sock")).is_ok(), "{line}");
    end(child);
}

#[test]
fn wrong_settings_are_one_clear_line() {
    let folder = Folder::new("serve-wrong");
    let socket = folder.path("socket");
    secret(&folder, "key", &[7; 32]);
    let refused = |text: &str, about: &str| {
        let config = secret(&folder, "config.toml", text.as_bytes());
        let said = output(lanecrypt(&["serve", "--socket", &socket, "--config", &config]));
        assert_one_line(&said, 1, about);
    };
    let key = |more: &str| format!("[[key]]\nname = \"k\"\nfile = \"key\"\n{more}");
    refused(&key("algorithm = \"aes-128-gcm\""), "key k: wrong key length");
    refused(&key("algorithm = \"aes-257-gcm\""), "unknown algorithm aes-257-gcm");
    refused(&key("algorithm = \"null\""), "the null cipher has no key");
    let list = |names: &str| key(&format!("algorithm = [{names}]"));
    refused(&list(""), "an empty list is none of it");
    refused(&list("\"aes-128-gcm\", \"aes-256-gcm\""), "aes-128-gcm is none of it");
    refused(&list("\"rsa-pss-sha256\", \"rsa-pss-sha1\""), "rsa-pss-sha1 is none of it");
    refused(&list("\"rsa-pss-sha256\""), "malformed key");
    refused(&list("7"), "config.toml:4: algorithm: neither a name nor a list of names");
    // A cipher has no signatures, and one that authenticates nothing else than packets.
    for (operation, about) in [
        ("sign", "key k: its algorithm cannot sign"),
        ("verify", "key k: its algorithm cannot verify"),
        ("decipher", "key k: unknown operation decipher"),
        ("encrypt", "key k: its algorithm cannot encrypt"),
    ] {
        let text = format!("algorithm = \"aes-256-gcm\"\noperations = [\"{operation}\"]");
        refused(&key(&text), about);
    }
    refused(
        &key("algorithm = \"aes-256-gcm\"\ncolour = 1"),
        "config.toml:5: unknown field `colour`",
    );
    refused(&key("algorithm = \"rsa-pss-sha256\""), "key k: key: malformed key");
    for name in ["rsa", "rsa-pss-sha1", "rsa-pss-sha256-", "rsa-oaep-sha256"] {
        refused(&key(&format!("algorithm = \"{name}\"")), &format!("unknown algorithm {name}"));
    }
    refused(&key(""), "algorithm");
    refused("\nallow = [\"root\", \"no-such-user\"]", "config.toml:2: allow: no user no-such-user");
    refused("allow = [\"@no-such-group\"]", "config.toml:1: allow: no group no-such-group");
    refused("allow = [-1]", "neither a user, nor an @group, nor the number of a user");
    let of_key = key("algorithm = \"aes-256-gcm\"\nallow = [1,\n\"no-such-user\"]");
    refused(&of_key, "config.toml:6: allow: no user no-such-user");
    refused("[[key]]\nname = \"k\"\nalgorithm = \"aes-256-gcm\"", "either file or credential");
    refused("[[key]]\nname = \"k\"\nfile = \"none\"\nalgorithm = \"aes-256-gcm\"", "none");
    let twice = key("algorithm = \"aes-256-gcm\"\n");
    refused(&format!("{twice}{twice}"), "two keys have the name k");
    // Others can read the key.
    let path = folder.path("key");
    fs::set_permissions(path, fs::Permissions::from_mode(0o640)).expect("it is ours");
    refused(&key("algorithm = \"aes-256-gcm\""), "others can read or change it (mode 640");

    fs::set_permissions(folder.path("key"), fs::Permissions::from_mode(0o600)).expect("it is ours");
    // What is waited for for ever must not be opened.
    folder.fifo("fifo");
    let fifo = "[[key]]\nname = \"k\"\nfile = \"fifo\"\nalgorithm = \"aes-256-gcm\"";
    refused(fifo, "fifo: not a file");
    let said = output(lanecrypt(&["serve", "--config", &folder.path("fifo")]));
    assert_one_line(&said, 1, "fifo: not a file");
    // Who can change the settings could have the keys.
    let config = secret(&folder, "config.toml", key("algorithm = \"aes-256-gcm\"").as_bytes());
    for mode in [0o620, 0o602] {
        fs::set_permissions(&config, fs::Permissions::from_mode(mode)).expect("it is ours");
        let said = output(lanecrypt(&["serve", "--socket", &socket, "--config", &config]));
        assert_one_line(&said, 1, &format!("others can change it (mode {mode:o}; use chmod 600)"));
    }
    let said = output(lanecrypt(&["serve", "--config", &folder.path("none.toml")]));
    assert_one_line(&said, 1, "none.toml");
    let long = format!("/tmp/{}", "x".repeat(120));
    assert_one_line(&output(lanecrypt(&["serve", "--socket", &long])), 1, "longer than 107 bytes");
    let nowhere = folder.path("nowhere/socket");
    assert_one_line(&output(lanecrypt(&["serve", "--socket", &nowhere])), 1, "no such directory");
    for wrong in ["elsewhere", "-1", ""] {
        let said = output(lanecrypt(&["serve", &format!("--placement={wrong}")]));
        assert_one_line(&said, 2, "--placement");
    }
    let far = output(lanecrypt(&["serve", "--socket", &socket, "--placement", "1023"]));
    assert!(errors(&far).contains("no such processor"), "{}", errors(&far));
    assert_eq!(far.status.code(), Some(2));
    assert_one_line(&output(lanecrypt(&["serve", "--spin", "1000001"])), 2, "--spin");
}
