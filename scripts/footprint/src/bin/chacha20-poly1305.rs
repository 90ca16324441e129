//! Seals a message and opens it by `ChaCha20Poly1305`.

use std::hint::black_box;
use std::io::Write as _;

use lanecrypt_ciphers::ChaCha20Poly1305;

fn main() -> std::io::Result<()> {
    let (key, mut packet) = (black_box([7; 32]), black_box([1; 48]));
    let cipher = ChaCha20Poly1305::new(&key);
    let sealed = cipher.seal(&[0; 12], b"header", &mut packet).is_ok();
    let opened = cipher.open(&[0; 12], b"header", &mut packet).is_ok();
    assert!(sealed && opened);
    std::io::stdout().write_all(&packet[..32])
}
