//! Descriptions of cards and hosts: those that are built in are good, and nonsense is refused with
//! its line and field, never with a panic.

use lanecrypt_accelerators::model::{Card, FileError, Host, Work};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

const GOOD: &str = include_str!("../../models/broadcom-5820.toml");
const GOOD_HOST: &str = include_str!("../../models/host-2003.toml");

#[test]
fn those_that_are_built_in_are_good() {
    for name in Card::BUILT_IN {
        let card = Card::built_in(name).expect("it is listed");
        assert_eq!(card.name(), name);
        assert!(!card.source().is_empty());
        assert!(card.algorithms().count() + card.rsa_bits().count() > 0);
    }
    for name in Host::BUILT_IN {
        let host = Host::built_in(name).expect("it is listed");
        assert_eq!(host.name(), name);
        assert!(!host.source().is_empty());
    }
    assert!(Card::built_in("nosuch").is_none() && Host::built_in("nosuch").is_none());
    assert!(GOOD.parse::<Card>().is_ok() && GOOD_HOST.parse::<Host>().is_ok());
}

fn refused(text: &str) -> FileError {
    text.parse::<Card>().expect_err("it must be refused")
}

/// The error of the good file where one text stands in another's place.
#[track_caller]
fn changed(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    let line = 1 + GOOD.split(from).next().map_or(0, |before| before.matches('\n').count());
    let error = refused(&GOOD.replace(from, to));
    let text = error.to_string();
    assert_eq!(text, format!("line {}: {}: {}", error.line, error.field, error.reason));
    let said = text.strip_prefix(&format!("line {line}: "));
    said.unwrap_or_else(|| panic!("{text}: not in line {line}")).to_owned()
}

#[test]
fn figures_are_in_their_ranges() {
    let bus = |value| changed("bytes_per_second = 200e6", &format!("bytes_per_second = {value}"));
    let named = |value| format!("bus.bytes_per_second: must be from 1 to 1e15, is {value}");
    for value in ["-200e6", "0", "-1", "0.0", "nan", "inf", "-inf", "1e16", "1e308", "9e999"] {
        assert_eq!(bus(value), named(value));
    }
    // Longer than any integer.
    let long = "9".repeat(400);
    let error = bus(&long);
    assert!(error.starts_with("bus.bytes_per_second: must be from") && error.len() < 120);

    let engines = |value| changed("engines = 1\n", &format!("engines = {value}\n"));
    for value in ["0", "4097", "99999999999999999999999"] {
        assert_eq!(engines(value), format!("engines: must be from 1 to 4096, is {value}"));
    }
    assert_eq!(engines("1.5"), "engines: must be a whole number, is 1.5");
    assert_eq!(engines("-1"), "engines: must be from 1 to 4096, is -1");
    assert_eq!(engines("\"two\""), "engines: must be a whole number, is \"two\"");
    assert_eq!(
        changed("queue_depth = 64", "queue_depth = 0"),
        "queue_depth: must be from 1 to 1000000, is 0"
    );
    assert_eq!(
        changed("transaction_ns = 1500", "transaction_ns = -1"),
        "request.transaction_ns: must be from 0 to 3.6e12, is -1"
    );
    assert_eq!(
        changed("crt_per_second = 800", "crt_per_second = 0"),
        "rsa.1024.crt_per_second: must be from 0.0000001 to 1e15, is 0"
    );
    assert_eq!(changed("units = 2", "units = 0"), "rsa.1024.units: must be from 1 to 4096, is 0");
}

#[test]
fn names_are_known() {
    assert_eq!(changed("[cipher.3des-cbc]", "[cipher.rot13]"), "cipher.rot13: unknown algorithm");
    assert_eq!(changed("[rsa.1024]", "[rsa.100]"), "rsa.100: must be from 512 to 16384 bits");
    assert_eq!(changed("[rsa.1024]", "[rsa.many]"), "rsa.many: must be from 512 to 16384 bits");
    assert_eq!(changed("driver_ns = 0", "driver = 0\ndriver_ns = 0"), "request.driver: unknown");
}

