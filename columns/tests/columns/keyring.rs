//! Rings of keys: ids in front of cells, rotation, and Tink's cells.

use lanecrypt_columns::{
    CellError, Column, Error, KeyState, Keyring, Layout, OnError, Options, OwnedColumn,
};
use lanecrypt_testing::numbers::Numbers;

use crate::table::{Kind, Slice};

const ROWS: usize = 700;

fn values(numbers: &mut Numbers, width: Option<usize>) -> Vec<Option<Vec<u8>>> {
    let mut value = |row: usize| numbers.bytes(width.unwrap_or(row % 40));
    (0..ROWS).map(|row| (row % 7 != 3).then(|| value(row))).collect()
}

fn rows(column: &OwnedColumn) -> Vec<Option<Vec<u8>>> {
    (0..column.len()).map(|row| column.value(row).map(<[u8]>::to_vec)).collect()
}

/// A column of cells.
fn binary(cells: &[Option<Vec<u8>>]) -> Slice {
    Slice::new(Kind::Binary, cells, &mut Numbers(5))
}

fn reason(error: Error) -> CellError {
    let Error::Cell { row: 0, reason } = error else { panic!("{error}") };
    reason
}

#[test]
fn every_kind_moves_to_the_primary_key() {
    for layout in Layout::ALL {
        for kind in Kind::ALL {
            let mut numbers = Numbers(1);
            let plain = values(&mut numbers, (kind == Kind::FixedSize).then_some(9));
            let ids: Vec<u8> =
                (0..u32::try_from(ROWS).expect("few")).flat_map(u32::to_le_bytes).collect();
            let ids = Column::fixed_size(4, ROWS, &ids).expect("enough bytes");
            let options = Options::new().context(b"people.ssn").rows(ids);
            let mut ring = Keyring::new(layout);
            let old = ring.generate().expect("a key");
            let slice = Slice::new(kind, &plain, &mut numbers);
            let cells = slice.with(|column| ring.encrypt(&column, &options)).expect("encrypted");
            for cell in rows(&cells).iter().flatten() {
                assert_eq!(cell[..5], [&[1], &old.to_be_bytes()[..]].concat());
            }
            let back = ring.decrypt(&cells.column(), &options).expect("decrypted");
            assert_eq!(rows(&back), plain, "{layout} {kind:?}");

            let new = ring.generate().expect("a key");
            ring.set_primary(new).expect("active");
            let moved = ring.rekey(&cells.column(), &options).expect("moved");
            let valid = plain.iter().flatten().count();
            assert_eq!((moved.kept, moved.moved, moved.unknown, moved.forged), (0, valid, 0, 0));
            assert_eq!(moved.cells.nulls, ROWS - valid);
            let again = ring.rekey(&moved.cells.column(), &options).expect("kept");
            assert_eq!((again.kept, again.moved), (valid, 0));
            assert!(again.cells == moved.cells, "{layout}: kept cells differ");
            ring.disable(old).expect("not primary");
            let back = ring.decrypt(&moved.cells.column(), &options).expect("decrypted");
            assert_eq!(rows(&back), plain, "{layout} {kind:?}");
        }
    }
}

