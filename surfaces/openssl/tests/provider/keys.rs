//! RSA keys of the module: made, read, reported, compared, copied and given to the default
//! provider.

use crate::everywhere_with_rsa;
use crate::evp::Padding;

const NUMBERS: [&core::ffi::CStr; 12] = [
    c"n",
    c"e",
    c"d",
    c"rsa-factor1",
    c"rsa-factor2",
    c"rsa-exponent1",
    c"rsa-exponent2",
    c"rsa-coefficient1",
    c"bits",
    c"security-bits",
    c"max-size",
    c"rsa-factor3",
];

const PADDING: Padding<'_> =
    Padding { hash: Some("SHA256"), mode: "pss", salt: Some(-1), mask: None };

#[test]
fn to_the_default_provider_and_back() {
    everywhere_with_rsa(|context| {
        for bits in [1024, 2048, 3000] {
            let [ours, theirs] = ["lanecrypt", "default"].map(|from| context.new_key(from, bits));
            assert!(!ours.equals(&theirs) && !theirs.equals(&ours), "{bits} bits");
            for (key, from, to) in
                [(ours, "lanecrypt", "default"), (theirs, "default", "lanecrypt")]
            {
                let other = key.to(to, true);
                let public = key.to(to, false);
                let place = format!("{bits} bits, {from} to {to}");
                for name in NUMBERS {
                    assert_eq!(key.number(name), other.number(name), "{place}: {name:?}");
                    let is_private = name == c"d" || name.to_bytes().starts_with(b"rsa-");
                    assert_eq!(public.number(name).is_some(), !is_private, "{place}: {name:?}");
                }
                let text = c"default-digest";
                assert_eq!(key.text(text), other.text(text), "{place}");
                assert!(key.equals(&other) && public.equals(&key), "{place}");
                assert!(key.is_good(from) && other.is_good(to), "{place}");
                let copy = key.duplicate();
                drop(key);
                assert!(copy.equals(&other) && copy.is_good(from), "{place}");
                let made = copy.sign(from, PADDING, &[1; 32]).expect("signed");
                assert!(public.verify("default", PADDING, &[1; 32], &made), "{place}");
                assert!(public.sign(to, PADDING, &[1; 32]).is_none(), "{place}: no private key");
            }
        }
    });
}

/// Many threads use one key at the same time, which makes its form for us once.
#[test]
fn shared_by_threads() {
    everywhere_with_rsa(|context| {
        let key = context.new_key("lanecrypt", 2048);
        std::thread::scope(|scope| {
            for thread in 0..8_u8 {
                let (key, context) = (&key, context);
                scope.spawn(move || {
                    for i in 0..4 {
                        let digest = [thread ^ i << 4; 32];
                        let made = key.sign("lanecrypt", PADDING, &digest).expect("signed");
                        assert!(key.verify("default", PADDING, &digest, &made));
                    }
                    context.leave();
                });
            }
        });
    });
}
