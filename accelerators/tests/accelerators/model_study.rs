//! What the study of the OpenBSD cryptographic framework (USENIX 2003) observed comes out of the
//! cards and the host of that time: `accelerators/models` says which of their figures are fitted to
//! it. No time passes here.

use lanecrypt_accelerators::model::{Card, Figure, Host, Work, break_even};
use lanecrypt_engine::Algorithm;

const DES: Algorithm = Algorithm::DES_CBC;
const TRIPLE_DES: Algorithm = Algorithm::TRIPLE_DES_CBC;

fn card(name: &str) -> Card {
    Card::built_in(name).expect("it is built in")
}

fn host() -> Host {
    Host::built_in("host-2003").expect("it is built in")
}

/// Megabits per second of one blocked thread.
fn megabits(nanoseconds: f64, bytes: usize) -> f64 {
    bytes as f64 * 8e3 / nanoseconds
}

fn of_card(card: &Card, algorithm: Algorithm, bytes: usize, depth: usize) -> f64 {
    let work = Work::new(algorithm, bytes);
    megabits(card.nanoseconds(&host(), work, depth).expect("it is served"), bytes)
}

fn of_software(algorithm: Algorithm, bytes: usize) -> f64 {
    megabits(host().software(Work::new(algorithm, bytes), 1).expect("it has figures"), bytes)
}

fn of_null(bytes: usize) -> f64 {
    megabits(host().null(bytes, 1), bytes)
}

/// The study's figures of the null algorithm, to which the host is fitted.
#[test]
fn the_null_algorithm_reaches_what_was_measured() {
    assert!((415.0..425.0).contains(&of_null(1024)), "{}", of_null(1024));
    assert!((590.0..610.0).contains(&of_null(8192)), "{}", of_null(8192));
    // "The ceiling of the throughput is surprisingly low for small-size operations (64 bytes)."
    assert!(of_null(64) < 100.0);
}

/// "The performance of DES done in software is close to that of no encryption for small packet
/// sizes; even 3DES performance is just half"; with large buffers it "degrades rapidly".
#[test]
fn software_is_close_to_none_for_small_requests_only() {
    let part = |algorithm, bytes| of_software(algorithm, bytes) / of_null(bytes);
    assert!((0.7..1.0).contains(&part(DES, 64)), "{}", part(DES, 64));
    assert!((0.45..0.55).contains(&part(TRIPLE_DES, 64)), "{}", part(TRIPLE_DES, 64));
    assert!(part(DES, 8192) < 0.3 && part(TRIPLE_DES, 8192) < 0.15);
}

/// "For small buffers, the performance degrades with respect to the software case […] as we move to
/// larger buffer sizes, performance quickly improves"; and "not all such cards are equal".
#[test]
fn cards_lose_with_small_buffers_and_win_with_large_ones() {
    let fast = card("broadcom-5820");
    for algorithm in [DES, TRIPLE_DES] {
        assert!(of_card(&fast, algorithm, 64, 1) < of_software(algorithm, 64));
        assert!(of_card(&fast, algorithm, 8192, 1) > of_software(algorithm, 8192));
        assert!(of_card(&fast, algorithm, 1024, 1) > 4.0 * of_card(&fast, algorithm, 64, 1));
    }
    let slow = card("hifn-7751");
    assert!(of_card(&slow, DES, 64, 1) < of_software(DES, 64));
    assert!(of_card(&slow, TRIPLE_DES, 8192, 1) < of_card(&fast, TRIPLE_DES, 8192, 1));
    // A card that does less than the software in each byte never wins with one request at a time.
    let even = |card: &Card, algorithm| {
        let software = |bytes| host().software(Work::new(algorithm, bytes), 1);
        break_even(card, &host(), algorithm, 1, software).expect("both have it")
    };
    let (wins, never) = (even(&fast, TRIPLE_DES), even(&slow, DES));
    assert!(wins.from.is_some_and(|bytes| (64..1024).contains(&bytes)), "{wins:?}");
    assert_eq!((wins.until, &wins.decides[..]), (None, &[Figure::FixedCost][..]));
    assert_eq!((never.from, &never.decides[..]), (None, &[Figure::Engine][..]));
}

