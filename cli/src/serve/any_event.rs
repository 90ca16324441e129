//! What holds for any line of the log. Tests check it on inputs that are the same in every run, and
//! the fuzz target `log` searches for inputs that break it.

use serde_json::Value;

use super::escape::{LONGEST, LONGEST_MESSAGE};
use super::hidden::is_hidden;
use super::log::{Field, Form, line, sentence};

/// Names of fields.
const NAMES: [&str; 4] = ["asked", "key", "reason", "user"];

/// Writes the parts of an input between zeros as the values of an event, and the whole as a
/// sentence.
pub(super) fn any_event(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let latin: String = input.iter().map(|&byte| char::from(byte)).collect();
    for text in [&*text, &latin] {
        let fields: Vec<_> = NAMES.into_iter().zip(text.split('\0')).collect();
        let fields: Vec<_> = fields
            .iter()
            .map(|&(name, value)| match (name, value.parse()) {
                ("user", Ok(number)) => (name, Field::Number(number)),
                ("reason", _) => (name, Field::Sentence(value)),
                _ => (name, Field::Text(value)),
            })
            .collect();
        for form in [Form::Text, Form::Json] {
            let event = line(form, "event", &fields);
            check(form, &event, 3 * (LONGEST + 16) + LONGEST_MESSAGE);
            if form == Form::Json {
                let object: Value = serde_json::from_str(&event).expect("it is JSON");
                let object = object.as_object().expect("it is an object");
                assert_eq!(object.len(), 2 + fields.len(), "{event:?}");
                assert_eq!(object["event"], "event");
            }
            let message = sentence(form, text);
            check(form, &message, LONGEST_MESSAGE);
            if form == Form::Json {
                let object: Value = serde_json::from_str(&message).expect("it is JSON");
                assert_eq!(object.as_object().map(|object| object.len()), Some(3), "{message:?}");
                assert_eq!(object["event"], "message");
            }
        }
    }
}

/// It is one line of visible characters, and not much longer than its values.
fn check(form: Form, line: &str, values: usize) {
    let text = line.strip_suffix('\n').expect("it ends");
    assert!(!text.contains(is_hidden), "{line:?}");
    // JSON escapes again.
    let longest = if form == Form::Json { 2 * values } else { values } + 128;
    assert!(text.len() <= longest, "{} bytes: {line:?}", text.len());
    if form == Form::Text {
        assert!(text.starts_with("lanecrypt: "), "{line:?}");
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_testing::numbers::{Numbers, cases};

    use super::*;

    /// Characters that have a meaning for terminals, logs or JSON.
    const SPECIAL: &[char] = &[
        '\0',
        '\n',
        '\r',
        '\t',
        '\u{1b}',
        '\u{7f}',
        '\u{9b}',
        '"',
        '\'',
        '\\',
        ' ',
        '=',
        '{',
        'u',
        '\u{301}',
        '\u{200b}',
        '\u{2028}',
        '\u{202e}',
        '\u{2066}',
        '\u{feff}',
        '\u{e0001}',
        '\u{fffd}',
        '\u{10ffff}',
        'é',
        '7',
    ];

    #[test]
    fn any_event_is_one_line() {
        let mut numbers = Numbers(38);
        for case in 0..cases(3000) {
            let length = numbers.below(300);
            if case % 4 == 0 {
                any_event(&numbers.bytes(length));
                continue;
            }
            let mut special = || SPECIAL[numbers.below(SPECIAL.len())];
            any_event((0..length).map(|_| special()).collect::<String>().as_bytes());
        }
        any_event(&[b'x'; 100_000]);
        any_event("\u{202e}".repeat(10_000).as_bytes());
    }
}
