//! Keys: forms, refusals, hidden secrets.

use lanecrypt_pk::mlkem768::{DecapsulationKey, EncapsulationKey};
use lanecrypt_pk::{KeyError, ed25519, p256, x25519};

use crate::common::hex;

const X25519: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VuBCIEIFifpNAWmr3aP8rgUakvtPFr5ZS/8KuNEbEc6lO3OrZe
-----END PRIVATE KEY-----
";
const X25519_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VuAyEASko5F4b/g+IDNY6ww7vsLc0jalxUME/FNANUzdYIgT8=
-----END PUBLIC KEY-----
";
const ED25519: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAtFi8O/TxdXpA26CWZVcw/dfDJPX8duKXWd52RW06gn
-----END PRIVATE KEY-----
";
const ED25519_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAIkFDYQV8gsDeJHqZHm3TFNYjuhy+eSZhjZZBR2IheG0=
-----END PUBLIC KEY-----
";
const P256: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfZF133OTahmsYNYE
GfXr/oWzR0AbXiOF1EYhMuWnZtWhRANCAAT+5wR5GQIBIVCt9eGx45c5zq+mUSXq
r1Bj2AkB4ynPt+qc0BNPHkIOPEIhXz9LhOS3xsx4Z9MZBm1fpOhFGEHk
-----END PRIVATE KEY-----
";
const P256_SEC1: &str = "-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIH2Rdd9zk2oZrGDWBBn16/6Fs0dAG14jhdRGITLlp2bVoAoGCCqGSM49
AwEHoUQDQgAE/ucEeRkCASFQrfXhseOXOc6vplEl6q9QY9gJAeMpz7fqnNATTx5C
DjxCIV8/S4Tkt8bMeGfTGQZtX6ToRRhB5A==
-----END EC PRIVATE KEY-----
";
const P256_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE/ucEeRkCASFQrfXhseOXOc6vplEl
6q9QY9gJAeMpz7fqnNATTx5CDjxCIV8/S4Tkt8bMeGfTGQZtX6ToRRhB5A==
-----END PUBLIC KEY-----
";
/// RFC 9935, appendix C.1.2: the seed is 00 to 3f.
const MLKEM768: &str = "-----BEGIN PRIVATE KEY-----
MFQCAQAwCwYJYIZIAWUDBAQCBEKAQAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ
GhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=
-----END PRIVATE KEY-----
";

/// Files that OpenSSL wrote are read, and written again as they were.
#[test]
fn pem_of_openssl() {
    let key = x25519::SecretKey::from_pem(X25519).expect("a good key");
    assert_eq!(*key.to_pem(), X25519);
    assert_eq!(key.public_key().to_pem(), X25519_PUBLIC);
    assert_eq!(x25519::PublicKey::from_pem(X25519_PUBLIC), Ok(key.public_key()));

    let key = ed25519::SigningKey::from_pem(ED25519).expect("a good key");
    assert_eq!(*key.to_pem(), ED25519);
    assert_eq!(key.verifying_key().to_pem(), ED25519_PUBLIC);
    let public = ed25519::VerifyingKey::from_pem(ED25519_PUBLIC);
    assert_eq!(public.as_ref(), Ok(key.verifying_key()));

    for pem in [P256, P256_SEC1] {
        let key = p256::SigningKey::from_pem(pem).expect("a good key");
        assert_eq!(*key.to_pem(), P256);
        assert_eq!(key.public_key().to_pem(), P256_PUBLIC);
        let public = p256::PublicKey::from_pem(P256_PUBLIC);
        assert_eq!(public.as_ref(), Ok(key.public_key()));
        let secret = p256::SecretKey::from_pem(pem).expect("a good key");
        assert_eq!(*secret.to_pem().expect("no fault"), P256);
    }

    let key = DecapsulationKey::from_pem(MLKEM768).expect("a good key");
    assert_eq!(*key.to_pem(), MLKEM768);
    let public = EncapsulationKey::from_pem(&key.encapsulation_key().to_pem());
    assert_eq!(public.as_ref(), Ok(key.encapsulation_key()));
}

#[test]
fn forms_of_other_keys_are_refused() {
    for (own, pem) in [X25519, ED25519, P256, MLKEM768].iter().enumerate() {
        let errors = [
            x25519::SecretKey::from_pem(pem).err(),
            ed25519::SigningKey::from_pem(pem).err(),
            p256::SigningKey::from_pem(pem).err(),
            DecapsulationKey::from_pem(pem).err(),
        ];
        for (i, error) in errors.into_iter().enumerate() {
            assert_eq!(error, (i != own).then_some(KeyError::Algorithm), "{pem}");
        }
        let encrypted = pem.replace("PRIVATE", "ENCRYPTED PRIVATE");
        assert_eq!(x25519::SecretKey::from_pem(&encrypted).err(), Some(KeyError::Encrypted));
        assert_eq!(p256::SecretKey::from_pem(&encrypted).err(), Some(KeyError::Encrypted));
        assert_eq!(ed25519::VerifyingKey::from_pem(pem).err(), Some(KeyError::Encoding));
    }
    for (own, pem) in [X25519_PUBLIC, ED25519_PUBLIC, P256_PUBLIC].iter().enumerate() {
        let errors = [
            x25519::PublicKey::from_pem(pem).err(),
            ed25519::VerifyingKey::from_pem(pem).err(),
            p256::PublicKey::from_pem(pem).err(),
        ];
        for (i, error) in errors.into_iter().enumerate() {
            assert_eq!(error, (i != own).then_some(KeyError::Algorithm), "{pem}");
        }
        assert_eq!(EncapsulationKey::from_pem(pem).err(), Some(KeyError::Algorithm));
        assert_eq!(x25519::SecretKey::from_pem(pem).err(), Some(KeyError::Encoding));
    }
    assert_eq!(x25519::SecretKey::from_pem(P256_SEC1).err(), Some(KeyError::Encoding));
}

