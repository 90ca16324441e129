//! Writes 32 random bytes of the default generator.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let mut key = [0; 32];
    lanecrypt_random::fill(&mut key);
    std::io::stdout().write_all(&key)
}
