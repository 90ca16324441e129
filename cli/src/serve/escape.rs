//! Text from settings, packets and paths, which must not control a terminal or add lines.

use core::char::EscapeDebug;

/// The longest value in bytes that the log and messages quote.
pub(super) const LONGEST: usize = 64;
/// The longest message in bytes.
pub(super) const LONGEST_MESSAGE: usize = 1024;

/// At most `longest` bytes of a text, in which quotes, backslashes and characters that are not
/// visible are escaped; three dots stand for the rest.
pub(super) fn escaped(text: &str, longest: usize) -> String {
    shortened(text.chars().map(char::escape_debug), longest)
}

/// At most `longest` bytes of a text outside of quotes, in which characters that are not visible
/// are escaped; three dots stand for the rest.
pub(super) fn visible(text: &str, longest: usize) -> String {
    let escape = |c: char| {
        let mut escape = c.escape_debug();
        if matches!(c, '"' | '\'' | '\\') {
            // The backslash before it.
            escape.next();
        }
        escape
    };
    shortened(text.chars().map(escape), longest)
}

/// A value as messages quote it.
pub(super) fn quoted(text: &str) -> String {
    visible(text, LONGEST)
}

fn shortened(escapes: impl Iterator<Item = EscapeDebug>, longest: usize) -> String {
    let mut clean = String::new();
    for escape in escapes {
        if clean.len() + escape.clone().map(char::len_utf8).sum::<usize>() > longest {
            return clean + "...";
        }
        clean.extend(escape);
    }
    clean
}
