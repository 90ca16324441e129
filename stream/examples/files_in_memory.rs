//! Files in memory, encrypted and decrypted in chunks of 64 KiB with AES-256-GCM: by this crate,
//! and by hand with aws-lc-rs, a copy into the output and a call in place for each chunk.
//!
//! `cargo run --release -p lanecrypt-stream --example files_in_memory`, with the sizes of files in
//! KiB as arguments. All run in turn. Ratios are medians of those of each turn.

use core::error::Error;
use std::io::{self, Read as _, Write as _};
use std::time::Instant;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::error::Unspecified;
use lanecrypt_stream::{Algorithm, CHUNK_SIZE, Cipher, Decryptor, Encryptor, Stream};

const KEY: [u8; 32] = [7; 32];
const PREFIX: [u8; 7] = [3; 7];
const SEALED: usize = CHUNK_SIZE + 16;

/// Bytes that each size is repeated for, and the fewest repetitions.
const WORK: usize = 256 << 20;
const FEWEST: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> =
        std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    for size in if sizes.is_empty() { vec![256, 1024, 16 << 10] } else { sizes } {
        let [seal, open] = measure(size << 10)?;
        println!("{size} KiB");
        seal.print("encrypt");
        open.print("decrypt");
    }
    Ok(())
}

/// Encrypts and decrypts in turn, after the buffers have grown.
fn measure(size: usize) -> Result<[Times; 2], Box<dyn Error>> {
    let cipher = Cipher::boxed(Algorithm::AES_256_GCM, &KEY)?;
    let by_hand = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &KEY)?);
    let data: Vec<u8> = (0..size).map(|i| ((i * 31) >> 3).to_le_bytes()[0]).collect();
    let mut sealed = [const { Vec::new() }; 3];
    let mut opened = vec![0; size];
    let mut opened_by_hand = Vec::new();
    let mut times = [const { Times(Vec::new()) }; 2];
    for turn in 0..=(WORK / size.max(1)).max(FEWEST) {
        sealed.iter_mut().for_each(Vec::clear);
        opened_by_hand.clear();
        let stream = || Stream::new(&*cipher, &PREFIX);
        let [plain, direct, hand] = &mut sealed;
        let seals = [
            time(|| {
                *plain = written(Encryptor::new(stream()?, core::mem::take(plain)), &data)?;
                Ok(())
            })?,
            time(|| {
                let encryptor = Encryptor::new(stream()?, core::mem::take(direct));
                *direct = written(encryptor.without_copy(), &data)?;
                Ok(())
            })?,
            time(|| Ok(seal(&by_hand, &data, hand)?))?,
        ];
        let opens = [
            time(|| Ok(Decryptor::new(stream()?, &plain[..]).read_exact(&mut opened)?))?,
            time(|| {
                let mut decryptor = Decryptor::new(stream()?, &direct[..]).without_copy();
                Ok(decryptor.read_exact(&mut opened)?)
            })?,
            time(|| Ok(open(&by_hand, hand, &mut opened_by_hand)?))?,
        ];
        if *plain != *hand || *direct != *hand || opened != data || opened_by_hand != data {
            return Err("they do not agree".into());
        }
        if turn > 0 {
            times[0].0.push(seals.map(|seconds| seconds / size as f64));
            times[1].0.push(opens.map(|seconds| seconds / size as f64));
        }
    }
    Ok(times)
}

/// A whole file.
fn written(mut encryptor: Encryptor<Vec<u8>, &Cipher>, data: &[u8]) -> io::Result<Vec<u8>> {
    encryptor.write_all(data)?;
    encryptor.finish()
}

fn seal(key: &LessSafeKey, data: &[u8], out: &mut Vec<u8>) -> Result<(), Unspecified> {
    let count = data.len().div_ceil(CHUNK_SIZE).max(1);
    for (number, chunk) in (0..).zip(data.chunks(CHUNK_SIZE)) {
        let start = out.len();
        out.extend_from_slice(chunk);
        let nonce = nonce(number, number as usize + 1 == count);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut out[start..])?;
        out.extend_from_slice(tag.as_ref());
    }
    Ok(())
}

fn open(key: &LessSafeKey, sealed: &[u8], out: &mut Vec<u8>) -> Result<(), Unspecified> {
    let count = sealed.len().div_ceil(SEALED);
    for (number, chunk) in (0..).zip(sealed.chunks(SEALED)) {
        let start = out.len();
        out.extend_from_slice(chunk);
        let nonce = nonce(number, number as usize + 1 == count);
        let length = key.open_in_place(nonce, Aad::empty(), &mut out[start..])?.len();
        out.truncate(start + length);
    }
    Ok(())
}

fn nonce(number: u32, last: bool) -> Nonce {
    let mut nonce = [0; 12];
    nonce[..7].copy_from_slice(&PREFIX);
    nonce[7..11].copy_from_slice(&number.to_be_bytes());
    nonce[11] = u8::from(last);
    Nonce::assume_unique_for_key(nonce)
}

/// Seconds of a call.
fn time(call: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    call()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Seconds a byte of the plain adaptor, the one without copy, and by hand, for each turn.
struct Times(Vec<[f64; 3]>);

impl Times {
    fn print(&self, what: &str) {
        let rate = |who: usize| median(self.0.iter().map(|turn| 1e-9 / turn[who]));
        let ratio = |who: usize| median(self.0.iter().map(|turn| turn[2] / turn[who]));
        println!(
            "  {what}: {:.2} GB/s, without copy {:.2}, by hand {:.2}: {:.2} x and {:.2} x its speed",
            rate(0),
            rate(1),
            rate(2),
            ratio(0),
            ratio(1)
        );
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
