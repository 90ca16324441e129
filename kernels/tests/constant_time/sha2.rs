//! SHA-2, HMAC and HKDF: messages and keys are secret, lengths are public.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use lanecrypt_kernels::sha2::{Expand, HmacKey, hkdf_expand, hmac_sha256, sha256, sha512};
use lanecrypt_kernels::{Isa, Level};

use crate::secrets::{Secrets, unseen};

/// The levels with kernels of their own. Those of SHA-256 above `aesni` need SHA-NI, which
/// Valgrind's processor lacks; Valgrind checks lanes instead, and the other methods check both.
pub(crate) const LEVELS: &[Level] = &[Level::Portable, Level::AesNi, Level::Avx2, Level::Avx512];

/// One message, and several that end at different times.
const LENGTHS: &[&[usize]] = &[&[0], &[55], &[120], &[300], &[64; 8], &[1, 63, 130, 40, 300]];

/// Hashes of messages of these lengths, in two parts each.
fn each(secrets: &mut Secrets, mut run: impl FnMut(&mut Secrets, &[&[&[u8]]])) {
    for lengths in LENGTHS {
        let mut data = unseen(|| vec![0; 300]);
        secrets.fill(&mut data);
        let parts: Vec<_> =
            lengths.iter().map(|&length| data[..length].split_at(length / 3)).collect();
        let parts: Vec<_> = parts.iter().map(|&(one, other)| [one, other]).collect();
        run(secrets, &parts.iter().map(|parts| &parts[..]).collect::<Vec<_>>());
    }
}

pub(crate) fn hashes(isa: Isa, secrets: &mut Secrets) {
    each(secrets, |secrets, messages| {
        let mut short = vec![[0; 32]; messages.len()];
        sha256(isa, messages, &mut short);
        let mut long = vec![[0; 64]; messages.len()];
        sha512(isa, messages, &mut long);
        // The hash of nothing is no secret.
        for (parts, (short, long)) in messages.iter().zip(short.iter_mut().zip(&mut long)) {
            if !parts[1].is_empty() {
                secrets.reveal(short);
                secrets.reveal(long);
            }
        }
    });
}

pub(crate) fn keyed(isa: Isa, secrets: &mut Secrets) {
    each(secrets, |secrets, messages| {
        let keys: Vec<[u8; 70]> = messages.iter().map(|_| secrets.bytes()).collect();
        let lengths = [32, 64, 70].into_iter().cycle();
        let keys: Vec<_> = keys.iter().zip(lengths).map(|(key, length)| &key[..length]).collect();
        let mut tags = vec![[0; 32]; messages.len()];
        hmac_sha256(isa, &keys, messages, &mut tags);
        tags.iter_mut().for_each(|tag| secrets.reveal(tag));

        let made: Vec<_> = keys.iter().map(|key| HmacKey::new(isa, key)).collect();
        let mut outs = vec![[0; 48]; messages.len()];
        let jobs = made.iter().zip(messages).zip(&mut outs);
        let jobs = jobs.map(|((key, parts), out)| Expand { key, info: parts[1], out });
        hkdf_expand(isa, &mut jobs.collect::<Vec<_>>());
        outs.iter_mut().for_each(|out| secrets.reveal(out));
    });
}