#[test]
fn nothing_is_missing() {
    let bus = GOOD.lines().position(|line| line == "[bus]").expect("it has one") + 1;
    let without = |line: &str| {
        assert_eq!(GOOD.matches(line).count(), 1, "{line}");
        refused(&GOOD.replace(line, "")).to_string()
    };
    // The lines before the field are as they were, so its table is where it was.
    assert_eq!(
        without("bytes_per_second = 200e6"),
        format!("line {bus}: bus.bytes_per_second: missing")
    );
    assert_eq!(without("engines = 1\n"), "line 1: engines: missing");
    assert_eq!(without("kind = \"card\"\n"), "line 1: kind: missing");
    let source =
        GOOD.lines().find(|line| line.starts_with("source = \"ubsec")).expect("it has one");
    assert_eq!(without(source), format!("line {bus}: bus.source: missing"));
    assert_eq!(refused("").to_string(), "line 1: kind: missing");
    let head = GOOD.split("[cipher").next().expect("the first part");
    assert_eq!(
        refused(head).to_string(),
        "line 1: cipher: missing, and rsa too: the card serves nothing"
    );
}

#[test]
fn what_contradicts_itself_is_refused() {
    let own = GOOD.to_owned() + "[cipher.des-cbc]\nsource = 'none'\nbytes_per_second = 1\n";
    assert_eq!(refused(&own).to_string(), "line 1: des_on_3des: DES has figures of its own");
    let none = GOOD.replace("[cipher.3des-cbc]", "[cipher.aes-128-cbc]");
    assert_eq!(refused(&none).to_string(), "line 1: des_on_3des: there is no engine of 3DES");
    assert_eq!(refused(GOOD_HOST).to_string(), "line 1: kind: must be \"card\", is \"host\"");
    let host = GOOD.parse::<Host>().expect_err("it describes a card");
    assert_eq!(host.to_string(), "line 1: kind: must be \"host\", is \"card\"");
    let name = GOOD.replace("\"broadcom-5820\"", "\"Broadcom 5820\"");
    let said = "line 1: name: must be lower case without spaces, 64 bytes at most";
    assert_eq!(refused(&name).to_string(), said);
}

#[test]
fn what_is_not_toml_has_a_line_too() {
    let error = refused(&GOOD.replace("[bus]", "[bus"));
    let bus = GOOD.lines().position(|line| line == "[bus]").expect("it has one") + 1;
    assert_eq!((error.line, error.field.as_str()), (bus, ""));
    assert!(!error.reason.is_empty() && !error.reason.contains('\n'), "{error}");
    let twice = refused(&(GOOD.to_owned() + "[bus]\n"));
    assert_eq!(twice.line, GOOD.matches('\n').count() + 1, "{twice}");
}

/// Files with random changes are refused or describe a card whose times are numbers.
#[test]
fn no_file_makes_it_panic() {
    let mut numbers = Random(5);
    let host = GOOD_HOST.parse::<Host>().expect("it is good");
    let (mut good, mut bad) = (0, 0);
    for _ in 0..4000 {
        let mut text = GOOD.as_bytes().to_vec();
        for _ in 0..1 + numbers.below(4) {
            let at = numbers.below(text.len());
            match numbers.below(4) {
                0 => text[at] = b"-+.e0915[]=\"'\n#_ n"[numbers.below(18)],
                1 => drop(text.remove(at)),
                2 => text.insert(at, b"0123456789e-"[numbers.below(12)]),
                _ => drop(text.splice(at..at, numbers.bytes(2)).count()),
            }
        }
        let Ok(card) = String::from_utf8_lossy(&text).parse::<Card>() else {
            bad += 1;
            continue;
        };
        good += 1;
        for algorithm in card.algorithms() {
            for depth in [0, 1, 128] {
                let ns = card.nanoseconds(&host, Work::new(algorithm, 1000), depth);
                assert!(ns.is_some_and(|ns| ns.is_finite() && ns > 0.0));
            }
        }
        for bits in card.rsa_bits() {
            let ns = card.nanoseconds(&host, Work::rsa(bits), 3);
            assert!(ns.is_none_or(|ns| ns.is_finite() && ns > 0.0));
        }
    }
    assert!(good > 100 && bad > 100, "{good} good, {bad} refused");
}
