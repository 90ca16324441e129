//! ML-KEM-768 (FIPS 203, sections 5 to 7) for groups of requests, over the functions of a level.

use core::marker::PhantomData;

use super::kernel::{Factor, Kernel};
use super::row::Poly;
use super::{Decapsulation, DecapsulationKey, Encapsulation, EncapsulationKey, SHARED};
use crate::keccak::{self, Blocks, Function, Output};
use crate::wipe;

/// How many encapsulations work together. Their matrices take 4.5 KiB each.
const ENCAPSULATIONS: usize = 4;
/// How many other operations work together.
const GROUP: usize = 8;

/// The matrix Â, row by row.
type Matrix = [Poly; 9];

/// The bytes of a sampling function's polynomials.
type Noise<const COUNT: usize> = [[u8; 128]; COUNT];

/// Polynomials of one operation, which are wiped when they are dropped.
struct Work {
    factors: [Factor; 3],
    one: Poly,
    other: Poly,
}

impl Work {
    const fn new() -> Self {
        Self { factors: [Factor::ZERO; 3], one: Poly::ZERO, other: Poly::ZERO }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        for Factor(polys) in &mut self.factors {
            polys.iter_mut().for_each(wipe_poly);
        }
        wipe_poly(&mut self.one);
        wipe_poly(&mut self.other);
    }
}

pub(super) fn wipe_poly(poly: &mut Poly) {
    wipe::words(poly.0.as_flattened_mut());
}

/// A message of a level.
type Message<'a, K> = keccak::Message<'a, Sample<'a, K>>;

/// A polynomial that is sampled from blocks of SHAKE128.
struct Sample<'a, K> {
    poly: &'a mut Poly,
    filled: usize,
    kernel: PhantomData<K>,
}

impl<K: Kernel> Blocks for Sample<'_, K> {
    fn take(&mut self, block: &[u8; 168]) -> bool {
        self.filled = K::sample(block, self.poly, self.filled);
        self.filled == 256
    }
}

/// The messages whose streams the matrix is sampled from.
fn matrix<'a, K: Kernel>(
    seed: &'a [u8],
    matrix: &'a mut Matrix,
) -> impl Iterator<Item = Message<'a, K>> {
    const PLACES: [[u8; 2]; 9] =
        [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1], [0, 2], [1, 2], [2, 2]];
    matrix.iter_mut().zip(&PLACES).map(move |(poly, place)| Message {
        function: Function::Shake128,
        head: seed,
        tail: place,
        output: Output::Blocks(Sample { poly, filled: 0, kernel: PhantomData }),
    })
}

/// The messages whose digests are noise.
fn noise<'a, K: Kernel, const COUNT: usize>(
    seed: &'a [u8],
    noise: &'a mut Noise<COUNT>,
) -> impl Iterator<Item = Message<'a, K>> {
    const NUMBERS: [[u8; 1]; 7] = [[0], [1], [2], [3], [4], [5], [6]];
    noise
        .iter_mut()
        .zip(&NUMBERS)
        .map(move |(bytes, number)| digest(Function::Shake256, seed, number, bytes))
}

const fn digest<'a, K: Kernel>(
    function: Function,
    head: &'a [u8],
    tail: &'a [u8],
    out: &'a mut [u8],
) -> Message<'a, K> {
    Message { function, head, tail, output: Output::Bytes(out) }
}

fn run<'a, K: Kernel>(columns: usize, mut messages: impl Iterator<Item = Message<'a, K>>) {
    keccak::run::<K, _>(columns, &mut messages);
}

/// Key generation: algorithms 13 and 16.
pub(super) fn generate<K: Kernel>(seeds: &[&[u8; 64]], keys: &mut [DecapsulationKey]) {
    if let ([seed], [key]) = (seeds, &mut *keys) {
        return generate_group::<K, 1>(&[seed], core::slice::from_mut(key));
    }
    for (seeds, keys) in seeds.chunks(GROUP).zip(keys.chunks_mut(GROUP)) {
        generate_group::<K, GROUP>(seeds, keys);
    }
}

