//! Tags: the first bytes of a kernel's result.

use lanecrypt_kernels::equal;

use crate::Error;

/// Writes as much of a tag as there is room for, at most 16 bytes.
#[inline]
pub(super) fn put(made: &[u8; 16], tag: &mut [u8]) {
    // A store of a known size instead of a call that copies.
    if let Ok(whole) = <&mut [u8; 16]>::try_from(&mut *tag) {
        *whole = *made;
    } else {
        put_part(made, tag);
    }
}

#[cold]
#[inline(never)]
fn put_part(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// A received tag if it has all 16 bytes, as those that ciphertexts depend on have; otherwise
/// zeros.
#[inline(always)]
pub(super) fn whole(tag: &[u8]) -> &[u8; 16] {
    tag.try_into().unwrap_or(&[0; 16])
}

/// Checks a received tag, of at most 16 bytes: the computed tag must begin with it. Constant time
/// except for the length.
///
/// # Errors
///
/// [`Error::Authentication`] if it does not.
#[inline]
pub(super) fn compare(made: &[u8; 16], came: &[u8]) -> Result<(), Error> {
    let same = match came.try_into() {
        Ok(came) => equal(made, came),
        Err(_) => begins(made, came),
    };
    if same { Ok(()) } else { Err(Error::Authentication) }
}

#[cold]
#[inline(never)]
fn begins(made: &[u8; 16], came: &[u8]) -> bool {
    // Bytes that the shorter tag does not have count as equal.
    let mut whole = *made;
    put_part(came, &mut whole);
    equal(made, &whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_tag_counts() {
        let made: [u8; 16] = core::array::from_fn(|i| 17 * u8::try_from(i).expect("below 16"));
        for length in 1..=16 {
            let mut tag = [0xee; 20];
            put(&made, &mut tag[..length]);
            assert_eq!(tag[..length], made[..length]);
            assert_eq!(tag[length..], [0xee; 20][length..], "{length}");
            assert_eq!(compare(&made, &tag[..length]), Ok(()), "{length}");
            for bit in 0..8 * length {
                tag[bit / 8] ^= 1 << (bit % 8);
                let refused = Err(Error::Authentication);
                assert_eq!(compare(&made, &tag[..length]), refused, "{length}: {bit}");
                tag[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