#[test]
fn unknown_disabled_and_forged_cells_are_told_apart_and_kept() {
    for layout in Layout::ALL {
        let options = Options::new().context(b"c");
        let plain = values(&mut Numbers(3), None);
        let mut ring = Keyring::new(layout);
        // Of every length.
        let lengths = layout.key_lengths();
        let ids = [0, 1, 2, 3].map(|number: u8| {
            let length = lengths[usize::from(number) % lengths.len()];
            ring.add(&vec![number; length]).expect("a key")
        });
        // Rows of four keys, one after the other.
        let columns = ids.map(|id| {
            ring.set_primary(id).expect("active");
            rows(&binary(&plain).with(|column| ring.encrypt(&column, &options)).expect("cells"))
        });
        let mut mixed: Vec<_> = (0..ROWS).map(|row| columns[row % 4][row].clone()).collect();
        let back = binary(&mixed).with(|column| ring.decrypt(&column, &options)).expect("all");
        assert_eq!(rows(&back), plain, "{layout}");

        ring.remove(ids[0]).expect("not primary");
        ring.disable(ids[1]).expect("not primary");
        let mut forged = 0;
        for row in (2..ROWS).step_by(14) {
            let Some(cell) = &mut mixed[row] else { continue };
            match row % 3 {
                // Too short for an id, without one, and changed.
                0 => cell.truncate(4),
                1 => cell[0] = 2,
                _ => *cell.last_mut().expect("a tag") ^= 1,
            }
            forged += usize::from(row % 3 != 2 || row % 4 >= 2);
        }
        let is_sound = |row: usize| row % 14 != 2 && row % 4 >= 2;
        let unknown = mixed.iter().flatten().count()
            - forged
            - (0..ROWS).filter(|&row| is_sound(row) && mixed[row].is_some()).count();
        let null = options.on_error(OnError::Null).threads(3);
        let slice = binary(&mixed);
        let back = slice.with(|column| ring.decrypt(&column, &null)).expect("NULLs");
        assert_eq!((back.unknown, back.failed), (unknown, unknown + forged), "{layout}");
        for (row, value) in rows(&back).into_iter().enumerate() {
            assert_eq!(value, plain[row].clone().filter(|_| is_sound(row)), "{layout} {row}");
        }

        let moved = slice.with(|column| ring.rekey(&column, &options)).expect("moved");
        assert_eq!((moved.unknown, moved.forged), (unknown, forged), "{layout}");
        let after = rows(&moved.cells);
        for row in (0..ROWS).filter(|&row| !is_sound(row) || row % 4 == 3) {
            assert_eq!(after[row], mixed[row], "{layout} {row}");
        }
        // Unknown cells are still there when their key is.
        ring.enable(ids[1]).expect("disabled");
        let cells = moved.cells.column();
        let back = ring.decrypt(&cells, &options.on_error(OnError::Null)).expect("NULLs");
        assert_eq!(back.value(1), plain[1].as_deref());

        let first = |ring: &Keyring, cell: &[u8]| {
            let cells = [Some(cell.to_vec())];
            reason(binary(&cells).with(|column| ring.decrypt(&column, &options)).expect_err("no"))
        };
        let cell = |number: usize| columns[number][1].clone().expect("not NULL");
        assert_eq!(first(&ring, &cell(0)), CellError::UnknownKey { id: ids[0] });
        ring.disable(ids[1]).expect("not primary");
        assert_eq!(first(&ring, &cell(1)), CellError::DisabledKey { id: ids[1] });
        assert_eq!(first(&ring, &cell(2)[5..]), CellError::NoKeyId);
        assert_eq!(first(&ring, b""), CellError::NoKeyId);
        assert_eq!(first(&ring, &cell(2)[..5]), CellError::Authentication);
        // The id of another key.
        let mut other = cell(2);
        other[..5].copy_from_slice(&cell(3)[..5]);
        assert_eq!(first(&ring, &other), CellError::Authentication);
        assert_eq!(first(&Keyring::new(layout), &cell(2)), CellError::UnknownKey { id: ids[2] });
    }
}

/// Made by Tink's package for Python, 1.16.1: AES-GCM, output prefix TINK.
#[test]
fn cells_of_tink() {
    let hex = |value: &serde_json::Value| {
        let digits = value.as_str().expect("digits").as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).expect("ASCII"), 16);
        digits.map(|pair| byte(pair).expect("digits")).collect::<Vec<_>>()
    };
    let mut tried = 0;
    for line in include_str!("tink.jsonl").lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let id = line["id"].as_u64().and_then(|id| u32::try_from(id).ok()).expect("an id");
        let mut ring = Keyring::new(Layout::AesGcm);
        ring.add_with_id(id, &hex(&line["key"])).expect("a key");
        let context = hex(&line["associated_data"]);
        let options = Options::new().context(&context);
        let cells = [Some(hex(&line["cell"]))];
        let back = binary(&cells).with(|column| ring.decrypt(&column, &options)).expect("Tink's");
        assert_eq!(back.value(0), Some(&hex(&line["value"])[..]));
        tried += 1;
    }
    assert_eq!(tried, 16);
}

