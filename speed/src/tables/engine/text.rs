//! The table as text.

use lanecrypt_accelerators::model::{Card, Host, Work};
use lanecrypt_ciphers::Algorithm;

use super::document::BAR;
use super::{SUBJECTS, latency, op};
use crate::results::Point;
use crate::tables::grid::{mark, sizes};
use crate::text;

/// The layers in their order.
const LAYERS: [&str; 5] = ["session", "process", "local-queue", "worker-queue", "ring"];

/// The table as text.
pub(super) fn text(points: &[Point]) -> String {
    let all: Vec<&Point> = points.iter().filter(|p| p.table == super::NAME).collect();
    let (latencies, rest): (Vec<&Point>, Vec<&Point>) =
        all.into_iter().partition(|p| p.id.ends_with(latency::SUFFIX));
    let mut out = String::new();
    for (subject, op) in subjects() {
        let of: Vec<&Point> =
            rest.iter().copied().filter(|p| p.subject == subject && p.op == op).collect();
        out += &layers(&of, &subject, op);
    }
    out += &clients(&rest);
    out += &figure(&rest);
    out += &in_flight(&latencies);
    if !out.is_empty() {
        out += LEGEND;
    }
    out
}

const LEGEND: &str = "\
To read: medians; cycles of the time-stamp counter; less is faster. ?: not verified. in flight:
requests of each client that are handed over and not yet taken back. Each client is one thread and
has 64 sessions with their own keys and buffers. session: a loop over calls. process: a slice of
requests, built and passed to the engine. local-queue: served on the client's thread. worker-queue:
served by a worker on another processor, while the client polls. machine ring: numbers through two
bare rings to a thread on another processor and back, the floor of a worker. Latency is from
submission to taking the completion; reading the clock twice for each request is in these figures.
Would a card help? lanecrypt speed engine --model FILE
";

/// Subjects and operations in their order.
fn subjects() -> impl Iterator<Item = (String, &'static str)> {
    let ciphers = SUBJECTS.map(|(algorithm, dir)| (algorithm.to_string(), op(algorithm, dir)));
    [("null".to_owned(), "process")].into_iter().chain(ciphers)
}

/// The name of a line, if it is one client's.
fn layer(point: &Point) -> Option<(usize, u32)> {
    let at = LAYERS.iter().position(|layer| *layer == point.api)?;
    Some((at, point.depth?))
}

/// One client: a line for each layer and depth, with cycles, megabits and requests by size.
fn layers(points: &[&Point], subject: &str, op: &str) -> String {
    let of: Vec<&Point> = points.iter().copied().filter(|p| is_of_clients(p, 1)).collect();
    let mut lines: Vec<(usize, u32)> = of.iter().filter_map(|p| layer(p)).collect();
    lines.sort_unstable();
    lines.dedup();
    if lines.is_empty() {
        return String::new();
    }
    let sizes = sizes(&of);
    let driver = of.iter().find_map(|p| p.driver.as_deref()).unwrap_or("software");
    let mut header = vec![String::new(), "in flight".to_owned()];
    for unit in ["", " Mbit/s", " M/s"] {
        header.extend(sizes.iter().map(|&size| text::size(size) + unit));
    }
    let rows = lines.into_iter().map(|line| {
        let at = |size: u64| {
            of.iter()
                .copied()
                .find(|p| layer(p) == Some(line) && (p.size == Some(size) || p.source == "machine"))
        };
        let name = match at(0) {
            Some(_) => format!("machine {}", LAYERS[line.0]),
            None => LAYERS[line.0].to_owned(),
        };
        let mut row = vec![name, line.1.to_string()];
        let cell = |size, value: fn(&Point) -> Option<f64>| {
            let of = |p: &Point| value(p).map(|value| text::number(value) + mark(p, None));
            at(size).and_then(of).unwrap_or_else(|| "-".to_owned())
        };
        row.extend(sizes.iter().map(|&size| cell(size, |p| p.cycles)));
        row.extend(sizes.iter().map(|&size| cell(size, megabits)));
        let millions = |p: &Point| Some(p.per_second? / 1e6);
        row.extend(sizes.iter().map(|&size| cell(size, millions)));
        row
    });
    let sides = format!("lr{}", "r".repeat(3 * sizes.len()));
    let table = text::table(&header, &sides, rows.collect());
    format!(
        "{subject} {op}, driver {driver}: cycles, megabits and requests per second by size in \
         bytes, one client\n{table}\n"
    )
}

/// Two clients: the requests of both in a second, divided by those of one.
fn clients(points: &[&Point]) -> String {
    let two = points.iter().copied().filter(|p| is_of_clients(p, 2));
    let rows = two.filter_map(|two| {
        let same = |p: &&&Point| {
            is_of_clients(p, 1)
                && (&p.api, &p.subject, &p.op, p.size, p.depth)
                    == (&two.api, &two.subject, &two.op, two.size, two.depth)
        };
        let one = points.iter().find(same)?;
        Some(vec![
            format!("{} {}", two.subject, two.op),
            two.api.clone(),
            two.depth?.to_string(),
            text::size(two.size?),
            text::number(one.per_second? / 1e6) + mark(one, None),
            text::number(two.per_second? / 1e6) + mark(two, None),
            text::times(two.per_second? / one.per_second?),
        ])
    });
    let header = ["", "", "in flight", "bytes", "one client M/s", "two clients M/s", "ratio"];
    let title = "One and two clients on two processors: requests of all clients per second";
    text::titled(title, &header, "llrrrrr", rows)
}

