//! The layout `deterministic`: equal values give equal cells, and no others do.

use lanecrypt_columns::{Column, Layout, Options};
use lanecrypt_testing::numbers::hex;

use crate::table::key;

#[test]
fn equal_values_have_equal_cells() {
    let key = key(Layout::Deterministic, 5);
    let column = Column::binary(&[0, 1, 2, 3, 3, 3], b"aba");
    let cells = key.encrypt(&column, &Options::new()).expect("encrypted");
    let again = key.encrypt(&column, &Options::new().threads(2)).expect("encrypted");
    assert_eq!(cells, again);
    assert_eq!(cells.value(0), cells.value(2));
    assert_eq!(cells.value(3), cells.value(4));
    assert_ne!(cells.value(0), cells.value(1));
    let other = key.encrypt(&column, &Options::new().context(b"another table")).expect("encrypted");
    assert_ne!(cells.value(0), other.value(0));
    let ids = Column::fixed_size(1, 5, b"12345").expect("enough bytes");
    let moved = key.encrypt(&column, &Options::new().rows(ids)).expect("encrypted");
    assert_ne!(moved.value(0), moved.value(2));
}

/// RFC 5297, section A.1, whose only string is the context.
#[test]
fn the_cell_of_the_rfc() {
    let bytes = hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0 f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let key = lanecrypt_columns::ColumnKey::new(Layout::Deterministic, &bytes).expect("32 bytes");
    let context = hex("101112131415161718191a1b1c1d1e1f2021222324252627");
    let value = hex("112233445566778899aabbccddee");
    let column = Column::fixed_size(value.len(), 1, &value).expect("enough bytes");
    let cells = key.encrypt(&column, &Options::new().context(&context)).expect("encrypted");
    let expected = hex("85632d07c6e8f37f950acd320a2ecc93 40c02b9690c4dc04daef7f6afe5c");
    assert_eq!(cells.data, expected);
}
