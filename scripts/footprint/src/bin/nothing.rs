//! Writes 32 bytes that are not random: what any program has.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(&[0; 32])
}
