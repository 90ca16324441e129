//! What no message may contain.

/// Whether a character is not visible, or changes how others are shown.
pub(super) fn is_hidden(c: char) -> bool {
    let formats = ['\u{200b}'..='\u{200f}', '\u{2028}'..='\u{202e}', '\u{2060}'..='\u{206f}'];
    c.is_control() || c == '\u{feff}' || formats.iter().any(|range| range.contains(&c))
}
