//! Writes 32 random bytes of the generator over chacha20.

use std::io::Write as _;

use lanecrypt_random::{ChaCha, Erasing, PerThread};

fn main() -> std::io::Result<()> {
    let mut key = [0; 32];
    PerThread::<Erasing<ChaCha<20>>>::fill(&mut key);
    std::io::stdout().write_all(&key)
}