/// "More processes using the OCF result in increased aggregate throughput."
#[test]
fn many_in_flight_are_faster_than_one() {
    for name in ["broadcom-5820", "hifn-7751"] {
        for bytes in [64, 1024, 8192] {
            let card = card(name);
            let (one, many) =
                (of_card(&card, TRIPLE_DES, bytes, 1), of_card(&card, TRIPLE_DES, bytes, 32));
            assert!(many > 1.2 * one, "{name}, {bytes}: {one}, {many}");
        }
    }
    let (one, many) = (megabits(host().null(64, 1), 64), megabits(host().null(64, 32), 64));
    assert!(many > 2.0 * one, "{one}, {many}");
}

/// "The performance of DES and 3DES is the same in each of the 5805 and 5820 cards […] the 7751
/// seems to implement two separate crypto engines."
#[test]
fn des_costs_what_3des_costs_on_one_card_and_not_on_the_other() {
    for bytes in [64, 1024, 8192] {
        let same = card("broadcom-5820");
        assert_eq!(of_card(&same, DES, bytes, 1), of_card(&same, TRIPLE_DES, bytes, 1));
        let other = card("hifn-7751");
        assert!(of_card(&other, DES, bytes, 1) > of_card(&other, TRIPLE_DES, bytes, 1));
    }
    let other = card("hifn-7751");
    assert!(of_card(&other, DES, 8192, 1) > 1.2 * of_card(&other, TRIPLE_DES, 8192, 1));
}

/// "Broadcom claims that the 5820 can perform 800 RSA signature operations per second with 1024-bit
/// keys. In our case, we only see slightly over 100": one blocked thread, and no CRT. It takes both
/// to explain it: many in flight without CRT reach 200.
#[test]
fn one_blocked_thread_gets_a_hundred_of_eight_hundred_signatures() {
    let card = card("broadcom-5820");
    let per_second = |work, depth| {
        1e9 / card.nanoseconds(&host(), work, depth).expect("it has an engine for RSA")
    };
    let (plain, crt) = (Work::rsa(1024), Work::rsa_crt(1024));
    let blocked = per_second(plain, 1);
    assert!((90.0..110.0).contains(&blocked), "{blocked}");
    let vendor = per_second(crt, 32);
    assert!((760.0..=800.0).contains(&vendor), "{vendor}");
    let (only_many, only_crt) = (per_second(plain, 32), per_second(crt, 1));
    assert!((180.0..=200.0).contains(&only_many), "{only_many}");
    assert!((350.0..=400.0).contains(&only_crt), "{only_crt}");
}

/// "The Hifn 6500 and 7814 are geared more towards slower, embedded applications", and "the RSA
/// sign throughput is higher in the software case" than on the 5820.
#[test]
fn software_signs_faster() {
    let software = host().software(Work::rsa(1024), 1).expect("it has a figure");
    for name in ["broadcom-5820", "hifn-6500"] {
        let alone = card(name).nanoseconds(&host(), Work::rsa(1024), 1).expect("it has RSA");
        assert!(alone > software, "{name}");
    }
    let slow = card("hifn-6500").nanoseconds(&host(), Work::rsa(1024), 128).expect("it has RSA");
    assert!(slow > 2.0 * software, "considerably worse, and not by waiting");
}

/// A device of today: a lone request never pays, and of many only large ones do, if at all.
#[test]
fn a_device_of_today_helps_many_in_flight() {
    let (card, host) = (card("intel-qat-gen4"), Host::built_in("host-2026").expect("built in"));
    // Its source: 12 GB/s with 4 KiB.
    let ns = card.nanoseconds(&host, Work::new(Algorithm::AES_128_XTS, 4096), 1024);
    let rate = 4096.0 / ns.expect("it is served");
    assert!((10.0..12.0).contains(&rate), "{rate} GB/s");
    // 65 901 signatures a second with 72 in flight, 2310 by one blocked thread.
    let rsa = |depth| 1e9 / card.nanoseconds(&host, Work::rsa_crt(2048), depth).expect("RSA");
    assert!((2200.0..2400.0).contains(&rsa(1)), "{}", rsa(1));
    assert!(rsa(72) > 50_000.0, "{}", rsa(72));
}
