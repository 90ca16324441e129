//! The key type of ring, which the crate aws-lc-rs has adopted: it takes a nonce with each message.

/// Makes a function `aead` that lists the ciphers of `$library` by their names, those that only one
/// of the two has among them. `$open` decrypts:
/// key, nonce, associated data, packet.
macro_rules! less_safe_keys {
    ($library:ident, $version:expr, $open:expr $(, $name:literal => $own:path)* $(,)?) => {
        use $library::aead::{
            AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce,
            UnboundKey,
        };

        pub(super) fn aead(names: [&'static str; 3]) -> crate::Peer<dyn crate::Aead> {
            let algorithm = match names {
                [_, _, "aes-128-gcm"] => &AES_128_GCM,
                [_, _, "aes-256-gcm"] => &AES_256_GCM,
                $([_, _, $name] => &$own,)*
                _ => &CHACHA20_POLY1305,
            };
            crate::Peer::keyed(names, &Ok($version), |_, _, key| {
                Ok(AeadSession { key: expanded(algorithm, key)?, algorithm })
            })
        }

        /// A key of an algorithm.
        struct AeadSession {
            key: LessSafeKey,
            algorithm: &'static Algorithm,
        }

        #[inline]
        fn expanded(algorithm: &'static Algorithm, key: &[u8]) -> Result<LessSafeKey, Failed> {
            UnboundKey::new(algorithm, key).map(LessSafeKey::new).map_err(|_| Failed)
        }

        impl crate::Sealing for AeadSession {
            #[inline]
            fn seal(&mut self, packet: &mut crate::Packet<'_>) -> Result<(), Failed> {
                let nonce = Nonce::try_assume_unique_for_key(packet.nonce).map_err(|_| Failed)?;
                let aad = Aad::from(packet.aad);
                let made = self.key.seal_in_place_separate_tag(nonce, aad, packet.data);
                *packet.tag = made.map_err(|_| Failed)?.as_ref().try_into().map_err(|_| Failed)?;
                Ok(())
            }

            #[inline]
            fn open(&mut self, packet: &mut crate::Packet<'_>) -> Result<(), Failed> {
                let nonce = Nonce::try_assume_unique_for_key(packet.nonce).map_err(|_| Failed)?;
                ($open)(&self.key, nonce, Aad::from(packet.aad), packet)
            }

            #[inline]
            fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
                self.key = expanded(self.algorithm, key)?;
                Ok(())
            }
        }
    };
}

pub(crate) use less_safe_keys;
