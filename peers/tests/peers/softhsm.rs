//! SoftHSM2 in a process of its own, whose environment names its settings.

use std::{env, fs};

use lanecrypt_peers::{PeerLibraries, SoftHsm};

use crate::alone;

/// AES-128 in CBC mode, NIST SP 800-38A, F.2.1.
const KEY: [u8; 16] = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
const IV: [u8; 16] = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f_u128.to_be_bytes();
const PLAIN: [u8; 16] = 0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128.to_be_bytes();
const SEALED: [u8; 16] = 0x7649_abac_8119_b246_cee9_8e9b_12e9_197d_u128.to_be_bytes();

/// `LANECRYPT_SOFTHSM` names a file, where the library is not installed.
fn libraries() -> PeerLibraries {
    let mut libraries = PeerLibraries::new();
    if let Ok(path) = env::var("LANECRYPT_SOFTHSM") {
        // SAFETY: whoever sets the variable names a build of SoftHSM2.
        unsafe { libraries.add(&format!("softhsm={path}")) }.expect("it is a name");
    }
    libraries
}

#[test]
fn it_encrypts_and_makes_random_bytes() {
    if let Err(hint) = SoftHsm::look(&libraries()) {
        println!("SKIPPED softhsm: {hint}");
        return;
    }
    let folder = env::temp_dir().join(format!("lanecrypt-softhsm-{}", std::process::id()));
    fs::create_dir_all(folder.join("tokens")).expect("there is room");
    let settings = folder.join("softhsm2.conf");
    let tokens = folder.join("tokens");
    fs::write(&settings, format!("directories.tokendir = {}\n", tokens.display()))
        .expect("there is room");
    let variables = [("SOFTHSM2_CONF", settings.as_os_str())];
    let outcome = alone::run("softhsm::in_a_process_of_its_own", &variables);
    fs::remove_dir_all(&folder).expect("it is there");
    outcome.unwrap_or_else(|printed| panic!("{printed}"));
}

#[test]
#[ignore = "it is what the other test starts"]
fn in_a_process_of_its_own() {
    if !alone::is_alone() {
        return;
    }
    let mut token = SoftHsm::open(&libraries()).expect("it makes a token");
    let key = token.aes_key(&KEY).expect("it takes a key");
    let other = token.aes_key(&[1; 16]).expect("it takes another");
    for _ in 0..2 {
        let mut data = PLAIN;
        assert_eq!(token.encrypt_cbc(key, &IV, &mut data), Ok(()));
        assert_eq!(data, SEALED);
        let mut data = PLAIN;
        assert_eq!(token.encrypt_cbc(other, &IV, &mut data), Ok(()));
        assert_ne!(data, SEALED);
    }
    assert!(token.encrypt_cbc(key, &IV, &mut [0; 15]).is_err(), "no whole block");
    let (mut one, mut two) = ([0; 32], [0; 32]);
    assert!(token.fill(&mut one).is_ok() && token.fill(&mut two).is_ok());
    assert!(one != two && one != [0; 32]);
}
