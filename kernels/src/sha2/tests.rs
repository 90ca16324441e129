use super::*;
use crate::isa::reached::assert_best;

const PARTS: [&[u8]; 1] = [b"abc"];

#[test]
fn every_level_reaches_its_kernel() {
    for count in [1, 8] {
        let messages = [&PARTS[..]; 8];
        assert_best(KERNELS_512, |isa| sha512(isa, &messages[..count], &mut [[0; 64]; 8][..count]));
        assert_best(KERNELS_256, |isa| sha256(isa, &messages[..count], &mut [[0; 32]; 8][..count]));
    }
}

/// A message ends in a state that its length decides, too.
#[test]
fn the_length_counts_the_bytes_before() {
    let mut blocks = [0; 64];
    let mut rest = blocks::Rest::new(&[], 64);
    assert_eq!(rest.block(&mut blocks)[56..], 512_u64.to_be_bytes());
    assert!(rest.is_done());
}

/// The portable kernel is reached where there is no SHA-NI, too.
#[cfg(target_arch = "x86_64")]
#[test]
fn detection_is_that_of_the_standard_library() {
    assert_eq!(x86_64::aesni::has_sha(), std::arch::is_x86_feature_detected!("sha"));
}
