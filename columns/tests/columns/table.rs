//! Columns made for tests.

use lanecrypt_columns::{Column, ColumnKey, Layout};
use lanecrypt_testing::numbers::Numbers;

/// The key of a layout with the longest keys, or another one with another `number`.
pub(crate) fn key(layout: Layout, number: u8) -> ColumnKey {
    let length = layout.key_lengths().last().expect("a length");
    ColumnKey::new(layout, &vec![number; *length]).expect("a length that it has")
}

/// How the values of a column are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Binary,
    Large,
    FixedSize,
    Views,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Binary, Self::Large, Self::FixedSize, Self::Views];
}

/// A slice of a larger column, with the values of `values`; the bytes before, between and after
/// them are others.
pub(crate) struct Slice {
    kind: Kind,
    rows: usize,
    width: usize,
    data: Vec<u8>,
    offsets: Vec<i64>,
    short_offsets: Vec<i32>,
    views: Vec<[u8; 16]>,
    validity: Vec<u8>,
    /// The bit of the first row.
    bit: usize,
}

impl Slice {
    /// With `FixedSize`, all values must have the same length.
    pub(crate) fn new(kind: Kind, values: &[Option<Vec<u8>>], numbers: &mut Numbers) -> Self {
        let width = values.iter().flatten().map(Vec::len).next().unwrap_or(3);
        let before = numbers.below(40);
        let mut data = numbers.bytes(before);
        let mut offsets = vec![number(before)];
        let mut views = Vec::new();
        let bit = numbers.below(20);
        let mut validity = numbers.bytes((bit + values.len()).div_ceil(8) + 1);
        if kind == Kind::FixedSize {
            data.clear();
        }
        for (row, value) in values.iter().enumerate() {
            let (at, mask) = ((bit + row) / 8, 1 << ((bit + row) % 8));
            validity[at] = if value.is_some() { validity[at] | mask } else { validity[at] & !mask };
            let junk = if kind == Kind::FixedSize { width } else { numbers.below(5) };
            let value = value.clone().unwrap_or_else(|| numbers.bytes(junk));
            views.push(view(&value, data.len()));
            data.extend(value);
            offsets.push(number(data.len()));
        }
        data.extend(numbers.bytes(9));
        let short_offsets = offsets.iter().map(|&o| i32::try_from(o).expect("short")).collect();
        let rows = values.len();
        Self { kind, rows, width, data, offsets, short_offsets, views, validity, bit }
    }

    /// Calls `run` with the column.
    pub(crate) fn with<T>(&self, run: impl FnOnce(Column<'_>) -> T) -> T {
        let buffers = [&[][..], &self.data];
        let column = match self.kind {
            Kind::Binary => Column::binary(&self.short_offsets, &self.data),
            Kind::Large => Column::large_binary(&self.offsets, &self.data),
            Kind::FixedSize => {
                Column::fixed_size(self.width, self.rows, &self.data).expect("enough bytes")
            }
            Kind::Views => Column::views(&self.views, &buffers),
        };
        run(column.with_validity(&self.validity, self.bit).expect("enough bits"))
    }
}

fn number(position: usize) -> i64 {
    i64::try_from(position).expect("short")
}

/// The view of a value that is at this position of the second buffer.
fn view(value: &[u8], position: usize) -> [u8; 16] {
    let word = |n: usize| u32::try_from(n).expect("short").to_le_bytes();
    let mut view = [0; 16];
    view[..4].copy_from_slice(&word(value.len()));
    if value.len() <= 12 {
        view[4..4 + value.len()].copy_from_slice(value);
    } else {
        view[4..8].copy_from_slice(&value[..4]);
        view[8..12].copy_from_slice(&word(1));
        view[12..].copy_from_slice(&word(position));
    }
    view
}
