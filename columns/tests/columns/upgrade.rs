//! Cells and rings that earlier releases wrote.

use std::fs;
use std::path::Path;

use lanecrypt_columns::{Column, ColumnKey, Error, Keyring, Layout, Options, OwnedColumn};
use lanecrypt_testing::fixtures;
use lanecrypt_testing::numbers::{Numbers, hex};
use serde_json::{Value, json};

use crate::table::{Kind, Slice};

/// The ids of a ring's keys: that of older cells, and the primary one.
const IDS: [u32; 2] = [7, 0x89ab_cdef];

/// A NULL and some values: of one length, or around a block.
fn values(is_fixed: bool) -> Vec<Option<Vec<u8>>> {
    let lengths: &[usize] = if is_fixed { &[9, 9] } else { &[0, 1, 16, 33] };
    let values = lengths.iter().map(|&bytes| Some(fixtures::text(bytes)));
    [None].into_iter().chain(values).collect()
}

/// How a column of such cells may be laid out.
fn kinds(is_fixed: bool) -> &'static [Kind] {
    if is_fixed { &Kind::ALL } else { &[Kind::Binary, Kind::Large, Kind::Views] }
}

/// The associated data of the rows: their numbers.
fn numbers(rows: usize) -> Vec<u8> {
    (0..rows).flat_map(|row| u32::try_from(row).expect("few").to_le_bytes()).collect()
}

fn options(numbers: &[u8]) -> Options<'_> {
    let rows = Column::fixed_size(4, numbers.len() / 4, numbers).expect("enough bytes");
    Options::new().context(b"people.ssn").rows(rows)
}

fn rows(column: &OwnedColumn) -> Vec<Option<Vec<u8>>> {
    (0..column.len()).map(|row| column.value(row).map(<[u8]>::to_vec)).collect()
}

fn with<T>(kind: Kind, cells: &[Option<Vec<u8>>], run: impl FnOnce(Column<'_>) -> T) -> T {
    Slice::new(kind, cells, &mut Numbers(1)).with(run)
}

/// A line: the key, or none for the ring of the layout, and what it encrypted.
fn line(layout: Layout, key: Option<&[u8]>, is_fixed: bool, cells: &OwnedColumn) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let cells: Vec<_> = rows(cells).iter().map(|it| it.as_deref().map(digits)).collect();
    let (layout, key) = (layout.name(), key.map(digits));
    format!("{}\n", json!({ "layout": layout, "key": key, "fixed": is_fixed, "cells": cells }))
}

fn write(folder: &Path) {
    let mut lines = String::new();
    for layout in Layout::ALL {
        let mut ring = Keyring::new(layout);
        for (number, id) in (1..).zip(IDS) {
            let length = *layout.key_lengths().last().expect("a length");
            ring.add_with_id(id, &vec![number; length]).expect("a key");
        }
        ring.set_primary(IDS[1]).expect("active");
        let json = ring.to_json();
        fs::write(folder.join(format!("{layout}.ring")), json.as_bytes()).expect("a new file");
        for is_fixed in [false, true] {
            let values = values(is_fixed);
            let numbers = numbers(values.len());
            let options = options(&numbers);
            for &length in layout.key_lengths() {
                let key = fixtures::text(length);
                let of_key = ColumnKey::new(layout, &key).expect("a length that it has");
                let cells = with(Kind::Binary, &values, |it| of_key.encrypt(&it, &options));
                lines += &line(layout, Some(&key), is_fixed, &cells.expect("cells"));
            }
            for id in IDS {
                ring.set_primary(id).expect("active");
                let cells = with(Kind::Binary, &values, |it| ring.encrypt(&it, &options));
                lines += &line(layout, None, is_fixed, &cells.expect("cells"));
            }
        }
    }
    fs::write(folder.join("cells.jsonl"), lines).expect("a new file");
}

/// What decrypts the cells of a line.
enum Opener {
    Key(Box<ColumnKey>),
    Ring(Keyring),
}

impl Opener {
    fn of(folder: &Path, layout: Layout, key: &Value) -> Self {
        if let Some(key) = key.as_str() {
            return Self::Key(Box::new(ColumnKey::new(layout, &hex(key)).expect("a key")));
        }
        let json = fs::read_to_string(folder.join(format!("{layout}.ring"))).expect("its ring");
        let ring = Keyring::from_json(&json).expect("a ring");
        assert_eq!(ring.primary(), Some(IDS[1]));
        Self::Ring(ring)
    }

    fn decrypt(&self, column: &Column<'_>, options: &Options<'_>) -> Result<OwnedColumn, Error> {
        match self {
            Self::Key(key) => key.decrypt(column, options),
            Self::Ring(ring) => ring.decrypt(column, options),
        }
    }
}

#[test]
fn cells_and_rings_of_earlier_releases() {
    fixtures::write("columns", write);
    for folder in fixtures::of_every_version("columns") {
        let cells = fs::read_to_string(folder.join("cells.jsonl")).expect("it is there");
        let mut lines = 0;
        for line in cells.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let layout: Layout = line["layout"].as_str().expect("a name").parse().expect("known");
            let is_fixed = line["fixed"].as_bool().expect("it is one of two");
            let cells: Vec<_> = line["cells"].as_array().expect("cells").iter().collect();
            let cells: Vec<_> = cells.into_iter().map(|cell| cell.as_str().map(hex)).collect();
            let (values, numbers) = (values(is_fixed), numbers(cells.len()));
            let options = options(&numbers);
            let opener = Opener::of(&folder, layout, &line["key"]);
            for &kind in kinds(is_fixed) {
                let open = |options| with(kind, &cells, |column| opener.decrypt(&column, options));
                let opened = open(&options).expect("they are authentic");
                assert_eq!(rows(&opened), values, "{layout} {kind:?}");
                // Of another table.
                assert!(open(&options.context(b"people.name")).is_err(), "{layout} {kind:?}");
            }
            if let Opener::Ring(ring) = &opener {
                let moved = with(Kind::Binary, &cells, |column| ring.rekey(&column, &options));
                let moved = moved.expect("moved");
                assert_eq!(moved.kept + moved.moved, values.len() - 1, "{layout}");
                let back = ring.decrypt(&moved.cells.column(), &options).expect("its cells");
                assert_eq!(rows(&back), values, "{layout}");
            }
            lines += 1;
        }
        // Nine lengths of keys, and two keys of four rings.
        assert!(lines >= 2 * (9 + 8), "{}: {lines} lines", folder.display());
    }
}
