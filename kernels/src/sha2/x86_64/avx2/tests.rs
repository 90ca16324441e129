use super::*;
use crate::sha2::portable;
use crate::{Isa, Level};

/// Processors without SHA-NI run lanes; this processor may have it.
#[test]
fn lanes_of_32_bits_are_portable_hashes() {
    if !Isa::of_processor().has(Level::Avx2) {
        return;
    }
    let data: Vec<u8> = (0..2000_u32).map(|i| ((i * i) >> 3).to_le_bytes()[0]).collect();
    for count in 0..=17 {
        let parts: Vec<_> = (0..count).map(|i| [&data[i..][..i * 67 % 400]]).collect();
        let messages: Vec<_> = parts.iter().map(|parts| &parts[..]).collect();
        let mut states = vec![rounds256::START; count];
        let mut expected = states.clone();
        // SAFETY: the processor has the level.
        unsafe { absorb_in_lanes(Jobs { messages: &messages, absorbed: 64, states: &mut states }) };
        portable::absorb256(Jobs { messages: &messages, absorbed: 64, states: &mut expected });
        assert_eq!(states, expected, "{count}");

        let blocks: Vec<_> = (0..count).map(|i| *data[i..].first_chunk().expect("64")).collect();
        // SAFETY: the processor has the level.
        unsafe { step_in_lanes(&mut states, &blocks) };
        portable::step256(&mut expected, &blocks);
        assert_eq!(states, expected, "{count}");
    }
}
