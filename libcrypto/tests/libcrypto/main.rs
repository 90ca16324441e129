//! Every build of libcrypto that is here.

use std::path::PathBuf;

use lanecrypt_libcrypto::Libcrypto;

mod aeads;
mod ciphers;
mod public_keys;
mod siv;

/// Every build that is here: the system's, and what `make peers` has built.
fn builds() -> Vec<Libcrypto> {
    let mut builds = Vec::new();
    match Libcrypto::open() {
        Ok(libcrypto) => builds.push(libcrypto),
        Err(error) => println!("SKIPPED openssl: {error}"),
    }
    if let Some(path) = newest().filter(|path| path.exists()) {
        // SAFETY: `make peers` has built it.
        let built = unsafe { Libcrypto::open_at(&path) };
        builds.push(built.expect("it is a libcrypto"));
    }
    builds
}

/// Beside the folder of the profile that this test was built by.
fn newest() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.parent()?.join("peers/libcrypto-newest.so"))
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| pair.iter().fold(0, |n, c| n * 16 + c.to_digit(16).expect("hex"));
    digits.chunks(2).map(|pair| u8::try_from(byte(pair)).expect("two digits")).collect()
}