fn generate_group<K: Kernel, const N: usize>(seeds: &[&[u8; 64]], keys: &mut [DecapsulationKey]) {
    let columns = K::columns(keys.len());
    let mut seeds_of_parts = [[0; 64]; N];
    let jobs = seeds.iter().zip(&mut seeds_of_parts);
    run::<K>(
        columns,
        jobs.map(|(seed, parts)| digest(Function::Sha3_512, &seed[..32], &[3], parts)),
    );

    let mut bytes = [[[0; 128]; 6]; N];
    let matrices = keys.iter_mut().zip(&seeds_of_parts);
    let matrices = matrices.flat_map(|(key, parts)| matrix::<K>(&parts[..32], &mut key.matrix));
    let noises = seeds_of_parts.iter().zip(&mut bytes).take(seeds.len());
    let noises = noises.flat_map(|(parts, bytes)| noise(&parts[32..], bytes));
    run::<K>(columns, matrices.chain(noises));

    let mut work = Work::new();
    for (((key, seed), parts), noise) in keys.iter_mut().zip(seeds).zip(&seeds_of_parts).zip(&bytes)
    {
        let (d, z) = seed.split_at(32);
        key.seed.copy_from_slice(d);
        key.rejection.copy_from_slice(z);
        key.has_seed = true;
        for ((poly, noise), factor) in key.secret.iter_mut().zip(noise).zip(&mut work.factors) {
            K::noise(noise, poly);
            K::forward(poly);
            K::factor(poly, factor);
        }
        let (public, rho) = key.public.0.as_chunks_mut();
        for ((public, row), noise) in
            public.iter_mut().zip(key.matrix.as_chunks().0).zip(&noise[3..])
        {
            let row: &[Poly; 3] = row;
            K::product(row.each_ref(), &work.factors, &mut work.one);
            K::noise(noise, &mut work.other);
            K::forward(&mut work.other);
            K::put_public(&work.one, &work.other, public);
        }
        rho.copy_from_slice(&parts[..32]);
    }
    run::<K>(
        columns,
        keys.iter_mut().map(|key| digest(Function::Sha3_256, &key.public.0, &[], &mut key.hash)),
    );
    wipe::words(seeds_of_parts.as_flattened_mut());
    wipe::words(bytes.as_flattened_mut().as_flattened_mut());
}

/// Sets up a key from its encoding; whether it is one (section 7.3).
pub(super) fn import<K: Kernel>(bytes: &[u8; 2400], key: &mut DecapsulationKey) -> bool {
    let (secret, rest) = bytes.split_at(1152);
    let (public, rest) = rest.split_at(1184);
    let (hash, rejection) = rest.split_at(32);
    key.public.0.copy_from_slice(public);
    key.rejection.copy_from_slice(rejection);
    key.has_seed = false;
    wipe::memory(&mut key.seed);
    for (poly, bytes) in key.secret.iter_mut().zip(secret.as_chunks().0) {
        K::get12(bytes, poly);
    }
    let hashed = digest(Function::Sha3_256, &key.public.0, &[], &mut key.hash);
    let rows = matrix::<K>(&key.public.0[1152..], &mut key.matrix);
    run::<K>(K::columns(1), core::iter::once(hashed).chain(rows));
    key.hash == hash && EncapsulationKey::is_canonical(&key.public.0)
}

/// Encodes a key.
pub(super) fn export<K: Kernel>(key: &DecapsulationKey, bytes: &mut [u8; 2400]) {
    let (secret, rest) = bytes.split_at_mut(1152);
    for (poly, bytes) in key.secret.iter().zip(secret.as_chunks_mut().0) {
        K::put12(poly, bytes);
    }
    let (public, rest) = rest.split_at_mut(1184);
    let (hash, rejection) = rest.split_at_mut(32);
    public.copy_from_slice(&key.public.0);
    hash.copy_from_slice(&key.hash);
    rejection.copy_from_slice(&key.rejection);
}

