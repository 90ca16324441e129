//! Cells that were changed, moved, cut or swapped are found, with their rows.

use lanecrypt_columns::{CellError, Column, Error, Layout, Offsets, OnError, Options, OwnedColumn};
use lanecrypt_testing::numbers::Numbers;

use crate::table::{Kind, Slice, key};

const ROWS: usize = 700;

/// Values of 0 to 20 bytes, every seventh of them NULL.
fn values(numbers: &mut Numbers) -> Vec<Option<Vec<u8>>> {
    (0..ROWS).map(|row| (row % 7 != 3).then(|| numbers.bytes(row % 21))).collect()
}

fn refused(row: usize) -> Option<Error> {
    Some(Error::Cell { row, reason: CellError::Authentication })
}

fn binary(cells: &OwnedColumn) -> &[i32] {
    let Offsets::Binary(offsets) = &cells.offsets else { panic!("not binary") };
    offsets
}

/// What decryption gives with this row changed: its error, and the column without the row.
fn expect_lost(layout: Layout, changed: &Column<'_>, options: &Options<'_>, row: usize) {
    let key = key(layout, 7);
    assert_eq!(key.decrypt(changed, options).err(), refused(row), "{layout}");
    let back = key.decrypt(changed, &options.on_error(OnError::Null)).expect("a NULL");
    assert_eq!((back.failed, back.nulls), (1, ROWS / 7 + 1));
    assert_eq!(back.value(row), None);
    let expected = values(&mut Numbers(2));
    for (other, value) in expected.iter().enumerate().filter(|&(other, _)| other != row) {
        assert_eq!(back.value(other), value.as_deref(), "{layout} row {other}");
    }
    let Offsets::Binary(offsets) = &back.offsets else { panic!("not binary") };
    let range = [offsets[row], offsets[row + 1]].map(|o| usize::try_from(o).expect("positive"));
    assert!(back.data[range[0]..range[1]].iter().all(|&byte| byte == 0), "not wiped");
}

#[test]
fn each_byte_of_a_cell_counts() {
    for layout in Layout::ALL {
        let slice = Slice::new(Kind::Binary, &values(&mut Numbers(2)), &mut Numbers(3));
        let options = Options::new().context(b"people.ssn");
        let mut cells =
            slice.with(|column| key(layout, 7).encrypt(&column, &options)).expect("encrypted");
        for row in [0, 254, 256, ROWS - 1] {
            let from = usize::try_from(binary(&cells)[row]).expect("positive");
            for byte in 0..layout.overhead() + row % 21 {
                cells.data[from + byte] ^= 1 << (byte % 8);
                expect_lost(layout, &cells.column(), &options, row);
                cells.data[from + byte] ^= 1 << (byte % 8);
            }
        }
        assert!(key(layout, 7).decrypt(&cells.column(), &options).is_ok());
    }
}

#[test]
fn cut_and_empty_cells_are_not_authentic() {
    for layout in Layout::ALL {
        let key = key(layout, 7);
        let cell = key.encrypt(&Column::binary(&[0, 3], b"abc"), &Options::new()).expect("a cell");
        for length in 0..cell.data.len() {
            let offsets = [0, i32::try_from(length).expect("short")];
            let cut = Column::binary(&offsets, &cell.data);
            assert_eq!(key.decrypt(&cut, &Options::new()).err(), refused(0));
            let fixed = Column::fixed_size(length, 1, &cell.data).expect("enough");
            assert_eq!(key.decrypt(&fixed, &Options::new()).err(), refused(0));
        }
    }
}

#[test]
fn cells_cannot_be_moved() {
    for layout in Layout::ALL {
        let all = vec![Some(b"the same".to_vec()); ROWS];
        let slice = Slice::new(Kind::FixedSize, &all, &mut Numbers(4));
        let ids: Vec<u8> = (0..ROWS as u64).flat_map(u64::to_le_bytes).collect();
        let ids = Column::fixed_size(8, ROWS, &ids).expect("enough bytes");
        let options = Options::new().context(b"people.ssn").rows(ids);
        let mut cells =
            slice.with(|column| key(layout, 7).encrypt(&column, &options)).expect("encrypted");
        let width = 8 + layout.overhead();
        let (first, second) = cells.data.split_at_mut(300 * width);
        first[299 * width..].swap_with_slice(&mut second[..width]);
        let key = key(layout, 7);
        assert_eq!(key.decrypt(&cells.column(), &options).err(), refused(299));
        let nulls = key.decrypt(&cells.column(), &options.on_error(OnError::Null));
        assert_eq!(nulls.expect("NULLs").failed, 2);
    }
}

#[test]
fn another_key_context_or_row_is_refused() {
    for layout in Layout::ALL {
        let column = Column::binary(&[0, 1, 2], b"ab");
        let ids = |last| [1, 0, 0, 0, last, 0, 0, 0];
        let (ids, others) = (ids(2), ids(3));
        let ids = Column::fixed_size(4, 2, &ids).expect("enough bytes");
        let others = Column::fixed_size(4, 2, &others).expect("enough bytes");
        let options = Options::new().context(b"people.ssn").rows(ids);
        let cells = key(layout, 7).encrypt(&column, &options).expect("encrypted");
        let refusal =
            |number, options| key(layout, number).decrypt(&cells.column(), &options).err();
        assert_eq!(refusal(7, options), None);
        assert_eq!(refusal(8, options), refused(0));
        assert_eq!(refusal(7, options.context(b"people.sn")), refused(0));
        assert_eq!(refusal(7, options.rows(others)), refused(1));
        assert_eq!(refusal(7, Options::new().context(b"people.ssn")), refused(0));
        // What moves from the context to the value is not the same.
        let one = Column::fixed_size(5, 2, b"n\x01\0\0\0n\x02\0\0\0").expect("enough bytes");
        assert_eq!(refusal(7, Options::new().context(b"people.ss").rows(one)), refused(0));
    }
}

#[test]
fn text_is_checked_where_it_is_asked_for() {
    for layout in Layout::ALL {
        let key = key(layout, 7);
        let column = Column::binary(&[0, 2, 3, 5], b"\xc3\xa4\xc3ok");
        let cells = key.encrypt(&column, &Options::new()).expect("encrypted");
        let bytes = key.decrypt(&cells.column(), &Options::new()).expect("bytes");
        assert!(!bytes.is_text && bytes.data == b"\xc3\xa4\xc3ok");
        let text = Options::new().text(true);
        let refused = Error::Cell { row: 1, reason: CellError::NotText };
        assert_eq!(key.decrypt(&cells.column(), &text).err(), Some(refused));
        let nulls = key.decrypt(&cells.column(), &text.on_error(OnError::Null)).expect("a NULL");
        assert!(nulls.is_text && nulls.failed == 1);
        assert_eq!(nulls.data, b"\xc3\xa4\0ok");
        assert_eq!(
            [0, 1, 2].map(|row| nulls.value(row)),
            [Some(&b"\xc3\xa4"[..]), None, Some(b"ok")]
        );
    }
}
