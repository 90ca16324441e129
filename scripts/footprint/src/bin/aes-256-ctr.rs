//! Writes 32 random bytes of the generator over aes-256-ctr.

use std::io::Write as _;

use lanecrypt_random::{AesCtr, Erasing, PerThread};

fn main() -> std::io::Result<()> {
    let mut key = [0; 32];
    PerThread::<Erasing<AesCtr<256>>>::fill(&mut key);
    std::io::stdout().write_all(&key)
}