/// Encapsulation: algorithms 14 and 17.
pub(super) fn encapsulate<K: Kernel>(
    jobs: &[Encapsulation<'_>],
    ciphertexts: &mut [[u8; 1088]],
    secrets: &mut [[u8; SHARED]],
) {
    if jobs.len() == 1 {
        return encapsulate_group::<K, 1>(jobs, ciphertexts, secrets);
    }
    let outputs = ciphertexts.chunks_mut(ENCAPSULATIONS).zip(secrets.chunks_mut(ENCAPSULATIONS));
    for (jobs, (ciphertexts, secrets)) in jobs.chunks(ENCAPSULATIONS).zip(outputs) {
        encapsulate_group::<K, ENCAPSULATIONS>(jobs, ciphertexts, secrets);
    }
}

fn encapsulate_group<K: Kernel, const N: usize>(
    jobs: &[Encapsulation<'_>],
    ciphertexts: &mut [[u8; 1088]],
    secrets: &mut [[u8; SHARED]],
) {
    let columns = K::columns(jobs.len());
    let mut matrices = [const { [Poly::ZERO; 9] }; N];
    let mut hashes = [[0; 32]; N];
    let hashed = jobs.iter().zip(&mut hashes);
    let hashed = hashed.map(|(job, hash)| digest(Function::Sha3_256, &job.key.0, &[], hash));
    let rows = jobs.iter().zip(&mut matrices);
    let rows = rows.flat_map(|(job, rows)| matrix::<K>(&job.key.0[1152..], rows));
    run::<K>(columns, hashed.chain(rows));

    let mut parts = [[0; 64]; N];
    let mixed = jobs.iter().zip(&hashes).zip(&mut parts);
    let mixed = mixed.map(|((job, hash), parts)| mix(job.randomness, hash, parts));
    run::<K>(columns, mixed);

    let mut bytes = [[[0; 128]; 7]; N];
    let noises = parts.iter().zip(&mut bytes).take(jobs.len());
    let noises = noises.flat_map(|(parts, bytes)| noise(&parts[32..], bytes));
    run::<K>(columns, noises);

    let mut work = Work::new();
    for (((job, matrix), bytes), ciphertext) in
        jobs.iter().zip(&matrices).zip(&bytes).zip(ciphertexts)
    {
        encrypt::<K>(matrix, job.key, bytes, job.randomness, ciphertext, &mut work);
    }
    for (secret, parts) in secrets.iter_mut().zip(&parts) {
        secret.copy_from_slice(&parts[..32]);
    }
    wipe::words(parts.as_flattened_mut());
    wipe::words(bytes.as_flattened_mut().as_flattened_mut());
}

/// The shared secret, and the seed of the noise: G.
const fn mix<'a, K: Kernel>(
    message: &'a [u8; 32],
    hash: &'a [u8; 32],
    parts: &'a mut [u8; 64],
) -> Message<'a, K> {
    digest(Function::Sha3_512, message, hash, parts)
}

/// Encryption of a message: algorithm 14.
fn encrypt<K: Kernel>(
    matrix: &Matrix,
    key: &EncapsulationKey,
    noise: &Noise<7>,
    message: &[u8; 32],
    ciphertext: &mut [u8; 1088],
    Work { factors, one, other }: &mut Work,
) {
    for (noise, factor) in noise.iter().zip(&mut *factors) {
        K::noise(noise, one);
        K::forward(one);
        K::factor(one, factor);
    }
    let (vector, last) = ciphertext.as_chunks_mut::<320>();
    for (column, bytes) in vector.iter_mut().enumerate() {
        let column_of_matrix = [&matrix[column], &matrix[column + 3], &matrix[column + 6]];
        K::inverse_product(column_of_matrix, factors, one);
        K::noise(&noise[column + 3], other);
        K::put10(one, other, bytes);
    }
    let mut public = [Poly::ZERO; 3];
    for (poly, bytes) in public.iter_mut().zip(key.0.as_chunks().0) {
        K::get12(bytes, poly);
    }
    K::inverse_product(public.each_ref(), factors, one);
    K::noise(&noise[6], other);
    let last = last.first_chunk_mut().expect("128 of 1088 bytes are left");
    K::put4(one, other, message, last);
}

