//! Seals a message and opens it by a `Cipher` of AES-256-GCM.

use std::hint::black_box;
use std::io::Write as _;

use lanecrypt_ciphers::{Algorithm, Cipher};

fn main() -> std::io::Result<()> {
    let (key, mut packet) = (black_box([7; 32]), black_box([1; 48]));
    let Ok(cipher) = Cipher::new(Algorithm::AES_256_GCM, &key) else { return Ok(()) };
    let sealed = cipher.seal(&[0; 12], b"header", &mut packet).is_ok();
    let opened = cipher.open(&[0; 12], b"header", &mut packet).is_ok();
    assert!(sealed && opened);
    std::io::stdout().write_all(&packet[..32])
}
