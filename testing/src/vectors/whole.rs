//! Files of test vectors that must be run whole: how many vectors each has. A file that was read
//! in part, or a reader that drops lines, would go unnoticed otherwise.

use lanecrypt_ciphers::Algorithm;

use super::Vector;

/// Asserts that no line of a file is missing; of algorithms that are not built in, all are.
pub fn assert_whole(lines: &[Vector], files: &[(&str, &str, usize)]) {
    for &(name, source, count) in files {
        let Ok(algorithm) = name.parse::<Algorithm>() else { continue };
        let of_it = |line: &&Vector| line.algorithm == algorithm && line.source == source;
        assert_eq!(lines.iter().filter(of_it).count(), count, "{name} of {source}");
    }
}

/// RFC 6229: 18 offsets of two keys for each of seven key sizes.
pub const RFC_6229: &[(&str, &str, usize)] = &[
    ("arc4", "rfc/rfc-6229-40.txt", 36),
    ("arc4", "rfc/rfc-6229-56.txt", 36),
    ("arc4", "rfc/rfc-6229-64.txt", 36),
    ("arc4", "rfc/rfc-6229-80.txt", 36),
    ("arc4", "rfc/rfc-6229-128.txt", 36),
    ("arc4", "rfc/rfc-6229-192.txt", 36),
    ("arc4", "rfc/rfc-6229-256.txt", 36),
];

/// Those of eSTREAM, a fifth of which are digests of 512 or of 131,072 bytes; and those of
/// Crypto++, with lengths of 1 to 98 bytes and counters that pass 2^32.
pub const ESTREAM: &[(&str, &str, usize)] = &[
    ("hc128", "estream/ecrypt_HC-128.txt", 480),
    ("hc128", "estream/cryptopp_hc128.txt", 80),
    ("salsa20/20", "estream/ecrypt_salsa20-full.txt", 960),
    ("salsa20/20", "estream/cryptopp_salsa.txt", 10),
    ("salsa20/12", "estream/cryptopp_salsa.txt", 2),
    ("salsa20/8", "estream/cryptopp_salsa.txt", 2),
];

