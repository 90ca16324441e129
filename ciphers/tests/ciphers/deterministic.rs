//! [`DeterministicAesSiv`]: published and generated vectors at every level, strings that are fixed
//! and those of a request, many values at once against one by one, and every refusal.

use lanecrypt_ciphers::hazmat::burn_stack;
use lanecrypt_ciphers::{
    AesSiv256, Cipher, DeterministicAesSiv, Error, InOutBuf, ValueToOpen, ValueToSeal,
};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;
use lanecrypt_testing::vectors::deterministic::aes_siv;

fn slices(strings: &[Vec<u8>]) -> Vec<&[u8]> {
    strings.iter().map(|string| &string[..]).collect()
}

#[test]
fn every_vector_at_every_level() {
    let (mut good, mut refused) = (0, 0);
    for line in aes_siv() {
        let strings = slices(&line.strings);
        for (isa, fixed) in levels().flat_map(|isa| (0..=strings.len()).map(move |n| (isa, n))) {
            let place = format!("{} at {}, {fixed} fixed", line.place, isa.level());
            let cipher = DeterministicAesSiv::with_isa(isa, &line.key).expect("a good key");
            let cipher = cipher.with_context(&strings[..fixed]).expect("few");
            let strings = &strings[fixed..];
            let mut packet = line.packet.clone();
            let opened = cipher.open(strings, &mut packet).map(|value| value.to_vec());
            let mut value = vec![0x5a; packet.len() - 16];
            let apart = cipher.open_to(strings, &line.packet, &mut value);
            if let Some(plain) = &line.plain {
                assert_eq!((opened.as_ref(), apart), (Ok(plain), Ok(())), "{place}");
                assert_eq!(value, *plain, "{place}");
                cipher.seal(strings, &mut packet).expect("room");
                assert_eq!(packet, line.packet, "{place}");
                packet.fill(0x5a);
                cipher.seal_to(strings, plain, &mut packet).expect("room");
                assert_eq!(packet, line.packet, "{place}");
                good += 1;
            } else {
                let wrong = Err(Error::Authentication);
                assert_eq!((opened.map(drop), apart), (wrong, wrong), "{place}");
                let left = value.iter().chain(&packet[16..]).any(|&byte| byte != 0);
                assert!(!left, "{place}: not wiped");
                refused += 1;
            }
        }
    }
    assert!(good >= 88 && refused >= 26, "{good} {refused}");
}

/// The nonce is the last string, and V stands first.
#[test]
fn it_is_the_cipher_with_a_nonce() {
    let mut numbers = Numbers(51);
    for length in 0..100 {
        let (key, nonce) = (numbers.array::<32>(), numbers.array::<16>());
        let (aad, plain) = (numbers.bytes(length % 40), numbers.bytes(length));
        let mut behind = [&plain[..], &[0; 16]].concat();
        AesSiv256::new(&key).seal(&nonce, &aad, &mut behind).expect("room");
        let mut before = [&[0; 16], &plain[..]].concat();
        let cipher = DeterministicAesSiv::new(&key).expect("a good key");
        cipher.seal(&[&aad, &nonce], &mut before).expect("room");
        behind.rotate_right(16);
        assert_eq!(before, behind, "{length}");
    }
}

#[test]
fn strings_are_bound() {
    let cipher = DeterministicAesSiv::new(&[3; 64]).expect("a good key");
    let mut packet = *b"................the value";
    cipher.seal(&[b"one", b"two"], &mut packet).expect("room");
    let others: [&[&[u8]]; 7] = [
        &[b"one", b"twO"],
        &[b"two", b"one"],
        &[b"onetwo"],
        &[b"one", b"two", b""],
        &[b"", b"one", b"two"],
        &[b"onet", b"wo"],
        &[],
    ];
    for strings in others {
        let mut copy = packet;
        assert_eq!(cipher.open(strings, &mut copy).map(drop), Err(Error::Authentication));
        assert_eq!(copy[16..], [0; 9]);
    }
    for bit in 0..8 * packet.len() {
        let mut copy = packet;
        copy[bit / 8] ^= 1 << (bit % 8);
        let opened = cipher.open(&[b"one", b"two"], &mut copy).map(drop);
        assert_eq!(opened, Err(Error::Authentication), "{bit}");
        assert_eq!(copy[16..], [0; 9], "{bit}");
    }
    assert_eq!(cipher.open(&[b"one", b"two"], &mut packet), Ok(&mut b"the value"[..].to_vec()[..]));
}

