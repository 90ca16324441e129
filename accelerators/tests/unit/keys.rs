//! Keys in locked memory.

use super::*;

#[test]
fn keys_are_kept_apart_and_wiped() {
    let mut keys = Keys::default();
    let lengths = [0, 1, 16, 32, 64, 65, 128, 200, 256];
    let key = |number: usize| {
        let length = lengths[number % lengths.len()];
        vec![u8::try_from(number % 251).expect("it is small"); length]
    };
    let mut places: Vec<_> =
        (0..500).map(|number| (number, keys.keep(&key(number)).expect("memory"))).collect();
    // Every other one goes, and others take their cells.
    for number in 500..750 {
        let (_, gone) = places.remove(number - 500);
        let (page, at) = (gone.page, gone.cell * CELL);
        keys.wipe(&gone);
        if let Some(page) = &keys.0[page] {
            assert!(page.memory[at..at + gone.length].iter().all(|&byte| byte == 0));
        }
        places.push((number, keys.keep(&key(number)).expect("memory")));
    }
    for (number, place) in &places {
        assert_eq!(keys.read(place), key(*number), "{number}");
    }
    assert!(keys.keep(&[1; Place::LONGEST + 1]).is_none());
    for (_, place) in places.iter().filter(|(_, place)| place.length > 0) {
        keys.wipe(place);
    }
    assert!(keys.0.iter().all(Option::is_none), "pages without keys are given back");
}
