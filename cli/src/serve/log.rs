//! The log of the daemon: one line for each event on standard error.
//!
//! A thread of its own writes the lines. They reach it by a queue of limited length, so that
//! nothing waits for a reader that does not read: lines that find no place are counted, and the
//! log says how many were lost as soon as it can be written again.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::SystemTime;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::escape::{LONGEST, LONGEST_MESSAGE, escaped, visible};

/// The most lines that wait.
const LINES: usize = 1024;
/// The longest wait for the last lines.
const LAST: Duration = Duration::from_millis(200);

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Text for people, and for journals that add the time
    Text,
    /// A JSON object, with the time
    Json,
}

/// Writes events. Clones write to the same log.
#[derive(Clone, Debug)]
pub(super) struct Log {
    form: Form,
    lines: SyncSender<Item>,
    lost: Arc<AtomicU64>,
}

/// The other end of a log.
#[derive(Debug)]
pub(super) struct Writer {
    form: Form,
    lines: Receiver<Item>,
    lost: Arc<AtomicU64>,
}

impl Writer {
    /// Starts the thread that writes.
    pub(super) fn start(self) -> io::Result<()> {
        let Self { form, lines, lost } = self;
        let writes = move || write_all(form, &lines, &lost, &mut io::stderr());
        thread::Builder::new().name("log".into()).spawn(writes)?;
        Ok(())
    }
}

enum Item {
    Line(String),
    /// Answered when all lines before it are written.
    Flush(SyncSender<()>),
}

/// A value of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field<'a> {
    Number(u64),
    /// Text that may come from a client.
    Text(&'a str),
    /// A message of the program.
    Sentence(&'a str),
}

impl Log {
    /// A log, and what writes its lines once it is started.
    pub(super) fn new(form: Form) -> (Self, Writer) {
        let (lines, received) = sync_channel(LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer { form, lines: received, lost: Arc::clone(&lost) };
        (Self { form, lines, lost }, writer)
    }

    /// A sentence for people.
    pub(super) fn say(&self, text: &str) {
        self.put(sentence(self.form, text));
    }

    /// An event with its values.
    pub(super) fn event(&self, name: &str, fields: &[(&str, Field<'_>)]) {
        self.put(line(self.form, name, fields));
    }

    fn put(&self, line: String) {
        if self.lines.try_send(Item::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until the lines so far are written, but not for a reader that does not read.
    pub(super) fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.lines.try_send(Item::Flush(done)).is_ok() {
            match wait.recv_timeout(LAST) {
                Ok(()) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }
}

fn write_all(form: Form, items: &Receiver<Item>, lost: &AtomicU64, out: &mut impl io::Write) {
    while let Ok(item) = items.recv() {
        let line = match item {
            Item::Line(line) => line,
            Item::Flush(done) => {
                // One that no longer waits needs no answer.
                let _ = done.try_send(());
                continue;
            }
        };
        let count = lost.swap(0, Ordering::Relaxed);
        if count > 0 {
            let about = self::line(form, "log-lines-lost", &[("lines", Field::Number(count))]);
            if out.write_all(about.as_bytes()).is_err() {
                lost.fetch_add(count, Ordering::Relaxed);
            }
        }
        // A full disk or a closed pipe may have room again later.
        if out.write_all(line.as_bytes()).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A sentence for people, as a line.
pub(super) fn sentence(form: Form, text: &str) -> String {
    let clean = visible(text, LONGEST_MESSAGE);
    match form {
        Form::Text => format!("lanecrypt: {clean}\n"),
        Form::Json => format!("{}\n", json!({ "time": now(), "event": "message", "text": clean })),
    }
}

/// An event, as a line.
pub(super) fn line(form: Form, name: &str, fields: &[(&str, Field<'_>)]) -> String {
    match form {
        Form::Text => {
            let fields = fields.iter().map(|(name, value)| match value {
                Field::Number(number) => format!(" {name}={number}"),
                Field::Text(text) => format!(" {name}=\"{}\"", escaped(text, LONGEST)),
                Field::Sentence(text) => format!(" {name}=\"{}\"", escaped(text, LONGEST_MESSAGE)),
            });
            format!("lanecrypt: {name}{}\n", fields.collect::<String>())
        }
        Form::Json => {
            let mut object = Map::new();
            object.insert("time".into(), now());
            object.insert("event".into(), name.into());
            object.extend(fields.iter().map(|(name, value)| {
                let value = match value {
                    Field::Number(number) => Value::from(*number),
                    Field::Text(text) => Value::from(escaped(text, LONGEST)),
                    Field::Sentence(text) => Value::from(escaped(text, LONGEST_MESSAGE)),
                };
                ((*name).to_owned(), value)
            }));
            format!("{}\n", Value::Object(object))
        }
    }
}

/// Seconds since 1970, with milliseconds.
fn now() -> Value {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!(now.as_millis() as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_cannot_change_the_log() {
        let evil = "a\"b\nc\u{1b}[31m\u{202e}\\";
        let text = line(Form::Text, "event", &[("name", Field::Text(evil))]);
        assert_eq!(text, "lanecrypt: event name=\"a\\\"b\\nc\\u{1b}[31m\\u{202e}\\\\\"\n");
        let long = "é".repeat(1000);
        assert_eq!(escaped(&long, LONGEST), "é".repeat(32) + "...");
        let text = line(Form::Json, "event", &[("name", Field::Text(&long))]);
        assert_eq!(text.matches('\n').count(), 1);
        let value: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(value["event"], "event");
    }

    #[test]
    fn lost_lines_are_counted() {
        struct Full(u32, Vec<u8>);
        impl io::Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if self.0 > 0 {
                    self.0 -= 1;
                    return Err(io::ErrorKind::StorageFull.into());
                }
                self.1.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (lines, received) = sync_channel(3);
        let log = Log { form: Form::Text, lines, lost: Arc::default() };
        let lost = Arc::clone(&log.lost);
        // Three find a place. Of these, the last one can be written.
        (0..5).for_each(|_| log.say("here"));
        assert_eq!(lost.load(Ordering::Relaxed), 2);
        drop(log);
        let mut out = Full(4, Vec::new());
        write_all(Form::Text, &received, &lost, &mut out);
        let text = String::from_utf8(out.1).expect("it is UTF-8");
        assert_eq!(text, "lanecrypt: log-lines-lost lines=4\nlanecrypt: here\n");
    }
}
