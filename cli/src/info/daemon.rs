//! `lanecrypt info --socket`: what a daemon has done.

use core::time::Duration;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::thread;

use lanecrypt_device::{Client, Statistics};
use serde_json::json;

use crate::exit;

/// The bounds of a timeout.
const LEAST: Duration = Duration::from_millis(1);
const MOST: Duration = Duration::from_secs(3600);

/// The parts of all requests whose times are shown.
const PARTS: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
    /// One line that says whether the daemon answers.
    Check,
}

/// A time in seconds, as an argument.
pub(super) fn seconds(text: &str) -> Result<Duration, &'static str> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| (LEAST..=MOST).contains(time)).ok_or("not between 0.001 and 3600")
}

/// Asks the daemon at this path, and prints what it answers.
pub(super) fn run(path: &Path, timeout: Duration, form: Form) -> ExitCode {
    match (statistics(path, timeout), form) {
        (Ok(statistics), Form::Json) => exit::print(&format!("{:#}\n", json(&statistics))),
        (Ok(statistics), Form::Text) => exit::print(&text(&statistics)),
        (Ok(_), Form::Check) => exit::print(&format!("{}: the daemon answers\n", path.display())),
        (Err(reason), _) => {
            let hint = match reason.ends_with("no such socket") {
                true => "; 'lanecrypt serve' starts a daemon, and says where",
                false => "",
            };
            exit::failure(&format!("{reason}{hint}"))
        }
    }
}

fn statistics(path: &Path, timeout: Duration) -> Result<Statistics, String> {
    // A thread that still waits ends with the program.
    let (answer, answered) = sync_channel(1);
    let to = path.to_owned();
    let asks = thread::Builder::new().spawn(move || {
        // It may no longer be waited for.
        let _ = answer.try_send(Client::<Vec<u8>>::statistics(to, timeout));
    });
    asks.map_err(|error| format!("cannot start a thread: {error}"))?;
    match answered.recv_timeout(timeout) {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("{}: the daemon does not answer", path.display())),
    }
}

fn text(statistics: &Statistics) -> String {
    let mut rows = vec![
        ("Clients", statistics.clients.to_string()),
        ("Sessions", statistics.sessions.to_string()),
        ("Named keys", statistics.named_keys.to_string()),
        ("Requests", statistics.requests.to_string()),
        ("Signatures", statistics.signatures.to_string()),
        ("Requests that failed", statistics.failed.to_string()),
        ("Batches", statistics.batches.to_string()),
        ("Requests in a batch (lane fill)", format!("{:.2}", statistics.lane_utilization())),
        ("Times that it slept", statistics.sleeps.to_string()),
    ];
    let latencies = PARTS.map(|(name, part)| {
        let time = statistics.latency(part).map_or_else(|| String::from("-"), time);
        format!("{name} {time}")
    });
    rows.push(("Answered within, once found", latencies.join(", ")));
    let mut text = String::new();
    for (name, value) in rows {
        text += &format!("{name:<34}{value}\n");
    }
    text
}

fn time(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    match nanoseconds {
        0..10_000 => format!("{nanoseconds} ns"),
        10_000..10_000_000 => format!("{} µs", nanoseconds / 1000),
        _ => format!("{} ms", nanoseconds / 1_000_000),
    }
}

fn json(statistics: &Statistics) -> serde_json::Value {
    let latencies = PARTS.map(|(name, part)| {
        (name.to_owned(), json!(statistics.latency(part).map(|time| time.as_nanos() as f64)))
    });
    json!({
        "clients": statistics.clients,
        "sessions": statistics.sessions,
        "named_keys": statistics.named_keys,
        "requests": statistics.requests,
        "signatures": statistics.signatures,
        "signature_batches": statistics.signature_batches,
        "failed": statistics.failed,
        "batches": statistics.batches,
        "lane_utilization": statistics.lane_utilization(),
        "batch_sizes": statistics.batch_sizes,
        "sleeps": statistics.sleeps,
        "latency_ns": latencies.into_iter().collect::<serde_json::Map<_, _>>(),
    })
}
