//! PEM files whose content is only the URI of a key (the form is that of RFC 7468).

use super::uri;

/// The lines around the content.
const BEGIN: &[u8] = b"-----BEGIN LANECRYPT KEY-----";
const END: &[u8] = b"-----END LANECRYPT KEY-----";

/// What every beginning has.
const ANY_BEGIN: &[u8] = b"-----BEGIN ";

/// How many bytes before a beginning are read.
const MOST_BEFORE: usize = 1 << 20;

/// The most bytes of Base64: as many as the longest URI makes.
const MOST: usize = uri::LONGEST.div_ceil(3) * 4;

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The content of one of our blocks.
    Content(Vec<u8>),
    /// Something else, or nothing.
    Nothing,
    /// One of our blocks, which is malformed.
    Malformed,
}

/// Reads the next block of a file. `line` reads a line with its end, or as much of it as the place
/// takes, and says how much that was.
pub(super) fn read(mut line: impl FnMut(&mut [u8]) -> usize) -> Found {
    let mut place = [0; 256];
    let (mut before, mut begins) = (0, true);
    loop {
        let Some(part) = place_of(&mut place, &mut line) else { return Found::Nothing };
        if begins && part.starts_with(ANY_BEGIN) {
            match part.trim_ascii_end() == BEGIN {
                true => break,
                false => return Found::Nothing,
            }
        }
        begins = part.ends_with(b"\n");
        before += part.len();
        if before > MOST_BEFORE {
            return Found::Nothing;
        }
    }
    let (mut digits, mut read) = (Vec::new(), 0);
    loop {
        let Some(part) = place_of(&mut place, &mut line) else { return Found::Malformed };
        if part.starts_with(b"-") {
            if part.trim_ascii_end() != END {
                return Found::Malformed;
            }
            return decoded(&digits).map_or(Found::Malformed, Found::Content);
        }
        // Empty lines count as well.
        read += part.len();
        if read > 2 * MOST {
            return Found::Malformed;
        }
        digits.extend(part.iter().filter(|byte| !byte.is_ascii_whitespace()));
    }
}

/// The next line or part of one; none at the end.
fn place_of<'p>(
    place: &'p mut [u8],
    line: &mut impl FnMut(&mut [u8]) -> usize,
) -> Option<&'p [u8]> {
    let length = line(place);
    place.get(..length).filter(|part| !part.is_empty())
}

/// The bytes of Base64 (RFC 4648, section 4), with its padding. They are not secret.
fn decoded(digits: &[u8]) -> Option<Vec<u8>> {
    let (groups, []) = digits.as_chunks::<4>() else { return None };
    if digits.len() > MOST {
        return None;
    }
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    for (at, group) in groups.iter().enumerate() {
        let equals = group.iter().rev().take_while(|&&digit| digit == b'=').count();
        if equals > 2 || (equals > 0 && at + 1 < groups.len()) {
            return None;
        }
        let mut bits = 0;
        for &digit in &group[..4 - equals] {
            bits = bits << 6 | value(digit)?;
        }
        bits <<= 6 * equals;
        let [_, whole @ ..] = u32::to_be_bytes(bits);
        let (content, rest) = whole.split_at(3 - equals);
        // Bits that belong to no byte are zero.
        if rest.iter().any(|&byte| byte != 0) {
            return None;
        }
        bytes.extend(content);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    Some(
        match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }
        .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As OpenSSL reads lines: up to a length, and not beyond the end of a line.
    fn read_text(text: &[u8]) -> (Found, usize) {
        let mut rest = text;
        let found = read(|place| {
            let end = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1);
            let (part, others) = rest.split_at(end.min(place.len() - 1));
            place[..part.len()].copy_from_slice(part);
            rest = others;
            part.len()
        });
        (found, text.len() - rest.len())
    }

    fn block(content: &str) -> String {
        format!("-----BEGIN LANECRYPT KEY-----\n{content}\n-----END LANECRYPT KEY-----\n")
    }

    #[test]
    fn content_with_what_may_stand_around_it() {
        let content = || Found::Content(b"lanecrypt:web".to_vec());
        let whole = block("bGFuZWNyeXB0OndlYg==");
        let long = format!("{}\n{whole}", "x".repeat(1000));
        let split =
            block("bGFu\r\n\nZWNyeXB0\n Ondl Yg=\n=\n").replace("KEY-----\n", "KEY-----\r\n");
        for text in [&whole, &format!("a comment\n\n{whole}"), &long, &split] {
            assert_eq!(read_text(text.as_bytes()), (content(), text.len()), "{text}");
            // Not beyond its end.
            let (more, length) = (format!("{text}{whole}"), text.len());
            assert_eq!(read_text(more.as_bytes()), (content(), length), "{text}");
        }
    }

    #[test]
    fn other_blocks_are_left_alone() {
        let other = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n";
        let ours = block("bGFuZWNyeXB0OndlYg==");
        let inside = format!("{other}{ours}");
        let not_at_the_start = format!(" {ours}");
        let long = "y".repeat(2 * MOST_BEFORE);
        let far = format!("{long}\n{ours}");
        for text in ["", "\n", "\0\0", other, &inside, &not_at_the_start, &long, &far] {
            assert_eq!(read_text(text.as_bytes()).0, Found::Nothing);
        }
    }

    #[test]
    fn malformed_blocks() {
        for content in [
            "bGFuZWNyeXB0OndlYg=",
            "bGFuZWNyeXB0OndlYg",
            "bGFuZWNyeXB0OndlYh==",
            "bGFuZWNyeXB0Ondl====",
            "bGFu==ZWNyeXB0Ond=",
            "bGFu=WNy",
            "bGFu\0WNy",
            "bGF*",
            "=",
            "-----BEGIN LANECRYPT KEY-----",
            &"A".repeat(4 * MOST),
            &"\n".repeat(4 * MOST),
        ] {
            assert_eq!(read_text(block(content).as_bytes()).0, Found::Malformed, "{content}");
        }
        let whole = block("bGFuZWNyeXB0OndlYg==");
        for length in 30..whole.len() - 1 {
            assert_eq!(read_text(&whole.as_bytes()[..length]).0, Found::Malformed, "{length}");
        }
        let other = whole.replace("-END LANECRYPT KEY", "-END PRIVATE KEY");
        assert_eq!(read_text(other.as_bytes()).0, Found::Malformed);
    }

    #[test]
    fn every_length_and_byte() {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let content: Vec<u8> = (0..=255).rev().collect();
        for length in 0..content.len() {
            let content = &content[..length];
            let mut digits = Vec::new();
            for group in content.chunks(3) {
                let mut bytes = [0; 4];
                bytes[1..=group.len()].copy_from_slice(group);
                let bits = u32::from_be_bytes(bytes);
                let four = [18, 12, 6, 0].map(|by| DIGITS[(bits >> by & 63) as usize]);
                digits.extend(&four[..=group.len()]);
                digits.extend(&b"=="[..3 - group.len()]);
            }
            assert_eq!(decoded(&digits).as_deref(), Some(content));
        }
    }
}
