//! What was found, in words, computed from the charts.

use crate::chart::{Chart, Line};
use crate::number;

/// How ours stands beside the best peer of a chart.
pub(crate) struct Finding {
    /// How many times better ours is than the best peer, in the median of the places that both
    /// have.
    pub(crate) median: f64,
    /// The sentence. Where a peer wins, that comes first.
    pub(crate) text: String,
}

/// The finding of a chart; none without ours or without a peer.
pub(crate) fn of(chart: &Chart) -> Option<Finding> {
    let ours = chart.lines.iter().find(|line| line.source == "lanecrypt")?;
    let peers: Vec<&Line> = chart
        .lines
        .iter()
        .filter(|line| !["lanecrypt", "document"].contains(&&*line.source))
        .collect();
    let mut places = Vec::new();
    for mark in &ours.marks {
        let best = peers
            .iter()
            .filter_map(|line| {
                let there = line.marks.iter().find(|other| other.at.total_cmp(&mark.at).is_eq())?;
                Some((line.label.as_str(), there.figure))
            })
            .min_by(|a, b| {
                let order = a.1.total_cmp(&b.1);
                if chart.measure.grows() { order.reverse() } else { order }
            });
        let Some((peer, figure)) = best else { continue };
        let times = match chart.measure.grows() {
            true => mark.figure / figure,
            false => figure / mark.figure,
        };
        places.push(Place { at: mark.at, times, ours: mark.figure, theirs: figure, peer });
    }
    let mut sorted: Vec<f64> = places.iter().map(|place| place.times).collect();
    sorted.sort_by(f64::total_cmp);
    let median = *sorted.get(sorted.len() / 2)?;
    let text = sentence(chart, &places, median);
    Some(Finding { median, text })
}

/// Ours beside the best peer at one place.
struct Place<'c> {
    at: f64,
    times: f64,
    ours: f64,
    theirs: f64,
    peer: &'c str,
}

/// Within this, neither is said to win.
const EVEN: f64 = 1.02;

fn sentence(chart: &Chart, places: &[Place<'_>], median: f64) -> String {
    let at = |place: &Place<'_>| format!("{} {}", number::place(place.at), chart.over.unit());
    let worst = places.iter().min_by(|a, b| a.times.total_cmp(&b.times));
    let best = places.iter().max_by(|a, b| a.times.total_cmp(&b.times));
    let lost = places.iter().filter(|place| place.times < 1.0 / EVEN).count();
    let won = places.iter().filter(|place| place.times > EVEN).count();
    let mut text = String::new();
    if let (true, Some(worst)) = (lost > 0, worst) {
        text += &format!(
            "A peer is better at {lost} of {} places, most at {}: {} {} against our {}. ",
            places.len(),
            at(worst),
            worst.peer,
            number::figure(worst.theirs),
            number::figure(worst.ours)
        );
    }
    if let (true, Some(best)) = (won > 0, best) {
        text += &format!(
            "Ours is better at {won} of {}; {median:.2} times in the median, most at {}: {} against \
             {} of {}.",
            places.len(),
            at(best),
            number::figure(best.ours),
            number::figure(best.theirs),
            best.peer
        );
    } else if lost == 0 {
        text += "Ours and the best peer are even.";
    }
    text.trim_end().to_owned()
}

/// How many times cheaper 32 random bytes are than one system call for them, if both were measured.
pub(crate) fn random_key(charts: &[Chart]) -> Option<String> {
    let chart = charts.iter().find(|chart| chart.table == "random")?;
    let at = |source: &str| {
        let line = chart.lines.iter().find(|line| line.source == source)?;
        line.marks.iter().find(|mark| mark.at.total_cmp(&32.0).is_eq()).map(|mark| mark.figure)
    };
    let (ours, kernel) = (at("lanecrypt")?, at("kernel")?);
    Some(format!(
        "A random key of 32 bytes costs {} cycles here, {:.0} times less than the system's generator ({}).",
        number::figure(ours),
        kernel / ours,
        number::figure(kernel)
    ))
}
