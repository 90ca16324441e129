//! One row: an operation through an API.

use lanecrypt_peers::{Operation, PublicKey};

use super::NAME;
use super::work::{Keys, Operations};
use crate::results::Point;
use crate::row::{Batches, Row, Workload};

/// How an API takes operations.
#[derive(Clone, Copy, Debug)]
pub(super) enum Api {
    /// One call for each.
    Single,
    /// So many together.
    Batches(usize),
}

/// A row of the sessions that `open` makes.
pub(super) fn row(
    mut point: Point,
    operation: Operation,
    api: Api,
    open: impl Fn(&Keys) -> Option<Box<dyn PublicKey>> + Send + Sync + 'static,
) -> Row {
    point.key = Some(if operation.key().is_some() { "kept" } else { "fresh" }.into());
    let batch = if let Api::Batches(batch) = api { batch } else { 1 };
    row_of(point, operation.names(), api, move || Operations::new(operation, batch, &open))
}

/// A row of an algorithm and what is done by it.
pub(super) fn row_of<W: Workload + 'static>(
    mut point: Point,
    [subject, op]: [&str; 2],
    api: Api,
    make: impl Fn() -> Option<W> + Send + Sync + 'static,
) -> Row {
    point.table = NAME.into();
    point.subject = subject.into();
    point.op = op.into();
    point.chained = Some(false);
    point.threads = Some(1);
    let Point { source, api: name, .. } = &point;
    point.id = format!("{NAME}/{source}/{name}/{subject}/{op}");
    let batch = match api {
        Api::Single => 1,
        Api::Batches(batch) => {
            point.id += &format!("/b{batch}");
            batch
        }
    };
    point.batch = u32::try_from(batch).ok();
    let batches = Batches { multiple: batch, ..Batches::default() };
    Row::new(point, batches, make)
}