/// Decryption of a message: algorithm 15.
fn decrypt<K: Kernel>(
    key: &DecapsulationKey,
    ciphertext: &[u8; 1088],
    message: &mut [u8; 32],
    Work { factors, one, .. }: &mut Work,
) {
    let (vector, last) = ciphertext.as_chunks::<320>();
    for (bytes, factor) in vector.iter().zip(&mut *factors) {
        K::get10(bytes, one);
        K::forward(one);
        K::factor(one, factor);
    }
    K::inverse_product(key.secret.each_ref(), factors, one);
    let last = last.first_chunk().expect("128 of 1088 bytes are left");
    K::message(last, one, message);
}

/// Decapsulation: algorithm 18.
pub(super) fn decapsulate<K: Kernel>(jobs: &[Decapsulation<'_>], secrets: &mut [[u8; SHARED]]) {
    if jobs.len() == 1 {
        return decapsulate_group::<K, 1>(jobs, secrets);
    }
    for (jobs, secrets) in jobs.chunks(GROUP).zip(secrets.chunks_mut(GROUP)) {
        decapsulate_group::<K, GROUP>(jobs, secrets);
    }
}

fn decapsulate_group<K: Kernel, const N: usize>(
    jobs: &[Decapsulation<'_>],
    secrets: &mut [[u8; SHARED]],
) {
    let columns = K::columns(jobs.len());
    let mut work = Work::new();
    let mut messages = [[0; 32]; N];
    for (job, message) in jobs.iter().zip(&mut messages) {
        decrypt::<K>(job.key, job.ciphertext, message, &mut work);
    }

    let mut parts = [[0; 64]; N];
    let mixed = jobs.iter().zip(&messages).zip(&mut parts);
    let mixed = mixed.map(|((job, message), parts)| mix(message, &job.key.hash, parts));
    run::<K>(columns, mixed);

    // The secrets of rejection are computed where the others will be.
    let mut bytes = [[[0; 128]; 7]; N];
    let rejections = jobs.iter().zip(&mut *secrets).map(|(job, secret)| {
        digest(Function::Shake256, &job.key.rejection, job.ciphertext, secret)
    });
    let noises = parts.iter().zip(&mut bytes).take(jobs.len());
    let noises = noises.flat_map(|(parts, bytes)| noise(&parts[32..], bytes));
    run::<K>(columns, rejections.chain(noises));

    let mut ciphertext = [0; 1088];
    for ((((job, message), bytes), parts), secret) in
        jobs.iter().zip(&messages).zip(&bytes).zip(&parts).zip(secrets)
    {
        let key = job.key;
        encrypt::<K>(&key.matrix, &key.public, bytes, message, &mut ciphertext, &mut work);
        let mask = difference(job.ciphertext, &ciphertext);
        for (secret, accepted) in secret.iter_mut().zip(parts) {
            *secret = *secret & mask | accepted & !mask;
        }
    }
    wipe::memory(&mut ciphertext);
    wipe::words(messages.as_flattened_mut());
    wipe::words(parts.as_flattened_mut());
    wipe::words(bytes.as_flattened_mut().as_flattened_mut());
}

/// All bits if two ciphertexts differ, none if they are the same, in constant time.
fn difference(one: &[u8; 1088], other: &[u8; 1088]) -> u8 {
    let words = one.as_chunks().0.iter().zip(other.as_chunks().0);
    let difference = words.fold(0, |difference, (one, other)| {
        difference | u64::from_ne_bytes(*one) ^ u64::from_ne_bytes(*other)
    });
    let difference = core::hint::black_box(difference);
    // The highest bit is set if a word or its negation is negative: if it is not zero.
    let bit = (difference | difference.wrapping_neg()) >> 63;
    let [low, ..] = core::hint::black_box(bit).wrapping_neg().to_le_bytes();
    low
}
