use super::*;
use crate::glob::Glob;
use crate::machine::Machine;
use crate::scope::Scope;
use crate::statistics::Estimate;
use crate::text::number;

/// What two processors show of these points.
fn text(points: &[Point]) -> String {
    let machine = Machine { processors: 2, ..Machine::default() };
    TABLE.sheet(&Scope::of(&machine, points, random::NAME)).text()
}

/// A measured point of the table, as the sampler makes it.
fn point(of: [&str; 3], cell: &str, median: f64, whole: bool) -> Point {
    let [source, api, subject] = of;
    let (op, size) = if cell.contains("gb") { ("fill", SIZE as u64) } else { ("u32", 4) };
    let bare = Point {
        table: random::NAME.into(),
        source: source.into(),
        api: api.into(),
        subject: subject.into(),
        generator: (source == "lanecrypt").then(|| "rekeying".to_owned()),
        op: op.into(),
        size: Some(size),
        threads: Some(if cell == "16gb" { STREAMS } else { 1 }),
        phase: (op == "u32").then(|| cell.to_owned()),
        whole: Some(whole),
        verified: api != "unsynchronised",
        ..Point::default()
    };
    let id = format!("{}/{cell}", table::id(&bare));
    Point { id, ..bare }.measured(Estimate { median, low: median, high: median })
}

/// Cycles of a request of 256 bytes, if 2^24 of them take this many seconds.
fn cycles(seconds: f64) -> f64 {
    seconds * 1e9 * crate::clock::ghz() / crate::clock::as_f64(REQUESTS)
}

#[test]
fn the_messages_factors_follow_from_its_seconds() {
    for line in &DOCUMENT {
        let [one, four] = line.seconds;
        // Cut off, not rounded: 42.58 / 398.83 is 0.10676, and the message has 0.106.
        let digits = (factor(one, four) * 1000.0).floor();
        assert_eq!(format!("{:.3}", digits / 1000.0), line.factor, "{}", line.name);
    }
    assert_eq!(factor(10.0, 20.0), 0.5);
    assert_eq!(normalised(10.0, 20.0, 2), 1.0);
    assert_eq!(normalised(10.0, 20.0, 64), 0.5);
    assert_eq!(normalised(10.0, 40.0, 1), 1.0);
}

#[test]
fn the_text_has_the_messages_columns_and_figures_beside_ours() {
    let mtx = ["lanecrypt", "shared", "arc4"];
    let nomtx = ["lanecrypt", "unsynchronised", "arc4"];
    let peer = ["kernel", "getrandom", "chacha20"];
    let mut points = document();
    points.extend([
        point(mtx, "initial", 30.0, true),
        point(mtx, "rekeyed", 32.0, true),
        point(mtx, "4gb", cycles(4.0), false),
        point(mtx, "16gb", cycles(16.0), true),
        point(nomtx, "initial", 20.0, true),
        point(peer, "initial", 940.0, false),
        point(peer, "4gb", cycles(12.0), false),
    ]);
    finish(&mut points);
    let text = text(&points);
    let line = |start: &str| {
        let line = text.lines().find(|line| line.starts_with(start));
        line.expect("the line is there").split_whitespace().collect::<Vec<_>>()
    };
    for column in ["cpb (32 bit)", "4GB (1 way)", "16GB (4 ways)", "Scaling Factor", "of proc."] {
        assert!(text.contains(column), "{text}");
    }
    assert_eq!(line("arc4-mtx "), ["arc4-mtx", "7.50", "8.00", "~4.00", "16.00", "0.250", "0.500"]);
    assert_eq!(line("arc4-nomtx "), ["arc4-nomtx", "5.00?", "-", "-", "-", "-", "-"]);
    assert_eq!(
        line("kernel getrandom")[2..],
        [&format!("~{}", number(235.0)), "-", "~12.00", "-", "-", "-"]
    );
    let beside = text.split("The message's figures").nth(1).expect("it is there");
    assert!(beside.contains("398.83") && beside.contains("2338.92"), "{text}");
    assert!(beside.contains("0.106 0.250"), "{text}");
    assert!(!text.contains("Memory bandwidth"), "nothing was measured: {text}");
    assert!(self::text(&document()).is_empty(), "nothing was measured");
}

#[test]
fn repeated_words_and_bandwidth_stand_under_the_table() {
    let repeats = |api: &str, repeats| Point {
        repeats: Some(repeats),
        threads: Some(2),
        ..point(["lanecrypt", api, "arc4"], "initial", 1.0, true)
    };
    let mut points = vec![repeats("unsynchronised", 1234), repeats("shared", 0)];
    for p in &mut points {
        p.whole = None;
    }
    let text = text(&points);
    assert!(text.contains("among 2097152 words of 2 threads"), "{text}");
    assert!(text.contains("arc4-nomtx 1234, arc4-mtx 0"), "{text}");
}

#[test]
fn full_runs_make_the_whole_and_others_do_not() {
    let requests = |depth| {
        let rows = rows(&[], depth);
        let streams = rows.iter().filter(|row| row.point.op == "fill");
        streams.filter_map(|row| row.batches.test).map(|test| test.longest).collect::<Vec<_>>()
    };
    assert!(requests(Depth::Full).iter().all(|longest| longest.as_secs() >= 60));
    assert!(requests(Depth::Normal).iter().all(Duration::is_zero));
    let rows = rows(&[], Depth::Normal);
    let count = |glob| rows.iter().filter(|row| Glob::new(glob).matches(&row.point.id)).count();
    assert_eq!(count("*/single/*/4gb"), 2);
    assert_eq!(count("*/single/*/16gb"), 0);
    assert_eq!(count("*/arc4/rekeying/fill/256/t4/16gb"), 4);
    assert!(rows.iter().all(|row| row.faulty == (row.point.api == "unsynchronised")));
}
