//! What is refused before a byte is encrypted.

use lanecrypt_columns::{Column, ColumnKey, Error, Layout, Options};

use crate::table::key;

#[test]
fn keys_of_other_lengths() {
    for layout in Layout::ALL {
        for given in 0..=80 {
            let outcome = ColumnKey::new(layout, &vec![1; given]).map(|_| ());
            let fits = layout.key_lengths().contains(&given);
            assert_eq!(outcome.err(), (!fits).then_some(Error::KeyLength { layout, given }));
        }
    }
    let refused = ColumnKey::new(Layout::AesGcm, &[0; 17]).expect_err("17 bytes").to_string();
    assert_eq!(refused, "aes_gcm: a key of 17 bytes where 16, 24 or 32 are needed");
    let refused = ColumnKey::new(Layout::ChaCha20Poly1305, &[0; 16]).expect_err("16 bytes");
    assert_eq!(refused.to_string(), "chacha20_poly1305: a key of 16 bytes where 32 are needed");
}

#[test]
fn names_of_layouts() {
    for layout in Layout::ALL {
        assert_eq!(layout.name().parse(), Ok(layout));
    }
    let refused = "aes-gcm".parse::<Layout>().expect_err("another name").to_string();
    assert!(refused.starts_with("unknown layout; there are aes_gcm_siv, "), "{refused}");
}

#[test]
fn nothing_of_a_key_is_shown() {
    let shown = format!("{:?}", ColumnKey::new(Layout::AesGcm, &[0xa7; 16]).expect("16 bytes"));
    assert_eq!(shown, "ColumnKey { layout: AesGcm, .. }");
    let column = Column::binary(&[0, 6], b"secret");
    let options = Options::new().context(b"secret").rows(column);
    let shown = format!("{column:?} {options:?}");
    assert!(shown.starts_with("Column { rows: 1, .. } Options { ") && !shown.contains("115"));
}

#[test]
fn associated_data_of_other_rows() {
    let key = key(Layout::AesGcm, 1);
    let column = Column::binary(&[0, 1, 2, 3], b"abc");
    let two = Column::fixed_size(1, 2, b"12").expect("two bytes");
    let outcome = key.encrypt(&column, &Options::new().rows(two)).map(|_| ());
    assert_eq!(outcome, Err(Error::Rows { column: 3, associated: 2 }));

    let gap = Column::fixed_size(1, 3, b"123").expect("three bytes").with_validity(&[0b101], 0);
    let options = Options::new().rows(gap.expect("three bits"));
    assert_eq!(key.encrypt(&column, &options).err(), Some(Error::NullAssociated { row: 1 }));
    // A NULL has no cell that could be moved.
    let column = column.with_validity(&[0b101], 0).expect("three bits");
    assert!(key.encrypt(&column, &options).is_ok());
}

#[test]
fn wrong_offsets_are_an_error_with_a_row() {
    let key = key(Layout::AesGcm, 1);
    let columns = [
        Column::binary(&[0, 5, 3], b"abcdef"),
        Column::binary(&[0, 5, 7], b"abcdef"),
        Column::large_binary(&[0, 5, i64::MIN], b"abcdef"),
        Column::views(&[[0; 16], [0xff; 16]], &[]),
    ];
    for column in columns {
        assert_eq!(key.encrypt(&column, &Options::new()).err(), Some(Error::Buffers { row: 1 }));
        assert_eq!(key.decrypt(&column, &Options::new()).err(), Some(Error::Buffers { row: 1 }));
    }
}

#[test]
fn a_key_ends_where_random_nonces_could_repeat() {
    for layout in [Layout::AesGcm, Layout::ChaCha20Poly1305] {
        let key = key(layout, 1).already_used((1 << 32) - 3);
        let two = Column::binary(&[0, 1, 2, 3], b"abc").with_validity(&[0b011], 0);
        let two = two.expect("three bits");
        assert!(key.encrypt(&two, &Options::new()).is_ok());
        assert_eq!(key.encrypt(&two, &Options::new()).err(), Some(Error::KeyExhausted));
        assert_eq!(key.used(), (1 << 32) - 1);
        assert!(key.encrypt(&Column::binary(&[0, 1], b"a"), &Options::new()).is_ok());
        assert!(key.encrypt(&Column::binary(&[0, 1], b"a"), &Options::new()).is_err());
    }
}

#[test]
fn rows_that_are_not_there_have_no_value() {
    let key = key(Layout::AesGcm, 1);
    let column = Column::fixed_size(0, 3, b"").expect("no bytes");
    let cells = key.encrypt(&column, &Options::new()).expect("encrypted");
    let values = key.decrypt(&cells.column(), &Options::new()).expect("decrypted");
    assert_eq!([2, 3, usize::MAX].map(|row| values.value(row)), [Some(&b""[..]), None, None]);
    assert_eq!([3, 1 << 60, usize::MAX].map(|row| cells.value(row)), [None; 3]);
}

#[test]
fn rows_without_bytes_may_be_more_than_memory_has_room_for() {
    let column = Column::fixed_size(0, 1 << 60, b"").expect("no bytes");
    let key = key(Layout::AesGcm, 1);
    assert_eq!(key.decrypt(&column, &Options::new()).err(), Some(Error::Memory));
    assert_eq!(key.encrypt(&column, &Options::new()).err(), Some(Error::Memory));
}

#[test]
fn earlier_values_are_added_up() {
    let key = key(Layout::AesGcm, 1).already_used(5).already_used(7);
    key.encrypt(&Column::binary(&[0, 1], b"a"), &Options::new()).expect("encrypted");
    assert_eq!(key.used(), 13);
}