/// Of `vectors/`: NIST's files and RFC 3686, where a vector that a file lists for either direction
/// stands once; two-key 3DES stands once with 16 bytes of key and once with 24. Of XTS the vectors
/// of the standard, the first 40 of each length in NIST's files, and generated ones.
pub const OWN_BLOCKS: &[(&str, &str, usize)] = &[
    ("aes-128-ecb", "nist/aes/ECBGFSbox128.rsp", 7),
    ("aes-128-ecb", "nist/aes/ECBKeySbox128.rsp", 21),
    ("aes-128-ecb", "nist/aes/ECBMMT128.rsp", 20),
    ("aes-128-ecb", "nist/aes/ECBVarKey128.rsp", 128),
    ("aes-128-ecb", "nist/aes/ECBVarTxt128.rsp", 128),
    ("aes-192-ecb", "nist/aes/ECBGFSbox192.rsp", 6),
    ("aes-192-ecb", "nist/aes/ECBKeySbox192.rsp", 24),
    ("aes-192-ecb", "nist/aes/ECBVarKey192.rsp", 192),
    ("aes-192-ecb", "nist/aes/ECBVarTxt192.rsp", 128),
    ("aes-256-ecb", "nist/aes/ECBGFSbox256.rsp", 5),
    ("aes-256-ecb", "nist/aes/ECBKeySbox256.rsp", 16),
    ("aes-256-ecb", "nist/aes/ECBMMT256.rsp", 20),
    ("aes-256-ecb", "nist/aes/ECBVarKey256.rsp", 256),
    ("aes-256-ecb", "nist/aes/ECBVarTxt256.rsp", 128),
    ("aes-128-cbc", "nist/aes/CBCGFSbox128.rsp", 7),
    ("aes-128-cbc", "nist/aes/CBCKeySbox128.rsp", 21),
    ("aes-128-cbc", "nist/aes/CBCMMT128.rsp", 20),
    ("aes-192-cbc", "nist/aes/CBCGFSbox192.rsp", 6),
    ("aes-192-cbc", "nist/aes/CBCKeySbox192.rsp", 24),
    ("aes-256-cbc", "nist/aes/CBCGFSbox256.rsp", 5),
    ("aes-256-cbc", "nist/aes/CBCKeySbox256.rsp", 16),
    ("aes-256-cbc", "nist/aes/CBCMMT256.rsp", 20),
    ("aes-128-ctr", "rfc/aes-128-ctr.txt", 3),
    ("aes-192-ctr", "rfc/aes-192-ctr.txt", 3),
    ("aes-256-ctr", "rfc/aes-256-ctr.txt", 3),
    ("des-ecb", "nist/tdes/TECBMMT1.rsp", 20),
    ("des-ecb", "nist/tdes/TECBinvperm.rsp", 64),
    ("des-ecb", "nist/tdes/TECBpermop.rsp", 32),
    ("des-ecb", "nist/tdes/TECBsubtab.rsp", 19),
    ("des-ecb", "nist/tdes/TECBvarkey.rsp", 56),
    ("des-ecb", "nist/tdes/TECBvartext.rsp", 64),
    ("des-cbc", "nist/tdes/TCBCMMT1.rsp", 20),
    ("3des-ecb", "nist/tdes/TECBMMT2.rsp", 40),
    ("3des-ecb", "nist/tdes/TECBMMT3.rsp", 20),
    ("3des-cbc", "nist/tdes/TCBCMMT2.rsp", 40),
    ("null", "definition", 8),
    ("aes-128-xts", "ieee-1619", 13),
    ("aes-256-xts", "ieee-1619", 5),
    ("aes-128-xts", "nist/aes/tweak-128hexstr/XTSGenAES128.rsp", 120),
    ("aes-128-xts", "nist/aes/tweak-dataunitseqno/XTSGenAES128.rsp", 120),
    ("aes-256-xts", "nist/aes/tweak-128hexstr/XTSGenAES256.rsp", 80),
    ("aes-256-xts", "nist/aes/tweak-dataunitseqno/XTSGenAES256.rsp", 80),
    ("aes-128-xts", "generated/xts", 20),
    ("aes-256-xts", "generated/xts", 20),
];

