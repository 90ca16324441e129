//! The table of algorithms. Types, dispatch, names, lengths, limits and numbers derive from its
//! rows.

/// Calls the macro `$make` with `$arguments` and the rows.
///
/// A row is documentation, constant, number in the interface of C (0 if it has none), name,
/// [primitive](crate::Primitive), [mode](crate::Mode), and the name that OpenSSL has for it, with
/// its other names there.
///
/// - `aead`: ciphers with authentication that have a type of their own: its name, its kernel, which
///   is an [`Aead`](lanecrypt_kernels::Aead), and `AeadLanes` if it is one.
/// - `chained`: a cipher and an HMAC; a block for each cipher and its kernel, a row for each HMAC.
/// - `raw`: algorithms without authentication, whose kernels are in `hazmat/table.rs`.
/// - `legacy`: the same, with the feature `legacy`.
macro_rules! algorithms {
    ($make:ident! $arguments:tt) => {
        $make! { $arguments
        aead {
            /// AES-GCM with keys of 128 bits and nonces of 96 bits (NIST SP 800-38D).
            AES_128_GCM = 1 "aes-128-gcm" Aes128 Gcm
                ["AES-128-GCM" ":id-aes128-GCM:2.16.840.1.101.3.4.1.6"]
                Aes128Gcm: kernels::gcm::AesGcm<128>;
            /// AES-GCM with keys of 192 bits and nonces of 96 bits (NIST SP 800-38D).
            AES_192_GCM = 2 "aes-192-gcm" Aes192 Gcm
                ["AES-192-GCM" ":id-aes192-GCM:2.16.840.1.101.3.4.1.26"]
                Aes192Gcm: kernels::gcm::AesGcm<192>;
            /// AES-GCM with keys of 256 bits and nonces of 96 bits (NIST SP 800-38D).
            AES_256_GCM = 3 "aes-256-gcm" Aes256 Gcm
                ["AES-256-GCM" ":id-aes256-GCM:2.16.840.1.101.3.4.1.46"]
                Aes256Gcm: kernels::gcm::AesGcm<256>;
            /// AES-GCM-SIV with keys of 128 bits (RFC 8452). If a nonce is used twice, an
            /// attacker sees whether messages under it, with their associated data, are the
            /// same, and nothing else. It has no messages in pieces.
            AES_128_GCM_SIV = 6 "aes-128-gcm-siv" Aes128 GcmSiv []
                Aes128GcmSiv: kernels::gcm_siv::AesGcmSiv<128>, AeadLanes;
            /// AES-GCM-SIV with keys of 256 bits (RFC 8452). If a nonce is used twice, an
            /// attacker sees whether messages under it, with their associated data, are the
            /// same, and nothing else. It has no messages in pieces.
            AES_256_GCM_SIV = 7 "aes-256-gcm-siv" Aes256 GcmSiv []
                Aes256GcmSiv: kernels::gcm_siv::AesGcmSiv<256>, AeadLanes;
            /// AES-SIV with keys of 256 bits, two of AES-128, and nonces of 128 bits (RFC
            /// 5297). If a nonce is used twice, an attacker sees whether messages under it,
            /// with their associated data, are the same, and nothing else. It has no messages
            /// in pieces. The tag is the synthetic vector, which the RFC writes before the
            /// ciphertext; here it stands behind it, as with all other ciphers.
            AES_SIV_256 = 8 "aes-siv-256" Aes128 Siv []
                AesSiv256: kernels::siv::AesSiv<128>;
            /// AES-SIV with keys of 512 bits, two of AES-256, and nonces of 128 bits (RFC
            /// 5297). If a nonce is used twice, an attacker sees whether messages under it,
            /// with their associated data, are the same, and nothing else. It has no messages
            /// in pieces. The tag is the synthetic vector, which the RFC writes before the
            /// ciphertext; here it stands behind it, as with all other ciphers.
            AES_SIV_512 = 9 "aes-siv-512" Aes256 Siv []
                AesSiv512: kernels::siv::AesSiv<256>;
            /// ChaCha20-Poly1305 with nonces of 96 bits (RFC 8439).
            CHACHA20_POLY1305 = 4 "chacha20-poly1305" ChaCha20 Poly1305 ["ChaCha20-Poly1305"]
                ChaCha20Poly1305: kernels::chacha20poly1305::ChaCha20Poly1305, AeadLanes;
            /// XChaCha20-Poly1305 with nonces of 192 bits, which may be random
            /// (draft-irtf-cfrg-xchacha).
            XCHACHA20_POLY1305 = 5 "xchacha20-poly1305" XChaCha20 Poly1305 []
                XChaCha20Poly1305: kernels::chacha20poly1305::XChaCha20Poly1305, AeadLanes;
            /// AEGIS-128L with keys and nonces of 128 bits (draft-irtf-cfrg-aegis-aead): the
            /// fastest where processors have AES instructions.
            AEGIS_128L = 10 "aegis-128l" Aegis128L Aegis []
                Aegis128L: kernels::aegis::Aegis128L, AeadLanes;
            /// AEGIS-256 with keys and nonces of 256 bits, which may be random
            /// (draft-irtf-cfrg-aegis-aead).
            AEGIS_256 = 11 "aegis-256" Aegis256 Aegis []
                Aegis256: kernels::aegis::Aegis256, AeadLanes;
        }
        chained {
            Aes128 Cbc, Aes128CbcHmac: kernels::aes::Aes<128> {
                /// AES-128, blocks chained, then HMAC with SHA-1.
                AES_128_CBC_HMAC_SHA1 = 32 "aes-128-cbc+hmac-sha1" HmacSha1;
                /// AES-128, blocks chained, then HMAC with SHA-256.
                AES_128_CBC_HMAC_SHA256 = 33 "aes-128-cbc+hmac-sha256" HmacSha256;
                /// AES-128, blocks chained, then HMAC with SHA-384.
                AES_128_CBC_HMAC_SHA384 = 34 "aes-128-cbc+hmac-sha384" HmacSha384;
            }
            Aes192 Cbc, Aes192CbcHmac: kernels::aes::Aes<192> {
                /// AES-192, blocks chained, then HMAC with SHA-1.
                AES_192_CBC_HMAC_SHA1 = 35 "aes-192-cbc+hmac-sha1" HmacSha1;
                /// AES-192, blocks chained, then HMAC with SHA-256.
                AES_192_CBC_HMAC_SHA256 = 36 "aes-192-cbc+hmac-sha256" HmacSha256;
                /// AES-192, blocks chained, then HMAC with SHA-384.
                AES_192_CBC_HMAC_SHA384 = 37 "aes-192-cbc+hmac-sha384" HmacSha384;
            }
            Aes256 Cbc, Aes256CbcHmac: kernels::aes::Aes<256> {
                /// AES-256, blocks chained, then HMAC with SHA-1.
                AES_256_CBC_HMAC_SHA1 = 38 "aes-256-cbc+hmac-sha1" HmacSha1;
                /// AES-256, blocks chained, then HMAC with SHA-256.
                AES_256_CBC_HMAC_SHA256 = 39 "aes-256-cbc+hmac-sha256" HmacSha256;
                /// AES-256, blocks chained, then HMAC with SHA-384.
                AES_256_CBC_HMAC_SHA384 = 40 "aes-256-cbc+hmac-sha384" HmacSha384;
            }
            Aes128 Ctr, Aes128CtrHmac: kernels::aes::AesForward<128> {
                /// AES-128, in counter mode, then HMAC with SHA-1.
                AES_128_CTR_HMAC_SHA1 = 41 "aes-128-ctr+hmac-sha1" HmacSha1;
                /// AES-128, in counter mode, then HMAC with SHA-256.
                AES_128_CTR_HMAC_SHA256 = 42 "aes-128-ctr+hmac-sha256" HmacSha256;
                /// AES-128, in counter mode, then HMAC with SHA-384.
                AES_128_CTR_HMAC_SHA384 = 43 "aes-128-ctr+hmac-sha384" HmacSha384;
            }
            Aes256 Ctr, Aes256CtrHmac: kernels::aes::AesForward<256> {
                /// AES-256, in counter mode, then HMAC with SHA-1.
                AES_256_CTR_HMAC_SHA1 = 44 "aes-256-ctr+hmac-sha1" HmacSha1;
                /// AES-256, in counter mode, then HMAC with SHA-256.
                AES_256_CTR_HMAC_SHA256 = 45 "aes-256-ctr+hmac-sha256" HmacSha256;
                /// AES-256, in counter mode, then HMAC with SHA-384.
                AES_256_CTR_HMAC_SHA384 = 46 "aes-256-ctr+hmac-sha384" HmacSha384;
            }
        }
        raw {
            /// AES-128, blocks chained.
            AES_128_CBC = 64 "aes-128-cbc" Aes128 Cbc ["AES-128-CBC" ":AES128:2.16.840.1.101.3.4.1.2"];
            /// AES-192, blocks chained.
            AES_192_CBC = 65 "aes-192-cbc" Aes192 Cbc
                ["AES-192-CBC" ":AES192:2.16.840.1.101.3.4.1.22"];
            /// AES-256, blocks chained.
            AES_256_CBC = 66 "aes-256-cbc" Aes256 Cbc
                ["AES-256-CBC" ":AES256:2.16.840.1.101.3.4.1.42"];
            /// AES-128 in counter mode.
            AES_128_CTR = 67 "aes-128-ctr" Aes128 Ctr ["AES-128-CTR"];
            /// AES-192 in counter mode.
            AES_192_CTR = 68 "aes-192-ctr" Aes192 Ctr ["AES-192-CTR"];
            /// AES-256 in counter mode.
            AES_256_CTR = 69 "aes-256-ctr" Aes256 Ctr ["AES-256-CTR"];
            /// AES-128, block by block.
            AES_128_ECB = 70 "aes-128-ecb" Aes128 Ecb ["AES-128-ECB"];
            /// AES-192, block by block.
            AES_192_ECB = 71 "aes-192-ecb" Aes192 Ecb ["AES-192-ECB"];
            /// AES-256, block by block.
            AES_256_ECB = 72 "aes-256-ecb" Aes256 Ecb ["AES-256-ECB"];
            /// AES-128 for sectors; the key has 32 bytes.
            AES_128_XTS = 73 "aes-128-xts" Aes128 Xts ["AES-128-XTS" ":1.3.111.2.1619.0.1.1"];
            /// AES-256 for sectors; the key has 64 bytes.
            AES_256_XTS = 74 "aes-256-xts" Aes256 Xts ["AES-256-XTS" ":1.3.111.2.1619.0.1.2"];
            /// ChaCha8 with a 64-bit counter.
            CHACHA8_DJB = 80 "chacha8-djb" ChaCha8 Djb [];
            /// ChaCha12 with a 64-bit counter.
            CHACHA12_DJB = 81 "chacha12-djb" ChaCha12 Djb [];
            /// ChaCha20 with a 64-bit counter.
            CHACHA20_DJB = 82 "chacha20-djb" ChaCha20 Djb ["ChaCha20"];
            /// ChaCha8 in the form of RFC 8439.
            CHACHA8_IETF = 83 "chacha8-ietf" ChaCha8 Ietf [];
            /// ChaCha12 in the form of RFC 8439.
            CHACHA12_IETF = 84 "chacha12-ietf" ChaCha12 Ietf [];
            /// ChaCha20 as RFC 8439 defines it.
            CHACHA20_IETF = 85 "chacha20-ietf" ChaCha20 Ietf ["ChaCha20"];
            /// The null cipher, which protects nothing: the output is the input. It has neither key
            /// nor nonce. It serves to measure the cost of everything around a cipher.
            NULL = 127 "null" Null Stream [];
        }
        legacy {
            /// Salsa20/8: a 64-bit nonce and a 64-bit block counter.
            SALSA20_8 = 86 "salsa20/8" Salsa8 Stream [];
            /// Salsa20/12, the member of the family that eSTREAM chose.
            SALSA20_12 = 87 "salsa20/12" Salsa12 Stream [];
            /// Salsa20/20, also called just Salsa20.
            SALSA20_20 = 88 "salsa20/20" Salsa20 Stream [];
            /// Serpent with 128-bit keys, blocks chained.
            SERPENT_128_CBC = 96 "serpent-128-cbc" Serpent128 Cbc [];
            /// Serpent with 192-bit keys, blocks chained.
            SERPENT_192_CBC = 97 "serpent-192-cbc" Serpent192 Cbc [];
            /// Serpent with 256-bit keys, blocks chained.
            SERPENT_256_CBC = 98 "serpent-256-cbc" Serpent256 Cbc [];
            /// Serpent with 128-bit keys in counter mode.
            SERPENT_128_CTR = 99 "serpent-128-ctr" Serpent128 Ctr [];
            /// Serpent with 192-bit keys in counter mode.
            SERPENT_192_CTR = 100 "serpent-192-ctr" Serpent192 Ctr [];
            /// Serpent with 256-bit keys in counter mode.
            SERPENT_256_CTR = 101 "serpent-256-ctr" Serpent256 Ctr [];
            /// Serpent with 128-bit keys, block by block.
            SERPENT_128_ECB = 102 "serpent-128-ecb" Serpent128 Ecb [];
            /// Serpent with 192-bit keys, block by block.
            SERPENT_192_ECB = 103 "serpent-192-ecb" Serpent192 Ecb [];
            /// Serpent with 256-bit keys, block by block.
            SERPENT_256_ECB = 104 "serpent-256-ecb" Serpent256 Ecb [];
            /// ARC4. **Broken, for study and comparison only**: its output can be distinguished
            /// from random bytes, plaintexts that are sent often can be recovered, and RFC 7465
            /// forbids it in TLS. It has no nonce, so a key serves for one stream only. It is not
            /// constant time: it indexes a table by secrets.
            ARC4 = 0 "arc4" Arc4 Stream [];
            /// HC-128: unbroken, but not constant time. It indexes tables by secrets, so programs
            /// that share the processor's caches with it can learn about its state.
            HC128 = 0 "hc128" Hc128 Stream [];
            /// DES, blocks chained. **Broken, for study and comparison only**: see
            /// [`Primitive::Des`].
            DES_CBC = 0 "des-cbc" Des Cbc ["DES-CBC"];
            /// DES in counter mode. **Broken, for study and comparison only**: see
            /// [`Primitive::Des`].
            DES_CTR = 0 "des-ctr" Des Ctr [];
            /// DES, block by block. **Broken, for study and comparison only**: see
            /// [`Primitive::Des`].
            DES_ECB = 0 "des-ecb" Des Ecb ["DES-ECB"];
            /// Triple DES, blocks chained. Its 64-bit blocks limit the data: see
            /// [`Primitive::TripleDes`].
            TRIPLE_DES_CBC = 0 "3des-cbc" TripleDes Cbc ["DES-EDE3-CBC"];
            /// Triple DES in counter mode. Its 64-bit blocks limit the data: see
            /// [`Primitive::TripleDes`].
            TRIPLE_DES_CTR = 0 "3des-ctr" TripleDes Ctr [];
            /// Triple DES, block by block. Its 64-bit blocks limit the data: see
            /// [`Primitive::TripleDes`].
            TRIPLE_DES_ECB = 0 "3des-ecb" TripleDes Ecb ["DES-EDE3-ECB"];
        }
        }
    };
}

pub(crate) use algorithms;
