//! What the program of earlier releases wrote: keys, files, settings, results; and what others read
//! of it: the log, metrics, names of keys.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use lanecrypt_device::{Client, Error, RejectReason};
use lanecrypt_testing::fixtures;
use lanecrypt_testing::numbers::hex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Folder, shell};

/// Settings of every kind. The numbers of users need not be those of any.
const SETTINGS: &str = r#"allow = [4000001]

[limits]
clients = 20
user_clients = 10
sessions = 30
user_sessions = 90
signatures = 8
arena = 1048576
memory = 67108864

[[key]]
name = "cipher"
algorithm = "aes-256-gcm"
operations = ["seal", "open"]
current = "b"
versions = [{ version = "a", file = "raw.key" }, { version = "b", file = "other.key" }]

[[key]]
name = "of others"
algorithm = "aes-256-gcm-siv"
allow = [4000002, 4000003]
file = "raw.key"

[[key]]
name = "stream"
algorithm = "aes-256-ctr"
nonces = "client"
file = "raw.key"

[[key]]
name = "root"
algorithm = "aes-256-wrap"
file = "root.key"

[[key]]
name = "wrapped"
algorithm = "chacha20-poly1305"
file = "wrapped.key"
wrapped_by = "root"

[[key]]
name = "tls"
algorithm = ["rsa-pkcs1v15-sha256", "rsa-pss-sha256"]
file = "rsa.pem"

[[key]]
name = "agrees"
algorithm = "x25519"
file = "raw.key"
operations = ["agree"]
"#;

/// A point of Curve25519 (RFC 7748, section 6.1).
const POINT: &str = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
const RSA: &str = include_str!("../../../rsa/tests/key.pem");

/// A copy of a folder, whose files only their user can read.
fn copied(from: &Path, name: &str) -> Folder {
    let folder = Folder::new(name);
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = folder.path(entry.file_name().to_str().expect("a name of ours"));
        fs::copy(entry.path(), &path).expect("it can be read");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    }
    folder
}

/// Runs the program in a folder, with a passphrase in descriptor 3.
fn run(folder: &Path, arguments: &str) -> Vec<u8> {
    let folder = folder.display();
    let said = shell(&format!("cd '{folder}' && \"$lanecrypt\" {arguments} 3<passphrase"));
    assert!(said.status.success(), "{arguments}: {said:?}");
    said.stdout
}

fn write(folder: &Path) {
    fs::write(folder.join("passphrase"), "correct horse battery staple\n").expect("a new file");
    fs::write(folder.join("serve.toml"), SETTINGS).expect("a new file");
    fs::write(folder.join("rsa.pem"), RSA).expect("a new file");
    fs::set_permissions(folder.join("rsa.pem"), fs::Permissions::from_mode(0o600)).expect("ours");
    fs::write(folder.join("text"), fixtures::text(500)).expect("a new file");
    for arguments in [
        "keygen raw.key",
        "keygen other.key",
        "keygen root.key --passphrase",
        "keygen wrapped.key --wrapped-by root.key --passphrase-fd 3",
        "encrypt text --key-file raw.key --output key.lanecrypt",
        "encrypt text --passphrase-fd 3 --output passphrase.lanecrypt",
        "openssl --key web --socket /run/lanecrypt.sock > name.pem",
        "speed packets --peers none --only '*aes-256-gcm/seal/64/*' --quick --budget 2s \
         --json results.json > /dev/null 2>&1",
    ] {
        run(folder, arguments);
    }
    let copy = copied(folder, "upgrade-write");
    let mut daemon = Daemon::new(&copy);
    let sealed: String = daemon.uses().iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("sealed.jsonl"), sealed).expect("a new file");
    fs::write(folder.join("metrics.txt"), daemon.metrics()).expect("a new file");
    fs::write(folder.join("log.jsonl"), daemon.end()).expect("a new file");
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A daemon with the settings and keys of a folder.
struct Daemon {
    child: Process,
    client: Client,
    metrics: String,
}