/// The study's Figure 1: one client that waits for each request. Its cards are computed from their
/// descriptions, because the study's text has no figures of them.
fn figure(points: &[&Point]) -> String {
    let of_study: Vec<&Point> = points.iter().copied().filter(|p| p.source == "document").collect();
    if of_study.is_empty() {
        return String::new();
    }
    let sizes: Vec<u64> = [64].into_iter().chain(sizes(&of_study)).collect();
    let mut rows = Vec::new();
    let mut push = |name: String, rate: &dyn Fn(u64) -> Option<String>| {
        let cells: Vec<String> =
            sizes.iter().map(|&size| rate(size).unwrap_or_else(|| "-".to_owned())).collect();
        if cells.iter().any(|cell| cell != "-") {
            rows.push([name].into_iter().chain(cells).collect::<Vec<_>>());
        }
    };
    let measured = |source: &'static str, api: &'static str, subject: String, op: &'static str| {
        move |size: u64| {
            let is_it = |p: &&&Point| {
                (&*p.source, &*p.api, &*p.subject, &*p.op) == (source, api, &*subject, op)
                    && is_of_clients(p, 1)
                    && (p.size, p.depth) == (Some(size), Some(1))
            };
            let point = points.iter().find(is_it)?;
            Some(text::number(megabits(point)?) + mark(point, None))
        }
    };
    push(format!("study: {BAR}"), &measured("document", "dev-crypto", "null".into(), "process"));
    for (card, algorithm) in CARDS {
        push(format!("model: {card} {algorithm}"), &|size| modelled(card, algorithm, size));
    }
    for api in &LAYERS[..4] {
        for (subject, op) in subjects() {
            push(format!("{api}: {subject} {op}"), &measured("lanecrypt", api, subject, op));
        }
    }
    let table = text::numbers(sizes.iter().map(|&size| text::size(size)), rows);
    format!(
        "As in the study's Figure 1: megabits per second by size in bytes, one client that waits \
         for each request\n{table}{FIGURE}\n"
    )
}

/// Cards of the study that have a description, with their algorithms.
pub(crate) const CARDS: [(&str, Algorithm); 4] = [
    ("broadcom-5820", Algorithm::DES_CBC),
    ("broadcom-5820", Algorithm::TRIPLE_DES_CBC),
    ("hifn-7751", Algorithm::DES_CBC),
    ("hifn-7751", Algorithm::TRIPLE_DES_CBC),
];

/// The rate of a described card in a host of 2003.
pub(crate) fn modelled(card: &str, algorithm: Algorithm, size: u64) -> Option<String> {
    let (card, host) = (Card::built_in(card)?, Host::built_in("host-2003")?);
    let ns = card.nanoseconds(&host, Work::new(algorithm, usize::try_from(size).ok()?), 1)?;
    Some(text::number(size as f64 * 8e3 / ns))
}

const FIGURE: &str = "\
study: its text gives these two figures. Of 64 bytes it says that KERNEL-DES is close to KERNEL-NULL,
and KERNEL-3DES half of it; that cards lose with small requests and win with large ones; that the
5805 and 5820 take the same for DES and 3DES, and the 7751 and 7811 do not.
model: computed from descriptions of cards, in a host of 2003; nothing was measured.
";

/// Latency and throughput by requests in flight.
fn in_flight(points: &[&Point]) -> String {
    let mut out = String::new();
    let mut done: Vec<(&str, &str)> = Vec::new();
    for point in points {
        let key = (point.subject.as_str(), point.api.as_str());
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let of = points.iter().filter(|p| (p.subject.as_str(), p.api.as_str()) == key);
        let rows = of.map(|p| {
            let millions = p.per_second.map(|n| n / 1e6);
            let figures =
                [p.p50_ns, p.p99_ns, p.p999_ns, millions, megabits(p)].map(text::optional);
            [p.depth.unwrap_or(0).to_string()].into_iter().chain(figures).collect()
        });
        let header = ["in flight", "p50 ns", "p99 ns", "p99.9 ns", "M/s", "Mbit/s"];
        let title = format!(
            "{} {}, {} bytes through {}: latency and throughput by requests in flight",
            point.subject,
            point.op,
            point.size.unwrap_or(0),
            point.api
        );
        out += &text::titled(&title, &header, "rrrrrr", rows);
    }
    out
}

fn is_of_clients(point: &Point, clients: u32) -> bool {
    point.threads == Some(clients)
}

/// Megabits (10^6 bits) of all threads or processes in a second.
pub(crate) fn megabits(point: &Point) -> Option<f64> {
    Some(point.megabytes_per_second()? * 8.0)
}
