//! The rows of the table on the first screen.

use lanecrypt_peers::Signer;

use super::rows::{Operation, PROCESS, SINGLE, USUAL, is_of, one_size};
use super::text::title;
use super::{NAME, bits, subject};
use crate::results::Point;
use crate::rivals::Rival;
use crate::row::Row;
use crate::table::{quickest, ratio};
use crate::text;

/// What the first screen shows.
const LINES: [Operation; 2] = [Operation::SIGN, Operation::VERIFY];
/// Signatures in flight.
const IN_FLIGHT: usize = 8;

/// Ours and every peer, at the usual size.
pub(super) fn rows(rivals: &[Rival<dyn Signer>]) -> Vec<Row> {
    LINES.iter().flat_map(|&line| one_size(rivals, USUAL, line, &[IN_FLIGHT])).collect()
}

/// The part of the first screen, for the existing points.
pub(super) fn text(points: &[Point]) -> String {
    let of_size = |p: &&Point| p.table == NAME && bits(p) == Some(USUAL);
    let all: Vec<&Point> = points.iter().filter(of_size).collect();
    let mut rows = Vec::new();
    for operation in LINES {
        let of = || all.iter().copied().filter(|p| is_of(p, operation));
        let peer = quickest(of().filter(|p| !p.is_ours()));
        for (api, batch) in [(SINGLE, 1), (PROCESS, IN_FLIGHT)] {
            let is_it = |p: &&Point| p.is_ours() && p.api == api;
            let Some(ours) = of().find(|p| is_it(p)) else { continue };
            rows.push(vec![
                format!("{}, {batch} in flight", title(operation)),
                text::optional(ours.per_second),
                peer.map_or_else(|| "-".to_owned(), |p| format!("{} {}", p.source, p.api)),
                text::optional(peer.and_then(|p| p.per_second)),
                peer.map_or_else(String::new, |peer| ratio(ours, peer)),
            ]);
        }
    }
    let header = ["", "lanecrypt", "best peer", "", "ours is faster by"];
    let title = format!("{} signatures: in a second", subject(USUAL));
    text::titled(&title, &header, "lrlrr", rows)
}