/// One changed or missing byte: no panic, and never a key with a public key that is not its own.
#[test]
fn damaged_der() {
    let p256 = p256::SigningKey::from_pem(P256).expect("a good key");
    let der = p256.to_pkcs8_der();
    for at in 0..der.len() {
        let mut damaged = der.to_vec();
        damaged[at] ^= 1;
        assert!(p256::SigningKey::from_pkcs8_der(&damaged).is_err(), "{at}");
        assert!(p256::SigningKey::from_pkcs8_der(&der[..at]).is_err(), "{at}");
        assert!(p256::SigningKey::from_sec1_der(&der[at..]).is_err(), "{at}");
    }
    let x25519 = x25519::SecretKey::from_pem(X25519).expect("a good key").to_pkcs8_der();
    let mlkem = DecapsulationKey::from_pem(MLKEM768).expect("a good key").to_pkcs8_der();
    for at in 0..mlkem.len() {
        let _ = x25519::SecretKey::from_pkcs8_der(x25519.get(..at).unwrap_or(&[]));
        let mut damaged = mlkem.to_vec();
        damaged[at] ^= 0x20;
        let is_key = DecapsulationKey::from_pkcs8_der(&damaged).is_ok();
        assert_eq!(is_key, at >= mlkem.len() - 64, "{at}");
        assert!(DecapsulationKey::from_pkcs8_der(&mlkem[..at]).is_err(), "{at}");
    }
}

#[test]
fn numbers_out_of_range() {
    let order = hex::<32>("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    let mut before = order;
    before[31] -= 1;
    for bytes in [[0; 32], order, [0xff; 32]] {
        assert_eq!(p256::SecretKey::from_bytes(&bytes).err(), Some(KeyError::Range));
        assert_eq!(p256::SigningKey::from_bytes(&bytes).err(), Some(KeyError::Range));
    }
    // -G and G have the same x.
    let [last, first] = [before, hex(&format!("{:064x}", 1))].map(|bytes| {
        let key = p256::SecretKey::from_bytes(&bytes).expect("in range");
        *key.public_key().expect("no fault").as_sec1_bytes()
    });
    assert_eq!(last[..33], first[..33]);
    assert_ne!(last[33..], first[33..]);
}

#[test]
fn points_of_p256() {
    let key = p256::SecretKey::generate().expect("entropy");
    let public = key.public_key().expect("no fault");
    let bytes = *public.as_sec1_bytes();
    let compressed = [&[2 + (bytes[64] & 1)], &bytes[1..33]].concat();
    assert_eq!(p256::PublicKey::from_sec1_bytes(&compressed), Ok(public));

    let read = |bytes: &[u8]| p256::PublicKey::from_sec1_bytes(bytes).err();
    let mut off = bytes;
    off[64] ^= 1;
    assert_eq!(read(&off), Some(KeyError::Point));
    let p = hex::<32>("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
    assert_eq!(read(&[&[2], &p[..]].concat()), Some(KeyError::Point));
    let hybrid = [&[6 + (bytes[64] & 1)], &bytes[1..]].concat();
    for bad in [&[][..], &[0], &bytes[1..], &bytes[..64], &hybrid, &[0; 65], &[0; 33]] {
        assert_eq!(read(bad), Some(KeyError::Encoding), "{bad:?}");
    }
}

#[test]
fn points_of_ed25519() {
    let read = |digits: &str| ed25519::VerifyingKey::from_bytes(&hex(digits)).err();
    let tail = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    // y = p, p + 1 and 2^255 - 1 are 0, 1 and 18.
    for low in ["ed", "ee", "ff"] {
        assert_eq!(read(&format!("{low}{tail}7f")), Some(KeyError::Encoding), "{low}");
        assert_eq!(read(&format!("{low}{tail}ff")), Some(KeyError::Encoding), "{low}");
    }
    // y = 1 and -1, with the sign of x = 0 set.
    let zeros = "000000000000000000000000000000000000000000000000000000000000";
    assert_eq!(read(&format!("01{zeros}80")), Some(KeyError::Encoding));
    assert_eq!(read(&format!("ec{tail}ff")), Some(KeyError::Encoding));
    assert_eq!(read(&format!("01{zeros}00")), Some(KeyError::SmallOrder));
    assert_eq!(read(&format!("02{zeros}00")), Some(KeyError::Point));
}

#[test]
fn debug_hides() {
    let texts = [
        format!("{:?}", x25519::SecretKey::from_bytes(&[171; 32])),
        format!("{:?}", ed25519::SigningKey::from_bytes(&[171; 32])),
        format!("{:?}", p256::SecretKey::from_bytes(&[171; 32])),
        format!("{:?}", p256::SigningKey::from_bytes(&[171; 32])),
        format!("{:?}", DecapsulationKey::from_seed(&[171; 64])),
    ];
    for text in texts {
        assert!(!text.contains("171, 171"), "{text}");
    }
    let secret = x25519::SecretKey::from_bytes(&[1; 32]);
    let shared = secret.diffie_hellman(&secret.public_key()).expect("a good key");
    assert_eq!(format!("{shared:?}"), "SharedSecret { .. }");
}

#[test]
fn new_keys_differ() {
    let (one, other) = (x25519::SecretKey::generate(), x25519::SecretKey::generate());
    assert_ne!(one.expect("entropy").as_bytes(), other.expect("entropy").as_bytes());
    let (one, other) = (DecapsulationKey::generate(), DecapsulationKey::generate());
    assert_ne!(one.expect("entropy").as_seed(), other.expect("entropy").as_seed());
}