impl Daemon {
    fn new(folder: &Folder) -> Self {
        let (socket, metrics) = (folder.path("socket"), folder.path("metrics"));
        let mut command = Command::new("sh");
        // The tests may run under `nohup`.
        let script = "cd \"$1\" && exec env --default-signal=HUP \"$2\" serve --socket socket \
                      --metrics metrics --log json --config serve.toml --passphrase-fd 3 \
                      3<passphrase";
        command.args(["-c", script, "sh", &folder.path(""), env!("CARGO_BIN_EXE_lanecrypt")]);
        command.env_remove("LANECRYPT_ISA").stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        let client = loop {
            match Client::connect(&socket) {
                Ok(client) => break client,
                Err(error) => {
                    if child.try_wait().expect("it can be asked").is_some() {
                        let said = child.wait_with_output().expect("it ended");
                        panic!("{error}: {}", String::from_utf8_lossy(&said.stderr));
                    }
                    std::thread::yield_now();
                }
            }
        };
        Self { child: Process(child), client, metrics }
    }

    /// Uses each key, and returns what it made.
    fn uses(&mut self) -> Vec<Value> {
        let digits = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let mut lines = Vec::new();
        for name in ["cipher", "wrapped"] {
            let session = self.client.named_session(name).expect("it is for this user");
            let mut packet = [fixtures::text(20), vec![0; 16]].concat();
            let nonce = self.client.seal_next(session, b"header", &mut packet).expect("it may");
            let (nonce, packet) = (digits(&nonce), digits(&packet));
            lines.push(json!({ "key": name, "nonce": nonce, "packet": packet }));
            self.client.close(session).expect("it is open");
        }
        let session = self.client.named_session("stream").expect("it is for this user");
        let mut data = fixtures::text(20);
        self.client.encrypt(session, &[9; 16], &mut data).expect("it may");
        lines.push(json!({ "key": "stream", "nonce": "09".repeat(16), "data": digits(&data) }));
        let session = self.client.named_session("tls").expect("it is for this user");
        let mut signature = [0; 256];
        self.client.sign(session, b"message", &mut signature).expect("it may");
        lines.push(json!({ "key": "tls", "signature": digits(&signature) }));
        let session = self.client.named_session("agrees").expect("it is for this user");
        let mut secret = [0; 32];
        self.client.agree(session, &hex(POINT), &mut secret).expect("it is valid");
        lines.push(json!({ "key": "agrees", "secret": digits(&secret) }));
        let refused = self.client.named_session("none");
        assert_eq!(refused, Err(Error::Denied(RejectReason::Name)));
        lines
    }

    /// Whether a key opens, verifies or repeats what a line has.
    fn reads(&mut self, line: &Value) {
        let bytes = |field: &str| hex(line[field].as_str().expect("digits"));
        let name = line["key"].as_str().expect("a name");
        let session = self.client.named_session(name).expect("it is for this user");
        match name {
            "cipher" | "wrapped" => {
                let mut packet = bytes("packet");
                let opened = self.client.open(session, &bytes("nonce"), b"header", &mut packet);
                assert_eq!(opened.expect("it is authentic"), fixtures::text(20), "{line}");
            }
            "stream" => {
                let mut data = bytes("data");
                self.client.decrypt(session, &bytes("nonce"), &mut data).expect("it may");
                assert_eq!(data, fixtures::text(20), "{line}");
            }
            "tls" => {
                let right = self.client.verify(session, b"message", &bytes("signature"));
                assert_eq!(right, Ok(()), "{line}");
            }
            "agrees" => {
                let mut secret = [0; 32];
                self.client.agree(session, &hex(POINT), &mut secret).expect("it is valid");
                assert_eq!(secret[..], bytes("secret"), "{line}");
            }
            _ => panic!("{line}"),
        }
    }

    fn metrics(&self) -> String {
        let mut text = String::new();
        let mut stream = UnixStream::connect(&self.metrics).expect("it listens");
        stream.shutdown(std::net::Shutdown::Write).expect("it is open");
        stream.read_to_string(&mut text).expect("it answers");
        text.split_once("\r\n\r\n").expect("a head and a body").1.to_owned()
    }

