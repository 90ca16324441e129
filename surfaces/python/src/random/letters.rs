//! Bytes as text. No branch and no address depends on them.

/// Hexadecimal digits, two for each byte.
pub(super) fn hex(bytes: &[u8], text: &mut [u8]) {
    for (byte, digits) in bytes.iter().zip(text.as_chunks_mut().0) {
        *digits = [digit(byte >> 4), digit(byte & 15)];
    }
}

/// Base64 with `-` and `_`, without padding (RFC 4648, section 5).
pub(super) fn url_safe(bytes: &[u8], text: &mut [u8]) {
    for (group, letters) in bytes.chunks(3).zip(text.chunks_mut(4)) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for (index, place) in letters.iter_mut().enumerate() {
            *place = letter((word >> (18 - 6 * index) & 63) as u8);
        }
    }
}

/// The digit of 4 bits.
fn digit(bits: u8) -> u8 {
    // From 10 on the letters, which begin 39 behind the digit nine.
    b'0' + bits + (9u8.wrapping_sub(bits) >> 7) * 39
}

/// The letter of 6 bits: `A` to `Z`, `a` to `z`, `0` to `9`, `-`, `_`.
fn letter(bits: u8) -> u8 {
    // All ones from `first` on: each range is one step of the sum.
    let from = |first: u8, step: u8| (first.wrapping_sub(bits + 1) >> 7).wrapping_neg() & step;
    let mut code = bits.wrapping_add(b'A');
    code = code.wrapping_add(from(26, b'a' - b'Z' - 1));
    code = code.wrapping_add(from(52, b'0'.wrapping_sub(b'z' + 1)));
    code = code.wrapping_add(from(62, b'-'.wrapping_sub(b'9' + 1)));
    code.wrapping_add(from(63, b'_' - b'-' - 1))
}
