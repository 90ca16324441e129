//! The numbers of RSA keys: by libcrypto's names, and as DER (RFC 8017, appendix A.1) for builds
//! that take no numbers.

use core::ffi::CStr;
use core::fmt;

/// The numbers of an RSA key, most significant byte first.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a key has no other numbers")]
pub struct RsaNumbers<'a> {
    /// The modulus.
    pub n: &'a [u8],
    /// The public exponent.
    pub e: &'a [u8],
    /// The private exponent; empty for a public key, which only verifies.
    pub d: &'a [u8],
    /// p, q, d modulo p - 1, d modulo q - 1 and the inverse of q modulo p, if they are known.
    pub crt: Option<[&'a [u8]; 5]>,
}

/// The tags of DER.
const INTEGER: u8 = 2;
const SEQUENCE: u8 = 0x30;

impl fmt::Debug for RsaNumbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RsaNumbers").finish_non_exhaustive()
    }
}

/// The numbers that are there by libcrypto's names, in the machine's byte order.
pub(crate) fn native(numbers: &RsaNumbers<'_>) -> Vec<(&'static CStr, Vec<u8>)> {
    let names = [c"rsa-factor1", c"rsa-factor2", c"rsa-exponent1", c"rsa-exponent2"];
    let names = names.into_iter().chain([c"rsa-coefficient1"]);
    let rest = names.zip(numbers.crt.iter().flatten());
    [(c"n", &numbers.n), (c"e", &numbers.e), (c"d", &numbers.d)]
        .into_iter()
        .chain(rest)
        .filter(|(_, number)| !number.is_empty())
        .map(|(name, number)| {
            let mut bytes = number.to_vec();
            if cfg!(target_endian = "little") {
                bytes.reverse();
            }
            (name, bytes)
        })
        .collect()
}

/// The `RSAPrivateKey` of a key that knows its primes.
pub(crate) fn private_key_der(numbers: &RsaNumbers<'_>) -> Option<Vec<u8>> {
    let crt = numbers.crt?;
    let version: &[u8] = &[0];
    let integers = [version, numbers.n, numbers.e, numbers.d].into_iter().chain(crt);
    Some(sequence(numbers, integers))
}

/// The `RSAPublicKey` of a key.
pub(crate) fn public_key_der(numbers: &RsaNumbers<'_>) -> Vec<u8> {
    sequence(numbers, [numbers.n, numbers.e].into_iter())
}

fn sequence<'n>(numbers: &RsaNumbers<'n>, integers: impl Iterator<Item = &'n [u8]>) -> Vec<u8> {
    // It is not moved, so that one copy is to be wiped.
    let mut content = Vec::with_capacity(8 * numbers.n.len());
    integers.for_each(|number| push_integer(&mut content, number));
    let mut der = Vec::with_capacity(content.len() + 8);
    push(&mut der, SEQUENCE, content.len());
    der.extend_from_slice(&content);
    wipe(&mut content);
    der
}

/// Appends a number: without zeros before it, but with one if its highest bit is set.
fn push_integer(der: &mut Vec<u8>, number: &[u8]) {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    let digits = &number[zeros..];
    let is_padded = digits.first().is_none_or(|&first| first >= 0x80);
    push(der, INTEGER, digits.len() + usize::from(is_padded));
    der.extend(is_padded.then_some(0));
    der.extend(digits);
}

/// Appends a tag and a length.
fn push(der: &mut Vec<u8>, tag: u8, length: usize) {
    der.push(tag);
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => der.push(short),
        _ => {
            let digits: Vec<u8> =
                length.to_be_bytes().into_iter().skip_while(|&byte| byte == 0).collect();
            der.push((0x81..).nth(digits.len() - 1).unwrap_or(0x88));
            der.extend(digits);
        }
    }
}

/// No copies of numbers remain.
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    core::hint::black_box(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lengths_are_minimal() {
        let mut der = Vec::new();
        push_integer(&mut der, &[0, 0, 5]);
        push_integer(&mut der, &[0x80]);
        push_integer(&mut der, &[]);
        assert_eq!(der, [2, 1, 5, 2, 2, 0, 0x80, 2, 1, 0]);
        der.clear();
        push_integer(&mut der, &[1; 0x80]);
        assert_eq!(der[..4], [2, 0x81, 0x80, 1]);
        der.clear();
        push_integer(&mut der, &[1; 0x123]);
        assert_eq!(der[..5], [2, 0x82, 1, 0x23, 1]);
    }
}