#[test]
fn what_does_not_fit_is_refused() {
    for length in (0..100).filter(|length| ![32, 48, 64].contains(length)) {
        let refused = DeterministicAesSiv::new(&vec![1; length]).map(drop);
        assert_eq!(refused, Err(Error::KeyLength), "{length}");
    }
    let cipher = DeterministicAesSiv::new(&[1; 48]).expect("a good key");
    for length in 0..16 {
        let mut short = vec![0x5a; length];
        assert_eq!(cipher.seal(&[], &mut short), Err(Error::OutputLength));
        assert_eq!(cipher.open(&[], &mut short).map(drop), Err(Error::Authentication));
        assert_eq!(short, vec![0x5a; length]);
        let mut value = [0x5a; 3];
        assert_eq!(cipher.open_to(&[], &short, &mut value), Err(Error::Authentication));
        assert_eq!(value, [0; 3]);
    }
    for length in [15, 16, 17, 19, 40] {
        let mut packet = vec![0x5a; length];
        assert_eq!(cipher.seal_to(&[], &[1; 2], &mut packet), Err(Error::OutputLength));
        assert_eq!(cipher.open_to(&[], &[1; 50], &mut packet), Err(Error::OutputLength));
        assert_eq!(packet, vec![0x5a; length]);
    }
    // 126 strings, however they are divided.
    let many = [&b"string"[..]; 127];
    let mut packet = [0x5a; 20];
    assert_eq!(cipher.seal(&many, &mut packet), Err(Error::AadLength));
    assert_eq!(cipher.open(&many, &mut packet).map(drop), Err(Error::AadLength));
    assert_eq!(packet, [0x5a; 20]);
    assert_eq!(cipher.seal(&many[1..], &mut packet), Ok(()));
    let mut cipher = cipher.with_context(&many[..100]).expect("few");
    assert_eq!(cipher.set_context(&many), Err(Error::AadLength));
    assert_eq!(cipher.open(&many[..27], &mut packet).map(drop), Err(Error::AadLength));
    assert_eq!(cipher.open(&many[..26], &mut packet), Ok(&mut [0x5a; 4][..]));
    cipher.set_context(&many[1..]).expect("126");
    let (mut packet, mut outcome) = ([0; 20], Ok(()));
    let value = ValueToSeal {
        string: Some(b"one more"),
        value: &[1; 4],
        packet: &mut packet,
        outcome: &mut outcome,
    };
    assert_eq!(cipher.seal_many([value].into_iter()), 1);
    assert_eq!((packet, outcome), ([0; 20], Err(Error::AadLength)));
    assert_eq!(format!("{cipher:?}"), "DeterministicAesSiv { .. }");
}

/// Batches of all sizes, with lengths that differ or not, strings or none, and some that are
/// refused.
#[test]
fn many_are_what_one_by_one_is() {
    let mut numbers = Numbers(52);
    for isa in levels() {
        for round in 0..60 {
            let key = numbers.bytes([32, 48, 64][round % 3]);
            let context = numbers.bytes(numbers_below(round, 40));
            let cipher = DeterministicAesSiv::with_isa(isa, &key).expect("a good key");
            let cipher = cipher.with_context(&[&context, b"column"]).expect("few");
            let count = numbers.below(150);
            let same = (round % 4 == 0).then(|| numbers.below(70));
            let longest = if round % 2 == 0 { 60 } else { 500 };
            let mut values = Vec::new();
            for _ in 0..count {
                let length = same.unwrap_or_else(|| numbers.below(longest));
                let string = (numbers.below(3) == 0).then(|| {
                    let length = numbers.below(30);
                    numbers.bytes(length)
                });
                values.push((numbers.bytes(length), string));
            }
            check_many(&cipher, &values, &format!("{round} at {}", isa.level()));
        }
    }
}

fn numbers_below(round: usize, end: usize) -> usize {
    round * 7 % end
}

fn check_many(cipher: &DeterministicAesSiv, values: &[(Vec<u8>, Option<Vec<u8>>)], place: &str) {
    let count = values.len();
    let (mut packets, mut outcomes) = (Vec::new(), vec![Ok(()); count]);
    for (at, (value, _)) in values.iter().enumerate() {
        // Every ninth has the wrong length.
        packets.push(vec![0x5a; value.len() + if at % 9 == 8 { 15 } else { 16 }]);
    }
    let places = values.iter().zip(&mut packets).zip(&mut outcomes);
    let refused = cipher.seal_many(places.map(|(((value, string), packet), outcome)| {
        ValueToSeal { string: string.as_deref(), value, packet, outcome }
    }));
    assert_eq!(refused, count / 9, "{place}");
    for (at, ((value, string), packet)) in values.iter().zip(&mut packets).enumerate() {
        let strings: Vec<_> = string.iter().map(|string| &string[..]).collect();
        let mut alone = vec![0x5a; value.len() + 16];
        cipher.seal_to(&strings, value, &mut alone).expect("room");
        if at % 9 == 8 {
            assert_eq!(outcomes[at], Err(Error::OutputLength), "{place}");
            assert!(packet.iter().all(|&byte| byte == 0x5a), "{place}");
            *packet = alone;
        } else {
            assert_eq!((outcomes[at], &*packet), (Ok(()), &alone), "{at} of {place}");
        }
        if at % 5 == 4 {
            packet[at % 16] ^= 1;
        }
    }
    let mut opened: Vec<_> = values.iter().map(|(value, _)| vec![0x5a; value.len()]).collect();
    let mut outcomes = vec![Ok(()); count];
    let places = values.iter().zip(&packets).zip(opened.iter_mut().zip(&mut outcomes));
    let refused = cipher.open_many(places.map(|(((_, string), packet), (value, outcome))| {
        ValueToOpen { string: string.as_deref(), packet, value, outcome }
    }));
    assert_eq!(refused, count / 5, "{place}");
    for (at, ((value, _), opened)) in values.iter().zip(&opened).enumerate() {
        if at % 5 == 4 {
            assert_eq!(outcomes[at], Err(Error::Authentication), "{place}");
            assert!(opened.iter().all(|&byte| byte == 0), "{at} of {place}: not wiped");
        } else {
            assert_eq!((outcomes[at], opened), (Ok(()), value), "{at} of {place}");
        }
    }
}

