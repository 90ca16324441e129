//! Cells are what other implementations of their layouts read and write.

use aws_lc_rs::aead;
use lanecrypt_columns::{Column, ColumnKey, Layout, Options};

fn algorithm(layout: Layout, key: &[u8]) -> Option<&'static aead::Algorithm> {
    Some(match (layout, key.len()) {
        (Layout::AesGcmSiv, 16) => &aead::AES_128_GCM_SIV,
        (Layout::AesGcmSiv, 32) => &aead::AES_256_GCM_SIV,
        (Layout::AesGcm, 16) => &aead::AES_128_GCM,
        (Layout::AesGcm, 24) => &aead::AES_192_GCM,
        (Layout::AesGcm, 32) => &aead::AES_256_GCM,
        (Layout::ChaCha20Poly1305, 32) => &aead::CHACHA20_POLY1305,
        _ => return None,
    })
}

#[test]
fn nonce_ciphertext_tag() {
    let mut tried = 0;
    for layout in Layout::ALL {
        for &length in layout.key_lengths() {
            let bytes = vec![9; length];
            let Some(algorithm) = algorithm(layout, &bytes) else { continue };
            tried += 1;
            let theirs = aead::UnboundKey::new(algorithm, &bytes).expect("a key");
            let theirs = aead::LessSafeKey::new(theirs);
            let ours = ColumnKey::new(layout, &bytes).expect("a key");
            let options = Options::new().context(b"a context");

            let cells = ours.encrypt(&Column::binary(&[0, 0, 20], &[3; 20]), &options);
            let cells = cells.expect("encrypted");
            for (row, value) in [(0, &[][..]), (1, &[3; 20])] {
                let cell = cells.value(row).expect("not NULL");
                let (nonce, sealed) = cell.split_at(12);
                let nonce = aead::Nonce::try_assume_unique_for_key(nonce).expect("12 bytes");
                let mut sealed = sealed.to_vec();
                let aad = aead::Aad::from(b"a context");
                assert_eq!(
                    theirs.open_in_place(nonce, aad, &mut sealed),
                    Ok(&mut value.to_vec()[..])
                );
            }

            let nonce = [4; 12];
            let mut sealed = b"a value".to_vec();
            let aad = aead::Aad::from(b"a context");
            theirs.seal_in_place_append_tag((&nonce).into(), aad, &mut sealed).expect("sealed");
            let cell = [&nonce[..], &sealed].concat();
            let column = Column::fixed_size(cell.len(), 1, &cell).expect("enough bytes");
            assert_eq!(ours.decrypt(&column, &options).expect("decrypted").data, b"a value");
        }
    }
    assert!(tried >= 6);
}
