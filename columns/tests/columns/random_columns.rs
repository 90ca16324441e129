//! What is encrypted and decrypted is what was there before: random columns of all kinds.

use lanecrypt_columns::{Layout, Offsets, Options};
use lanecrypt_testing::numbers::{Numbers, cases};

use crate::table::{Kind, Slice, key};

#[test]
fn random_columns_come_back() {
    let mut numbers = Numbers(1);
    for case in 0..cases(300) {
        for layout in Layout::ALL {
            let kind = Kind::ALL[numbers.below(4)];
            let rows = [1, 8, 70, 600][numbers.below(4)];
            let rows = numbers.below(rows + 1);
            let longest = if case % 50 == 0 { 70_000 } else { [13, 40, 300][numbers.below(3)] };
            let nulls = [0, 0, 1, 5, 10][numbers.below(5)];
            let values = random_values(&mut numbers, kind, rows, longest, nulls);
            comes_back(layout, kind, &values, &mut numbers);
        }
    }
}

/// Values of up to `longest` bytes, of which `nulls` in ten are NULL.
fn random_values(
    numbers: &mut Numbers,
    kind: Kind,
    rows: usize,
    longest: usize,
    nulls: usize,
) -> Vec<Option<Vec<u8>>> {
    let width = numbers.below(longest + 1);
    // Few rows are long.
    let rows = rows.min(2_000_000 / (longest + 1));
    let value = |_| {
        let length = if kind == Kind::FixedSize { width } else { numbers.below(longest + 1) };
        (numbers.below(10) >= nulls).then(|| numbers.bytes(length))
    };
    (0..rows).map(value).collect()
}

fn comes_back(layout: Layout, kind: Kind, values: &[Option<Vec<u8>>], numbers: &mut Numbers) {
    let key = key(layout, 7);
    let context = b"a context".repeat(numbers.below(2));
    let ids: Vec<_> = (0..values.len()).map(|_| Some(numbers.bytes(8))).collect();
    let ids = Slice::new(Kind::ALL[numbers.below(4)], &ids, numbers);
    let has_ids = numbers.below(2) == 0;
    let slice = Slice::new(kind, values, numbers);
    ids.with(|ids| {
        let options = Options::new().context(&context);
        let options = if has_ids { options.rows(ids) } else { options };
        let cells = slice.with(|column| key.encrypt(&column, &options)).expect("encrypted");
        let back = key.decrypt(&cells.column(), &options).expect("decrypted");
        let nulls = values.iter().filter(|value| value.is_none()).count();
        for column in [&cells, &back] {
            assert_eq!((column.len(), column.nulls, column.failed), (values.len(), nulls, 0));
            assert_eq!(column.validity.is_some(), nulls > 0);
            match kind {
                Kind::Binary => assert!(matches!(column.offsets, Offsets::Binary(_))),
                Kind::FixedSize => assert!(matches!(column.offsets, Offsets::FixedSize { .. })),
                Kind::Large | Kind::Views => assert!(matches!(column.offsets, Offsets::Large(_))),
            }
        }
        for (row, value) in values.iter().enumerate() {
            assert_eq!(back.value(row), value.as_deref(), "{layout} {kind:?} row {row}");
            let cell = cells.value(row).map(<[u8]>::len);
            assert_eq!(cell, value.as_ref().map(|value| value.len() + layout.overhead()));
        }
    });
}