#[test]
fn states_of_keys() {
    let mut ring = Keyring::new(Layout::AesGcmSiv);
    let column = Column::binary(&[0, 1], b"a");
    assert_eq!(ring.encrypt(&column, &Options::new()).err(), Some(Error::NoPrimaryKey));
    assert_eq!(ring.rekey(&column, &Options::new()).err(), Some(Error::NoPrimaryKey));
    ring.add_with_id(7, &[1; 16]).expect("a key");
    ring.add_with_id(8, &[2; 32]).expect("a key");
    assert_eq!(ring.add_with_id(7, &[3; 16]), Err(Error::KeyExists { id: 7 }));
    assert!(matches!(ring.add(&[3; 17]), Err(Error::KeyLength { given: 17, .. })));
    assert_eq!((ring.primary(), ring.disable(7)), (Some(7), Err(Error::PrimaryKey { id: 7 })));
    assert_eq!(ring.remove(7), Err(Error::PrimaryKey { id: 7 }));
    assert_eq!(ring.remove(9), Err(Error::UnknownKey { id: 9 }));
    ring.disable(8).expect("not primary");
    assert_eq!(ring.set_primary(8), Err(Error::DisabledKey { id: 8 }));
    ring.enable(8).expect("not primary");
    ring.set_primary(8).expect("active");
    ring.disable(7).expect("not primary");
    let states = [(7, KeyState::Disabled), (8, KeyState::Primary)];
    assert!(ring.keys().eq(states));
    let ids: Vec<_> = (0..100).map(|_| ring.generate().expect("a key")).collect();
    assert!(ids.iter().all(|id| ids.iter().filter(|it| *it == id).count() == 1));
}

#[test]
fn rings_as_json() {
    let mut ring = Keyring::new(Layout::Deterministic);
    ring.add_with_id(u32::MAX, &(0..64).map(|byte| byte * 4 + 3).collect::<Vec<_>>()).expect("key");
    ring.add_with_id(1, &[0xab; 32]).expect("a key");
    ring.disable(1).expect("not primary");
    let json = ring.to_json();
    assert!(json.contains(&"ab".repeat(32)) && json.contains("4294967295"));
    let back = Keyring::from_json(&json).expect("the same");
    assert_eq!(*back.to_json(), *json);
    let printed = format!("{ring:?}");
    assert!(printed.contains("Disabled") && !printed.contains("abab") && !printed.contains("171"));
    let options = Options::new();
    let cells = ring.encrypt(&Column::binary(&[0, 1], b"a"), &options).expect("encrypted");
    assert_eq!(back.decrypt(&cells.column(), &options).expect("decrypted").data, b"a");

    let key = |id: u32, state: &str, key: &str| {
        format!("{{\"id\":{id},\"state\":\"{state}\",\"key\":\"{key}\"}}")
    };
    let parsed = |layout: &str, keys: &[String]| {
        let keys = keys.join(",");
        Keyring::from_json(&format!("{{\"layout\":\"{layout}\",\"keys\":[{keys}]}}")).err()
    };
    let good = "0f".repeat(16);
    assert_eq!(parsed("aes_gcm", &[key(1, "primary", &good), key(2, "active", &good)]), None);
    let wrong = [("0F", 16), ("0g", 16), ("000", 11), ("00", 65), ("é", 16)];
    for wrong in wrong.map(|(part, times)| part.repeat(times)) {
        assert_eq!(parsed("aes_gcm", &[key(1, "primary", &wrong)]), Some(Error::Format));
    }
    assert_eq!(parsed("rot13", &[]), Some(Error::Format));
    assert_eq!(parsed("aes_gcm", &[key(1, "secret", &good)]), Some(Error::Format));
    let two = [key(1, "primary", &good), key(2, "primary", &good)];
    assert_eq!(parsed("aes_gcm", &two), Some(Error::Format));
    let two = [key(1, "primary", &good), key(1, "active", &good)];
    assert_eq!(parsed("aes_gcm", &two), Some(Error::KeyExists { id: 1 }));
    let short = parsed("aes_gcm", &[key(1, "primary", "00")]);
    assert!(matches!(short, Some(Error::KeyLength { given: 1, .. })));
    for end in 0..json.len() {
        assert_eq!(Keyring::from_json(&json[..end]).err(), Some(Error::Format));
    }

    let of_version = |version: &str| {
        let json = format!("{{\"version\":{version},\"layout\":\"aes_gcm\",\"keys\":[]}}");
        Keyring::from_json(&json).err()
    };
    assert_eq!(of_version("1"), None);
    assert_eq!(of_version("\"1\""), Some(Error::Format));
    let later = Keyring::from_json("{\"version\":2,\"keys\":{},\"locks\":[]}").expect_err("later");
    assert_eq!(later, Error::FormatVersion { version: 2 });
    assert_eq!(later.to_string(), "a key ring in format 2; this version reads format 1");
}
