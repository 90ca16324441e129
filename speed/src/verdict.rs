//! The outcome of the usual requests in one sentence.

use crate::figure::{quickest, ratio};
use crate::scope::Scope;
use crate::view::Screen;

/// Usual requests, by how ours compares with the best peer.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    first: usize,
    level: usize,
    /// Those in which a peer is certainly faster, each with its time divided by ours.
    behind: Vec<String>,
}

impl Verdict {
    /// Counts the lines of these screens that have peers.
    pub(crate) fn add(&mut self, screens: &[Screen], scope: &Scope<'_>) {
        for screen in screens {
            for (at, line) in screen.lines.iter().enumerate().filter(|(_, line)| line.is_compared) {
                let Some((ours, peers)) = screen.compared(line, scope) else { continue };
                let Some(peer) = quickest(peers.into_iter()) else { continue };
                // Beside another cipher, only the one that programs get by default is counted.
                let is_again = screen.lines[..at].iter().any(|other| other.what == line.what);
                if is_again && peer.subject != ours.subject {
                    continue;
                }
                let estimates = ours.estimate().zip(peer.estimate()).filter(|_| ours.verified);
                match estimates {
                    None => (),
                    Some((a, b)) if a.is_below(&b) => self.first += 1,
                    Some((a, b)) if b.is_below(&a) => {
                        let place = screen.title.split_once(": ").map_or("", |(place, _)| place);
                        let comma = if place.is_empty() { "" } else { ", " };
                        let ratio = ratio(ours, peer).replace(['(', ')'], "");
                        self.behind.push(format!(
                            "{place}{comma}{} {} ({ratio})",
                            ours.subject, line.what
                        ));
                    }
                    Some(_) => self.level += 1,
                }
            }
        }
    }

    /// The sentence; none if nothing was compared.
    pub(crate) fn text(&self) -> String {
        let Self { first, level, behind } = self;
        let all = first + level + behind.len();
        if all == 0 {
            return String::new();
        }
        let level = if *level > 0 { format!("; level in {level}") } else { String::new() };
        let behind = match behind.len() {
            0 => String::new(),
            count => format!("; behind in {count}: {}", behind.join(", ")),
        };
        format!("First in {first} of {all} usual requests{level}{behind}.")
    }
}
