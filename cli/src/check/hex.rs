//! Bytes in hexadecimal.

/// The bytes of a hexadecimal text, in upper or lower case.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let nibble = |byte: u8| char::from(byte).to_digit(16).and_then(|n| u8::try_from(n).ok());
    pairs.iter().map(|&[high, low]| Some(nibble(high)? << 4 | nibble(low)?)).collect()
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('?');
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(digits));
    text
}