#[test]
fn it_works_apart_and_in_place() {
    let cipher = DeterministicAesSiv::new(&[9; 32]).expect("a good key");
    let (mut data, mut out, mut v) = ([7; 50], [0; 50], [[0; 16]; 2]);
    let apart = InOutBuf::new(&data, &mut out).expect("equal lengths");
    cipher.seal_detached(&[b"s"], apart, &mut v[0]).expect("few");
    cipher.seal_detached(&[b"s"], &mut data, &mut v[1]).expect("few");
    assert_eq!((data, v[0]), (out, v[1]));
    cipher.open_detached(&[b"s"], &mut data, &v[0]).expect("right");
    assert_eq!(data, [7; 50]);
}

/// The bytes of a value, before and after it is dropped in its place.
#[inline(never)]
fn bytes_around_drop<T>(value: T) -> [Vec<u8>; 2] {
    let mut place = Box::new(core::mem::ManuallyDrop::new(value));
    let at: *const u8 = (&raw const *place).cast();
    let read = || -> Vec<u8> {
        // SAFETY: the box holds as many bytes; a byte that is padding was written by the move.
        (0..size_of::<T>()).map(|i| unsafe { at.wrapping_add(i).read_volatile() }).collect()
    };
    let before = read();
    // SAFETY: it is dropped once, and not used again.
    unsafe { core::mem::ManuallyDrop::drop(&mut place) };
    [before, read()]
}

#[test]
fn a_dropped_key_leaves_nothing() {
    for length in [32, 48, 64] {
        let key = vec![0xa7; length];
        let cipher = DeterministicAesSiv::new(&key).expect("a good key");
        let cipher = cipher.with_context(&[b"table"]).expect("few");
        burn_stack();
        let [before, after] = bytes_around_drop(cipher);
        // A schedule may have the key's bytes in another form, but equal ones stay equal.
        let repeats =
            |bytes: &[u8]| bytes.windows(8).any(|eight| eight[0] != 0 && eight == [eight[0]; 8]);
        assert!(repeats(&before) && !repeats(&after), "{length}");
        let zeros = after.iter().filter(|&&byte| byte == 0).count();
        assert!(zeros + 40 >= after.len(), "{length}: {zeros} of {}", after.len());
    }
    assert!(size_of::<DeterministicAesSiv>() <= size_of::<Cipher>());
}

#[test]
fn a_key_takes_the_place_of_another() {
    for (isa, length) in levels().flat_map(|isa| [32, 48, 64].map(|length| (isa, length))) {
        let sealed = |cipher: &DeterministicAesSiv| {
            let mut packet = *b"................value";
            cipher.seal(&[b"row"], &mut packet).expect("room");
            packet
        };
        let (one, two) = ([1; 64], [2; 64]);
        let new = DeterministicAesSiv::with_isa(isa, &two[..length]).expect("a good key");
        let mut cipher = DeterministicAesSiv::boxed_with_isa(isa, &one[..length]).expect("a key");
        assert_ne!(sealed(&cipher), sealed(&new));
        cipher.set_context(&[b"table"]).expect("one string");
        let before = sealed(&cipher);
        let others = [0, 31, 32, 48, 64, 65].into_iter().filter(|&other| other != length);
        for other in others {
            assert_eq!(cipher.set_key(&[3; 65][..other]), Err(Error::KeyLength), "{other}");
            assert_eq!(sealed(&cipher), before, "nothing has changed");
        }
        cipher.set_key(&two[..length]).expect("as long as before");
        assert_eq!(sealed(&cipher), sealed(&new), "the fixed strings are gone, too");
    }
    assert_eq!(DeterministicAesSiv::boxed(&[0; 16]).map(|_| ()), Err(Error::KeyLength));
}
