//! Cells are what other implementations of their layouts read and write.

use aws_lc_rs::aead;
use lanecrypt_columns::{Column, ColumnKey, Layout, Options};
use lanecrypt_peers::{Aead, Availability, Direction, Packet, Peer, PeerLibraries, Run, aeads};

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

/// OpenSSL, libgcrypt, Nettle, RustCrypto and whatever else is here.
#[test]
fn every_library_reads_and_writes_the_same_cells() {
    let mut tried = Vec::new();
    for peer in aeads(&PeerLibraries::new()) {
        let layout = match peer.subject {
            "aes-128-gcm" | "aes-256-gcm" => Layout::AesGcm,
            "aes-128-gcm-siv" | "aes-256-gcm-siv" => Layout::AesGcmSiv,
            "chacha20-poly1305" => Layout::ChaCha20Poly1305,
            _ => continue,
        };
        if matches!(peer.availability, Availability::Found(_)) {
            let bytes = vec![0x42; if peer.subject.contains("128") { 16 } else { 32 }];
            both_ways(&peer, &ColumnKey::new(layout, &bytes).expect("a key"), &bytes);
            tried.push(peer.source);
        }
    }
    assert!(tried.contains(&"rustcrypto"), "{tried:?}");
    if !tried.contains(&"openssl") {
        println!("SKIPPED openssl: apt install libssl3");
    }
}

fn both_ways(peer: &Peer<dyn Aead>, key: &ColumnKey, bytes: &[u8]) {
    let context = b"people.ssn";
    let options = Options::new().context(context);
    let at = format!("{} {} {}", peer.source, peer.api, peer.subject);
    let (nonce, value, mut tag) = ([7; 12], [9; 33], [0; 16]);

    let mut data = value;
    let packet = Packet {
        session: 0,
        nonce: &nonce,
        aad: context,
        data: &mut data,
        sealed: &[],
        tag: &mut tag,
    };
    let mut sealer = peer.open(Direction::Encrypt, &[bytes]).expect("it takes the key");
    sealer.messages(&mut [packet], Run::of(1)).expect("sealed");
    let cell = [&nonce[..], &data, &tag].concat();
    let column = Column::fixed_size(cell.len(), 1, &cell).expect("enough bytes");
    assert_eq!(key.decrypt(&column, &options).expect("decrypted").data, value, "{at}");

    let column = Column::fixed_size(value.len(), 1, &value).expect("enough bytes");
    let mut cell = key.encrypt(&column, &options).expect("encrypted").data;
    let (nonce, sealed) = cell.split_at_mut(12);
    let (sealed, tag) = sealed.split_last_chunk_mut::<16>().expect("a tag");
    let mut data = [0; 33];
    let packet = Packet { session: 0, nonce, aad: context, data: &mut data, sealed, tag };
    let mut opener = peer.open(Direction::Decrypt, &[bytes]).expect("it takes the key");
    opener.messages(&mut [packet], Run::of(1)).expect("opened");
    assert_eq!(data, value, "{at}");
}