/// Of the vectors beside the workspace: NIST's files whole, in both directions; those of NESSIE,
/// with a hundred and a thousand iterations; the examples of SP 800-38A.
pub const SHARED_BLOCKS: &[(&str, &str, usize)] = &[
    ("aes-128-ecb", "nist/aes/ECBGFSbox128.rsp", 14),
    ("aes-128-ecb", "nist/aes/ECBKeySbox128.rsp", 42),
    ("aes-128-ecb", "nist/aes/ECBMMT128.rsp", 20),
    ("aes-128-ecb", "nist/aes/ECBVarKey128.rsp", 256),
    ("aes-128-ecb", "nist/aes/ECBVarTxt128.rsp", 256),
    ("aes-192-ecb", "nist/aes/ECBGFSbox192.rsp", 12),
    ("aes-192-ecb", "nist/aes/ECBKeySbox192.rsp", 48),
    ("aes-192-ecb", "nist/aes/ECBVarKey192.rsp", 384),
    ("aes-192-ecb", "nist/aes/ECBVarTxt192.rsp", 256),
    ("aes-256-ecb", "nist/aes/ECBGFSbox256.rsp", 10),
    ("aes-256-ecb", "nist/aes/ECBKeySbox256.rsp", 32),
    ("aes-256-ecb", "nist/aes/ECBMMT256.rsp", 20),
    ("aes-256-ecb", "nist/aes/ECBVarKey256.rsp", 512),
    ("aes-256-ecb", "nist/aes/ECBVarTxt256.rsp", 256),
    ("aes-128-cbc", "nist/aes/CBCGFSbox128.rsp", 14),
    ("aes-128-cbc", "nist/aes/CBCKeySbox128.rsp", 42),
    ("aes-128-cbc", "nist/aes/CBCMMT128.rsp", 20),
    ("aes-128-cbc", "nist/aes/CBCVarKey128.rsp", 256),
    ("aes-128-cbc", "nist/aes/CBCVarTxt128.rsp", 256),
    ("aes-192-cbc", "nist/aes/CBCGFSbox192.rsp", 12),
    ("aes-192-cbc", "nist/aes/CBCKeySbox192.rsp", 48),
    ("aes-192-cbc", "nist/aes/CBCVarKey192.rsp", 384),
    ("aes-192-cbc", "nist/aes/CBCVarTxt192.rsp", 256),
    ("aes-256-cbc", "nist/aes/CBCGFSbox256.rsp", 10),
    ("aes-256-cbc", "nist/aes/CBCKeySbox256.rsp", 32),
    ("aes-256-cbc", "nist/aes/CBCMMT256.rsp", 20),
    ("aes-256-cbc", "nist/aes/CBCVarKey256.rsp", 512),
    ("aes-256-cbc", "nist/aes/CBCVarTxt256.rsp", 256),
    ("aes-128-ecb", "misc/cryptopp_aes.txt", 2),
    ("aes-192-ecb", "misc/cryptopp_aes.txt", 1),
    ("aes-256-ecb", "misc/cryptopp_aes.txt", 1),
    ("aes-128-cbc", "misc/cryptopp_aes.txt", 4),
    ("aes-192-cbc", "misc/cryptopp_aes.txt", 1),
    ("aes-256-cbc", "misc/cryptopp_aes.txt", 1),
    ("aes-128-ctr", "misc/cryptopp_aes.txt", 5),
    ("aes-192-ctr", "misc/cryptopp_aes.txt", 4),
    ("aes-256-ctr", "misc/cryptopp_aes.txt", 4),
    ("aes-128-ctr", "rfc/aes-128-ctr.txt", 3),
    ("aes-192-ctr", "rfc/aes-192-ctr.txt", 3),
    ("aes-256-ctr", "rfc/aes-256-ctr.txt", 3),
    ("serpent-128-ecb", "serpent/nessie-Serpent-128-128.txt", 1028),
    ("serpent-256-ecb", "serpent/nessie-Serpent-256-128.txt", 1284),
    ("des-ecb", "des/nessie-Des-64-64.txt", 772),
    ("des-ecb", "nist/tdes/TECBMMT1.rsp", 20),
    ("des-ecb", "nist/tdes/TECBinvperm.rsp", 128),
    ("des-ecb", "nist/tdes/TECBpermop.rsp", 64),
    ("des-ecb", "nist/tdes/TECBsubtab.rsp", 38),
    ("des-ecb", "nist/tdes/TECBvarkey.rsp", 112),
    ("des-ecb", "nist/tdes/TECBvartext.rsp", 128),
    ("des-cbc", "nist/tdes/TCBCMMT1.rsp", 20),
    ("des-cbc", "nist/tdes/TCBCinvperm.rsp", 128),
    ("des-cbc", "nist/tdes/TCBCpermop.rsp", 64),
    ("des-cbc", "nist/tdes/TCBCsubtab.rsp", 38),
    ("des-cbc", "nist/tdes/TCBCvarkey.rsp", 112),
    ("des-cbc", "nist/tdes/TCBCvartext.rsp", 128),
    ("3des-ecb", "des/nessie-Triple-Des-3-Key-192-64.txt", 1028),
    ("3des-ecb", "nist/tdes/TECBMMT2.rsp", 20),
    ("3des-ecb", "nist/tdes/TECBMMT3.rsp", 20),
    ("3des-cbc", "nist/tdes/TCBCMMT2.rsp", 20),
];

/// Generated vectors of every block cipher in every mode: fourteen lengths up to 4 KiB.
pub fn assert_generated(lines: &[Vector], source: &str) {
    for cipher in ["aes-128", "aes-192", "aes-256", "serpent-128", "serpent-192", "serpent-256"]
        .into_iter()
        .chain(["des", "3des"])
    {
        for mode in ["ecb", "cbc", "ctr"] {
            assert_whole(lines, &[(&format!("{cipher}-{mode}"), source, 14)]);
        }
    }
}
