//! Every test vector of an algorithm that the driver `openssl` has, through it.

use lanecrypt_engine::{Algorithm, Engine, Error};
use lanecrypt_testing::vectors::{self, Answer, tagged};

fn engine() -> Option<Engine> {
    let engine = Engine::new().with_openssl();
    engine.map_err(|error| println!("SKIPPED openssl: {error}")).ok()
}

#[test]
fn vectors_without_tags() {
    let Some(engine) = engine() else { return };
    let mut seen: Vec<Algorithm> = Vec::new();
    for line in vectors::own() {
        let Answer::Text { plain, cipher } = line.answer else { continue };
        if (line.skip, line.counter) != (0, 0) {
            continue;
        }
        let Ok(session) = engine.session_on("openssl", line.algorithm, &line.key) else { continue };
        let mut data = plain.clone();
        assert_eq!(session.encrypt(&line.nonce, &mut data[..]), Ok(()), "{}", line.place);
        assert_eq!(data, cipher, "{}", line.place);
        let mut opened = vec![0; plain.len()];
        assert_eq!(session.decrypt(&line.nonce, (&cipher[..], &mut opened[..])), Ok(()));
        assert_eq!(opened, plain, "{}", line.place);
        seen.push(line.algorithm);
    }
    assert!(seen.len() > 400, "only {} messages", seen.len());
    let of_aes = |row: &&Algorithm| row.to_string().starts_with("aes") && !row.is_aead();
    for algorithm in Algorithm::ALL.iter().filter(of_aes) {
        assert!(seen.contains(algorithm), "{algorithm}: no vector");
    }
}

#[test]
fn vectors_with_tags() {
    let Some(engine) = engine() else { return };
    let (mut good, mut forged) = (0, 0);
    for line in tagged::own() {
        let Ok(session) = engine.session_on("openssl", line.algorithm, &line.key) else { continue };
        let (nonce, aad, tag) = (&line.nonce, &line.aad, &line.tag);
        let mut data = line.ciphertext.clone();
        let opened = session.open_detached(nonce, aad, &mut data[..], tag);
        match &line.plain {
            _ if tag.len() != 16 => {
                assert_eq!((opened, &data), (Err(Error::TagLength), &line.ciphertext));
            }
            None => {
                assert_eq!(opened, Err(Error::Authentication), "{}", line.place);
                assert!(data.iter().all(|&byte| byte == 0), "{}: not wiped", line.place);
                forged += 1;
            }
            Some(plain) => {
                assert_eq!((opened, &data), (Ok(()), plain), "{}", line.place);
                let mut made = [0; 16];
                let sealed = session.seal_detached(nonce, aad, &mut data[..], &mut made);
                assert_eq!((sealed, &data), (Ok(()), &line.ciphertext), "{}", line.place);
                assert_eq!(made[..], tag[..], "{}", line.place);
                good += 1;
            }
        }
    }
    assert!(good > 300 && forged > 20, "{good} good, {forged} forged");
}
