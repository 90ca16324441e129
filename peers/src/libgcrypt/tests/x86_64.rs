//! Features of x86-64.

#![cfg(target_arch = "x86_64")]

use super::*;

#[test]
fn features_are_those_of_the_processor() {
    let Ok(whole) = library(&PeerLibraries::new()) else {
        println!("SKIPPED libgcrypt: there is none");
        return;
    };
    let features = whole.features().expect("it lists them");
    assert_eq!(features.contains("aesni"), std::is_x86_feature_detected!("aes"), "{features}");
}
