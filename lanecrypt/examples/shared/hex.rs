//! Bytes from the hexadecimal text of documents.

/// Decodes hexadecimal text; white space is ignored.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte");
    let byte = |pair: &[u8]| {
        let pair = str::from_utf8(pair).expect("digits are ASCII");
        u8::from_str_radix(pair, 16).expect("hexadecimal digits")
    };
    digits.chunks(2).map(byte).collect()
}
