//! Many threads make the same column as one, and no nonce twice.

use std::collections::HashSet;

use lanecrypt_columns::{Column, Error, Layout, OnError, Options};

use crate::table::key;

const ROWS: usize = 100_001;

fn offsets() -> Vec<i32> {
    let mut end = 0;
    let lengths = (0..ROWS).map(|row| i32::try_from(row % 5).expect("short"));
    [0].into_iter()
        .chain(lengths.map(|length| {
            end += length;
            end
        }))
        .collect()
}

#[test]
fn any_number_of_threads() {
    let offsets = offsets();
    let data = vec![0x5a; usize::try_from(offsets[ROWS]).expect("positive")];
    let column = Column::binary(&offsets, &data);
    for layout in Layout::ALL {
        let key = key(layout, 3);
        let mut nonces = HashSet::new();
        for (from, to) in [(1, 4), (4, 1), (3, 0), (1000, 2)] {
            let cells = key.encrypt(&column, &Options::new().threads(from)).expect("encrypted");
            let back =
                key.decrypt(&cells.column(), &Options::new().threads(to)).expect("decrypted");
            assert_eq!(back.data, data);
            if layout == Layout::Deterministic {
                continue;
            }
            for row in 0..ROWS {
                let cell = cells.value(row).expect("not NULL");
                assert!(nonces.insert(cell[..12].to_vec()), "a nonce twice");
            }
        }
    }
}

#[test]
fn failures_are_found_by_every_thread() {
    let offsets = offsets();
    let data = vec![0x5a; usize::try_from(offsets[ROWS]).expect("positive")];
    let column = Column::binary(&offsets, &data);
    let key = key(Layout::AesGcm, 3);
    let mut cells = key.encrypt(&column, &Options::new()).expect("encrypted");
    let changed = [17_000, 60_001, ROWS - 1];
    let starts: Vec<_> = {
        let column = cells.column();
        let start = |row| (0..row).map(|row| column_length(&offsets, row) + 28).sum::<usize>();
        assert_eq!(column.len(), ROWS);
        changed.map(start).to_vec()
    };
    for start in starts {
        cells.data[start] ^= 1;
    }
    for threads in [1, 2, 7] {
        let options = Options::new().threads(threads);
        let outcome = key.decrypt(&cells.column(), &options).map(|_| ());
        let Err(Error::Cell { row, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(row, changed[0]);
        let nulls = key.decrypt(&cells.column(), &options.on_error(OnError::Null)).expect("NULLs");
        assert_eq!(nulls.failed, changed.len());
        let lost = (0..ROWS).filter(|&row| nulls.value(row).is_none());
        assert!(lost.eq(changed));
    }
}

fn column_length(offsets: &[i32], row: usize) -> usize {
    usize::try_from(offsets[row + 1] - offsets[row]).expect("positive")
}