    /// Reloads and ends the daemon, and returns its log.
    fn end(self) -> String {
        let Self { mut child, client, .. } = self;
        drop(client);
        let process = Pid::from_child(&child.0);
        let mut said = BufReader::new(child.0.stderr.take().expect("a pipe"));
        let mut log = String::new();
        kill_process(process, Signal::HUP).expect("it runs");
        while !log.contains("\"reloaded\"") {
            assert!(said.read_line(&mut log).expect("it can be read") > 0, "it ended: {log}");
        }
        kill_process(process, Signal::TERM).expect("it runs");
        said.read_to_string(&mut log).expect("it can be read");
        assert!(child.0.wait().expect("it ends").success(), "{log}");
        log
    }
}

/// The fields of each event of a log, and whether they are numbers.
fn events(log: &str) -> BTreeMap<String, BTreeMap<String, bool>> {
    let mut events: BTreeMap<String, BTreeMap<String, bool>> = BTreeMap::new();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let name = line["event"].as_str().expect("a name").to_owned();
        let fields = line.as_object().expect("an object").iter();
        let fields = fields.map(|(name, value)| (name.clone(), value.is_number()));
        events.entry(name).or_default().extend(fields);
    }
    events
}

#[test]
fn keys_files_settings_and_results_of_earlier_releases() {
    fixtures::write("program", write);
    for from in fixtures::of_every_version("program") {
        let read = |name: &str| fs::read_to_string(from.join(name)).expect("it is there");
        let folder = copied(&from, "upgrade");
        let at = folder.path("");
        let at = Path::new(&at);
        for (secret, file) in
            [("--key-file raw.key", "key.lanecrypt"), ("--passphrase-fd 3", "passphrase.lanecrypt")]
        {
            let text = run(at, &format!("decrypt {file} --output - {secret}"));
            assert!(text == fixtures::text(500), "{}: {file}", from.display());
        }
        let name = run(at, "openssl --key web --socket /run/lanecrypt.sock");
        assert_eq!(String::from_utf8(name).expect("text"), read("name.pem"));
        let compared = run(at, "compare results.json results.json");
        assert!(String::from_utf8_lossy(&compared).contains("0 slower"), "{compared:?}");
        let points = run(at, "report results.json --csv");
        assert!(String::from_utf8_lossy(&points).contains("aes-256-gcm/seal/64"), "{points:?}");

        let mut daemon = Daemon::new(&folder);
        let sealed = read("sealed.jsonl");
        assert_eq!(sealed.lines().count(), 5);
        for line in sealed.lines() {
            daemon.reads(&serde_json::from_str(line).expect("JSON"));
        }
        daemon.uses();
        let metrics = daemon.metrics();
        for line in read("metrics.txt").lines().filter(|line| line.starts_with("# TYPE ")) {
            assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
        }
        let log = daemon.end();
        let found = events(&log);
        let (before, mut fields) = (events(&read("log.jsonl")), 0);
        for (name, event) in &before {
            for (field, is_number) in event {
                let now = found.get(name).and_then(|event| event.get(field));
                assert_eq!(now, Some(is_number), "{name}.{field}: {log}");
                fields += 1;
            }
        }
        assert!(before.len() >= 7 && fields >= 30, "{fields} fields of {before:?}");
    }
}

/// The files of the library are read by the program, too.
#[test]
fn files_of_the_library_of_earlier_releases() {
    for from in fixtures::of_every_version("files") {
        let folder = copied(&from, "upgrade-files");
        for (name, _) in fixtures::files(&from, ".lanecrypt") {
            let secret = match name.starts_with("key-") {
                true => "--key-file key",
                false => "--passphrase-fd 3",
            };
            let arguments = format!("decrypt {name}.lanecrypt --output - {secret}");
            let text = run(Path::new(&folder.path("")), &arguments);
            let (_, bytes) = name.rsplit_once('-').expect("a number of bytes");
            assert!(text == fixtures::text(bytes.parse().expect("a number")), "{name}");
        }
    }
}
