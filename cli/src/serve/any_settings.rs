//! What holds for any settings. Tests check it on inputs that are the same in every run, and the
//! fuzz target `settings` searches for inputs that break it.

use super::escape::LONGEST;
use super::hidden::is_hidden;
use super::written::{Written, WrittenKey};

/// The longest reason in bytes.
const LONGEST_REASON: usize = 512;

/// Parts of settings, and of attacks on who reads messages.
const PARTS: &[&str] = &[
    "\n",
    " = ",
    ", ",
    "\"",
    "'",
    "\"\"\"",
    "[",
    "]",
    "{ ",
    " }",
    "[[key]]\n",
    "[limits]\n",
    "[[key.versions]]\n",
    "allow = [\"root\", \"@root\", 7]\n",
    "name = \"k\"\n",
    "file = \"key\"\n",
    "credential = \"key\"\n",
    "current = \"1\"\n",
    "version = \"1\"\n",
    "versions = [{ version = \"1\", file = \"a\" }, { version = \"2\", credential = \"b\" }]\n",
    "wrapped_by = \"k\"\n",
    "algorithm = \"aes-256-gcm\"\n",
    "algorithm = \"aes-256-wrap\"\n",
    "algorithm = [\"rsa-pss-sha256\", \"rsa-pkcs1v15-sha512\"]\n",
    "operations = [\"seal\", \"open\"]\n",
    "nonces = \"client\"\n",
    "clients",
    "memory",
    "name",
    "version",
    "algorithm",
    "operations",
    "nonces",
    "rsa-pss-",
    "-1",
    "1e400",
    "99999999999999999999",
    "2026-11-27",
    ", expected ",
    "\\n",
    "\\u001b[31m",
    "\\u202e",
    "\u{202e}",
    "\u{feff}",
    "\u{301}",
    "\u{1b}[31m",
    "é",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
];

/// Parses an input as it is, and as a list of parts.
pub(super) fn any_settings(input: &[u8]) {
    if let Ok(text) = str::from_utf8(input) {
        check(text);
    }
    let parts = input.iter().map(|&byte| match PARTS.get(usize::from(byte)) {
        Some(part) => (*part).to_owned(),
        None => char::from(byte).to_string(),
    });
    check(&parts.collect::<String>());
}

fn check(text: &str) {
    match Written::parse(text) {
        Ok(written) => {
            written.limits();
            written.keys.iter().for_each(|key| check_key(text, key));
        }
        Err(reason) => check_reason(text, &reason),
    }
    // A key that was written where the place of its file belongs.
    let secret = "5ec2e75ec2e75ec2e75ec2e7";
    let with_secret = format!("{text}\nsecret = \"{secret}\"\n");
    if let Err(reason) = Written::parse(&with_secret) {
        assert!(!reason.contains(&secret[..6]), "{reason:?} of {with_secret:?}");
    }
}

fn check_key(text: &str, key: &WrittenKey) {
    let reasons = [
        key.places().map(|places| places.iter().for_each(|place| drop(place.shown()))).err(),
        key.wrapping_place().err(),
        key.operations().err(),
        key.algorithm.cipher().err(),
    ];
    reasons.iter().flatten().for_each(|reason| check_reason(text, reason));
    assert!(!key.wraps() || key.algorithm.paddings().is_none());
    for place in key.places().iter().flatten() {
        check_reason(text, &place.shown());
    }
}

/// A reason is short and visible, and quotes no more than the beginning of a value.
fn check_reason(text: &str, reason: &str) {
    assert!(reason.len() <= LONGEST_REASON, "{} bytes: {reason:?}", reason.len());
    assert!(!reason.contains(is_hidden), "{reason:?}");
    // The program's own words around a value may be in the settings, too.
    let longest = 2 * LONGEST;
    for quoted in reason.as_bytes().windows(longest + 1) {
        let is_in_text = text.as_bytes().windows(quoted.len()).any(|part| part == quoted);
        assert!(!is_in_text, "{reason:?} quotes too much of {text:?}");
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_testing::numbers::{Numbers, cases};

    use super::*;

    #[test]
    fn any_settings_are_parsed_or_refused_by_a_short_reason() {
        let mut numbers = Numbers(38);
        for case in 0..cases(5000) {
            let length = numbers.below(60);
            let mut input = numbers.bytes(length);
            if case % 4 != 0 {
                input.iter_mut().for_each(|byte| *byte %= 50);
            }
            any_settings(&input);
        }
    }

    #[test]
    fn long_and_hidden_values_are_not_repeated() {
        for value in ["x".repeat(5000), "\\u202e".repeat(1000), "', expected ".repeat(1000)] {
            for text in [
                format!("\"{value}\" = 1"),
                format!("[limits]\nclients = \"{value}\""),
                format!("[[key]]\nname = \"k\"\nalgorithm = \"a\"\nnonces = \"{value}\""),
                format!("[[key]]\nname = \"k\"\nfile = \"f\"\nalgorithm = \"{value}\""),
                format!("[[key]]\nname = \"k\"\nalgorithm = [\"{value}\", \"x\"]"),
                format!("[[key]]\nname = \"k\"\nalgorithm = \"a\"\noperations = [\"{value}\"]"),
                format!("[[key]]\nname = \"k\"\nversions = [{{ version = \"{value}\" }}]"),
                format!("[[key]]\nname = \"k\"\nalgorithm = \"a\"\nfile = \"{value}\""),
            ] {
                check(&text);
            }
        }
    }
}
