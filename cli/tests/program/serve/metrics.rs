//! Statistics for Prometheus.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;

use lanecrypt_device::Client;

use super::{end, output, serve};
use crate::support::{Folder, assert_one_line, lanecrypt};

pub(super) fn answer(path: &str, request: &str) -> String {
    let mut stream = UnixStream::connect(path).expect("it listens");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    text
}

#[test]
fn any_connection_gets_the_statistics() {
    let folder = Folder::new("serve-metrics");
    let (socket, metrics) = (folder.path("socket"), folder.path("metrics"));
    let daemon = serve(&["--socket", &socket, "--metrics", &metrics]);
    let mode = fs::metadata(&metrics).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let _client: Client = Client::connect(&socket).expect("it listens");
    // One that says nothing, and one that has gone, delay others only a little.
    let _silent = UnixStream::connect(&metrics).expect("it listens");
    drop(UnixStream::connect(&metrics).expect("it listens"));
    let long = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n", "x".repeat(5000));
    for request in ["GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "nonsense\r\n\r\n", &long] {
        let text = answer(&metrics, request);
        let (head, body) = text.split_once("\r\n\r\n").expect("it has a head");
        assert!(head.starts_with("HTTP/1.0 200 OK\r\n"), "{head}");
        assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        assert!(body.contains("\n# TYPE lanecrypt_clients gauge\nlanecrypt_clients 1\n"), "{body}");
        assert!(body.ends_with('\n'), "{body}");
        for line in body.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').expect("it has a value");
            assert!(name.starts_with("lanecrypt_"), "{line}");
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
    // Without a request.
    let mut stream = UnixStream::connect(&metrics).expect("it listens");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    assert!(text.starts_with("HTTP/1.0 200 OK\r\n"), "{text}");
    let second = folder.path("second");
    let said = output(lanecrypt(&["serve", "--socket", &second, "--metrics", &metrics]));
    assert_one_line(&said, 1, "Address already in use");
    end(daemon);
    assert!(fs::metadata(&metrics).is_err(), "it is removed");
}
