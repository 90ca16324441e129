//! EMSA-PSS (RFC 8017, section 9.1) with MGF1 of the same hash function.

use lanecrypt_random::EntropyError;

use crate::Error;
use crate::hash::{Digest, Hash};

/// The last byte.
const TRAILER: u8 = 0xbc;

/// A message of one bit less than the modulus, in as many bytes as that takes.
struct Message<'a> {
    /// The byte of the modulus before it, if there is one.
    before: &'a mut [u8],
    /// Zeros, a one, the salt: XORed with the mask.
    block: &'a mut [u8],
    hash: &'a mut [u8],
    trailer: &'a mut [u8],
    /// The bits of the first byte that are used.
    used: u8,
}

impl<'a> Message<'a> {
    fn new(hash: Hash, salt: usize, bits: usize, bytes: &'a mut [u8]) -> Result<Self, Error> {
        let length = (bits - 1).div_ceil(8);
        let (before, message) = bytes.split_at_mut(bytes.len() - length);
        let needed = salt.checked_add(hash.length() + 2).ok_or(Error::KeyTooShort)?;
        if length < needed {
            return Err(Error::KeyTooShort);
        }
        let (block, rest) = message.split_at_mut(length - hash.length() - 1);
        let (hash, trailer) = rest.split_at_mut(hash.length());
        let used = 0xff >> (8 * length - (bits - 1));
        Ok(Self { before, block, hash, trailer, used })
    }

    /// XORs the block with the mask (MGF1, section B.2.1), and clears the bits that are not used.
    fn mask(&mut self, function: Hash) {
        for (counter, part) in (0_u32..).zip(self.block.chunks_mut(function.length())) {
            let mask = function.digest(&[self.hash, &counter.to_be_bytes()]);
            for (byte, mask) in part.iter_mut().zip(mask.bytes()) {
                *byte ^= mask;
            }
        }
        self.block[0] &= self.used;
    }

    /// What stands between the mask's zeros and the hash: the digest and the salt, hashed.
    fn hashed(function: Hash, digest: &Digest, salt: &[u8]) -> Digest {
        function.digest(&[&[0; 8], digest.bytes(), salt])
    }
}

pub(super) fn encode(
    function: Hash,
    digest: &Digest,
    salt: Option<&[u8]>,
    salt_length: usize,
    bits: usize,
    out: &mut [u8],
) -> Result<(), Error> {
    let mut message = Message::new(function, salt_length, bits, out)?;
    let (zeros, own_salt) = message.block.split_at_mut(message.block.len() - salt_length);
    match salt {
        Some(salt) => own_salt.copy_from_slice(salt),
        None => {
            lanecrypt_random::try_fill(own_salt).map_err(|_: EntropyError| Error::Entropy)?;
        }
    }
    zeros.fill(0);
    if let Some(one) = zeros.last_mut() {
        *one = 1;
    }
    let hashed = Message::hashed(function, digest, own_salt);
    message.hash.copy_from_slice(hashed.bytes());
    message.mask(function);
    message.before.fill(0);
    message.trailer.fill(TRAILER);
    Ok(())
}

/// Whether `number` is a padded digest. It is overwritten.
pub(super) fn check(
    function: Hash,
    digest: &Digest,
    salt_length: usize,
    bits: usize,
    number: &mut [u8],
) -> Result<bool, Error> {
    let mut message = Message::new(function, salt_length, bits, number)?;
    let over = message.before.iter().fold(message.block[0] & !message.used, |over, b| over | b);
    message.mask(function);
    let (zeros, salt) = message.block.split_at(message.block.len() - salt_length);
    let is_padding =
        zeros.split_last().is_some_and(|(one, zeros)| *one == 1 && zeros.iter().all(|&b| b == 0));
    let hashed = Message::hashed(function, digest, salt);
    Ok(over == 0 && is_padding && hashed.bytes() == message.hash && *message.trailer == [TRAILER])
}
