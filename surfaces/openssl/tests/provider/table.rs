//! Names and properties.

use crate::{NAMES, everywhere};

#[test]
fn every_name_is_known() {
    everywhere(|context| {
        for name in NAMES.iter().copied().flatten() {
            for name in [*name, &name.to_lowercase(), &name.to_uppercase()] {
                assert!(context.fetch(name, "default").is_some(), "{name}");
                assert!(context.fetch(name, "lanecrypt").is_some(), "{name}");
            }
        }
        assert!(context.fetch("AES-128-CCM", "lanecrypt").is_none());
        assert!(context.fetch("AES-128-ECB", "lanecrypt").is_none());
    });
}

#[test]
fn properties_are_those_of_the_default_provider() {
    everywhere(|context| {
        for names in NAMES {
            let [ours, theirs] = context.both(names[0]);
            for property in [
                c"mode",
                c"keylen",
                c"ivlen",
                c"blocksize",
                c"aead",
                c"custom-iv",
                c"cts",
                c"tls-multi",
                c"has-randkey",
            ] {
                let expected = theirs.number(property);
                assert!(expected.is_some(), "{property:?}");
                assert_eq!(ours.number(property), expected, "{} {property:?}", names[0]);
            }
        }
    });
}

#[test]
fn contexts_answer_as_those_of_the_default_provider() {
    everywhere(|context| {
        for names in NAMES {
            let [ours, theirs] = context.both(names[0]);
            let (mut ours, mut theirs) = (ours.context(), theirs.context());
            let (key, iv) = ((0..64).collect::<Vec<u8>>(), [7; 16]);
            for set in [false, true] {
                let iv = set.then_some(&iv[..]);
                let key = set.then_some(&key[..]);
                assert!(ours.init(true, key, iv) && theirs.init(true, key, iv));
                for property in [
                    c"keylen",
                    c"ivlen",
                    c"taglen",
                    c"padding",
                    c"num",
                    c"tlsaadpad",
                    c"mode",
                    c"unheard-of",
                ] {
                    for size in [4, 8] {
                        let expected = theirs.number(property, size);
                        let place = format!("{} {property:?} {size} {set}", names[0]);
                        assert_eq!(ours.number(property, size), expected, "{place}");
                    }
                }
            }
            for property in [c"iv", c"updated-iv", c"tag"] {
                // Before the end of a message, ours tells no tag. OpenSSL's tells zeros.
                if names[0].starts_with("ChaCha") && property == c"tag" {
                    continue;
                }
                for size in [0, 4, 12, 16, 20] {
                    let expected = theirs.octets(property, size);
                    let place = format!("{} {property:?} {size}", names[0]);
                    assert_eq!(ours.octets(property, size), expected, "{place}");
                }
            }
        }
    });
}

#[test]
fn the_provider_counts() {
    everywhere(|context| {
        let [ours, _] = context.both("AES-128-GCM");
        let before =
            [c"lanecrypt-contexts", c"lanecrypt-messages"].map(|name| context.counter(name));
        let mut keyed = ours.context();
        for _ in 0..300 {
            assert!(keyed.init(true, Some(&[1; 16]), Some(&[2; 12])));
            assert!(keyed.update(b"message").is_some() && keyed.end().is_some());
        }
        drop(keyed);
        let after =
            [c"lanecrypt-contexts", c"lanecrypt-messages"].map(|name| context.counter(name));
        // Other tests run at the same time.
        assert!(after[0] > before[0] && after[1] >= before[1] + 300, "{before:?} {after:?}");
    });
}
