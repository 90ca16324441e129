//! Operations in lanes.

use core::ptr;

use rand::Rng as _;

use super::Library;
use crate::array::array;
use crate::loops::rounds;
use crate::public_key::{KeyPair, Operation, PublicKey};
use crate::{Failed, Job, Run};

/// The lanes of a call.
const LANES: usize = 8;
/// A number of P-256, its lowest word first.
type Number = [u64; 4];

/// A key in the formats of the library.
struct Key {
    /// The private key, or the seed.
    bytes: [u8; 32],
    /// The public key of Ed25519.
    public: [u8; 32],
    /// The private key of P-256.
    scalar: Number,
    /// The public point.
    point: [Number; 2],
}

impl Key {
    fn new(operation: Operation, key: &KeyPair<'_>) -> Result<Self, Failed> {
        if operation.key().is_none() {
            return Ok(Self {
                bytes: [0; 32],
                public: [0; 32],
                scalar: [0; 4],
                point: [[0; 4]; 2],
            });
        }
        let bytes = array::<32>(key.private)?;
        let is_point = key.public.len() == 65;
        let point = if is_point { point(key.public)? } else { [[0; 4]; 2] };
        let public = if is_point { [0; 32] } else { array(key.public)? };
        Ok(Self { bytes, public, scalar: number(&bytes), point })
    }
}

/// A number of its bytes, the highest first.
fn number(bytes: &[u8; 32]) -> Number {
    let (words, _) = bytes.as_chunks::<8>();
    let mut number = [0; 4];
    for (to, word) in number.iter_mut().zip(words.iter().rev()) {
        *to = u64::from_be_bytes(*word);
    }
    number
}

/// The same the other way.
fn write(number: &Number, bytes: &mut [u8]) {
    for (to, word) in bytes.chunks_exact_mut(8).zip(number.iter().rev()) {
        to.copy_from_slice(&word.to_be_bytes());
    }
}

/// The coordinates of a point that is not compressed.
fn point(bytes: &[u8]) -> Result<[Number; 2], Failed> {
    let [4, coordinates @ ..] = bytes else { return Err(Failed) };
    let (x, y) = coordinates.split_at_checked(32).ok_or(Failed)?;
    Ok([number(&array(x)?), number(&array(y)?)])
}

/// One operation, eight at a time.
pub(super) struct Lanes {
    library: &'static Library,
    operation: Operation,
    keys: Vec<Key>,
    /// The private key that was generated last.
    last: Option<[u8; 32]>,
}

impl Lanes {
    pub(super) fn new(
        library: &'static Library,
        operation: Operation,
        keys: &[KeyPair<'_>],
    ) -> Option<Self> {
        let keys: Vec<Key> =
            keys.iter().map(|key| Key::new(operation, key)).collect::<Result<_, _>>().ok()?;
        (!keys.is_empty()).then_some(Self { library, operation, keys, last: None })
    }

    /// Up to eight operations.
    fn call(&mut self, jobs: &mut [Job<'_>]) -> Result<(), Failed> {
        let mut keys = [const { None }; LANES];
        for (to, job) in keys.iter_mut().zip(&*jobs) {
            *to = Some(self.keys.get(job.session).ok_or(Failed)?);
        }
        let keys = Keys(keys);
        let count = jobs.len();
        let functions = &self.library.functions;
        let digests = lanes(jobs, |job| job.digest.as_ptr());
        match self.operation {
            Operation::X25519Generate => {
                let private = random();
                let outputs = lanes_mut(jobs, 0);
                self.last = private.get(count - 1).copied();
                let private = private.each_ref().map(start);
                // SAFETY: all pointers lead to 32 bytes, or are null.
                let status =
                    unsafe { (functions.x25519_public_key)(outputs.as_ptr(), private.as_ptr()) };
                check(status, count)
            }
            Operation::X25519Derive => {
                let (outputs, inputs) = (lanes_mut(jobs, 0), lanes(jobs, |job| job.input.as_ptr()));
                let private = keys.of(|key| key.bytes.as_ptr());
                // SAFETY: as above.
                let status = unsafe {
                    (functions.x25519)(outputs.as_ptr(), private.as_ptr(), inputs.as_ptr())
                };
                check(status, count)
            }
            Operation::Ed25519Sign | Operation::Ed25519Verify => {
                let messages = lanes(jobs, |job| job.message.as_ptr());
                let mut lengths = [0; LANES];
                for (to, job) in lengths.iter_mut().zip(&*jobs) {
                    *to = u32::try_from(job.message.len()).or(Err(Failed))?;
                }
                let halves = [lanes_mut(jobs, 0), lanes_mut(jobs, 32)];
                let public = keys.of(|key| key.public.as_ptr());
                let private = keys.of(|key| key.bytes.as_ptr());
                if self.operation == Operation::Ed25519Sign {
                    // SAFETY: keys and halves have 32 bytes, messages their lengths; others are
                    // null.
                    let status = unsafe {
                        (functions.ed25519_sign)(
                            halves[0].as_ptr(),
                            halves[1].as_ptr(),
                            messages.as_ptr(),
                            lengths.as_ptr(),
                            private.as_ptr(),
                            public.as_ptr(),
                        )
                    };
                    return check(status, count);
                }
                let halves = halves.map(|half| half.map(<*mut u8>::cast_const));
                // SAFETY: as above.
                let status = unsafe {
                    (functions.ed25519_verify)(
                        halves[0].as_ptr(),
                        halves[1].as_ptr(),
                        messages.as_ptr(),
                        lengths.as_ptr(),
                        public.as_ptr(),
                    )
                };
                check(status, count)
            }
            Operation::P256Generate => {
                let bytes = random();
                self.last = bytes.get(count - 1).copied();
                let private = bytes.each_ref().map(number);
                let private = private.each_ref().map(start);
                let mut points = [[[0; 4]; LANES]; 2];
                let pointers = points
                    .each_mut()
                    .map(|coordinates| coordinates.each_mut().map(|it| it.as_mut_ptr()));
                // SAFETY: all pointers lead to four words; affine coordinates are two.
                let status = unsafe {
                    (functions.p256_public_key)(
                        pointers[0].as_ptr(),
                        pointers[1].as_ptr(),
                        ptr::null(),
                        private.as_ptr(),
                        ptr::null_mut(),
                    )
                };
                check(status, count)?;
                for (at, job) in jobs.iter_mut().enumerate() {
                    let Some((head, rest)) = job.output.split_first_mut() else { continue };
                    *head = 4;
                    for (to, coordinates) in rest.chunks_exact_mut(32).zip(&points) {
                        write(&coordinates[at], to);
                    }
                }
                Ok(())
            }
            Operation::P256Derive => {
                let mut points = [[[0; 4]; LANES]; 2];
                for (at, job) in jobs.iter().enumerate() {
                    [points[0][at], points[1][at]] = point(job.input)?;
                }
                let pointers =
                    points.each_ref().map(|half| used(half.each_ref().map(start), count));
                let outputs = lanes_mut(jobs, 0);
                let private = keys.of(|key| key.scalar.as_ptr());
                // SAFETY: numbers have four words and secrets 32 bytes; others are null.
                let status = unsafe {
                    (functions.p256_ecdh)(
                        outputs.as_ptr(),
                        private.as_ptr(),
                        pointers[0].as_ptr(),
                        pointers[1].as_ptr(),
                        ptr::null(),
                        ptr::null_mut(),
                    )
                };
                check(status, count)
            }
            Operation::P256Sign => self.sign(&keys, jobs, 0),
            Operation::P256Verify => {
                let halves = [lanes_mut(jobs, 0), lanes_mut(jobs, 32)]
                    .map(|half| half.map(<*mut u8>::cast_const));
                let points = [0, 1].map(|at: usize| keys.of(|key| key.point[at].as_ptr()));
                // SAFETY: halves and digests have 32 bytes, numbers four words; others are null.
                let status = unsafe {
                    (functions.p256_verify)(
                        halves[0].as_ptr(),
                        halves[1].as_ptr(),
                        digests.as_ptr(),
                        points[0].as_ptr(),
                        points[1].as_ptr(),
                        ptr::null(),
                        ptr::null_mut(),
                    )
                };
                check(status, count)
            }
            Operation::Server => {
                let (shares, secrets) = (lanes_mut(jobs, 0), lanes_mut(jobs, 32));
                let inputs = lanes(jobs, |job| job.input.as_ptr());
                let private = random();
                let private = used(private.each_ref().map(start), count);
                // SAFETY: all pointers lead to 32 bytes, or are null.
                let status =
                    unsafe { (functions.x25519_public_key)(shares.as_ptr(), private.as_ptr()) };
                check(status, count)?;
                // SAFETY: as above.
                let status = unsafe {
                    (functions.x25519)(secrets.as_ptr(), private.as_ptr(), inputs.as_ptr())
                };
                check(status, count)?;
                self.sign(&keys, jobs, 64)
            }
            _ => Err(Failed),
        }
    }

    /// ECDSA of the digests, to this place of the outputs.
    fn sign(&self, keys: &Keys<'_>, jobs: &mut [Job<'_>], at: usize) -> Result<(), Failed> {
        let count = jobs.len();
        let digests = lanes(jobs, |job| job.digest.as_ptr());
        let halves = [lanes_mut(jobs, at), lanes_mut(jobs, at + 32)];
        let nonces = random().each_ref().map(number);
        let nonces = used(nonces.each_ref().map(start), count);
        let private = keys.of(|key| key.scalar.as_ptr());
        // SAFETY: halves and digests have 32 bytes, numbers four words; others are null.
        let status = unsafe {
            (self.library.functions.p256_sign)(
                halves[0].as_ptr(),
                halves[1].as_ptr(),
                digests.as_ptr(),
                nonces.as_ptr(),
                private.as_ptr(),
                ptr::null_mut(),
            )
        };
        check(status, count)
    }
}

/// The keys of a call.
struct Keys<'k>([Option<&'k Key>; LANES]);

impl Keys<'_> {
    fn of<T>(&self, part: impl Fn(&Key) -> *const T) -> [*const T; LANES] {
        self.0.map(|key| key.map_or(ptr::null(), &part))
    }
}

/// A pointer of each job; null for lanes without one.
fn lanes<T>(jobs: &[Job<'_>], part: impl Fn(&Job<'_>) -> *const T) -> [*const T; LANES] {
    let mut lanes = [ptr::null(); LANES];
    for (lane, job) in lanes.iter_mut().zip(jobs) {
        *lane = part(job);
    }
    lanes
}

/// A place of each job's output, which is long enough.
fn lanes_mut(jobs: &mut [Job<'_>], at: usize) -> [*mut u8; LANES] {
    let mut lanes = [ptr::null_mut(); LANES];
    for (lane, job) in lanes.iter_mut().zip(jobs) {
        *lane = job.output.as_mut_ptr().wrapping_add(at);
    }
    lanes
}

/// The place of an array.
const fn start<T, const N: usize>(array: &[T; N]) -> *const T {
    array.as_ptr()
}

/// The first of eight pointers, and null.
fn used<T>(mut lanes: [*const T; LANES], count: usize) -> [*const T; LANES] {
    lanes.iter_mut().skip(count).for_each(|lane| *lane = ptr::null());
    lanes
}

/// Random private keys. One of 2^32 is none of P-256, and the library refuses it.
fn random() -> [[u8; 32]; LANES] {
    let mut bytes = [[0; 32]; LANES];
    rand::rng().fill_bytes(bytes.as_flattened_mut());
    bytes
}

/// Whether the first lanes have no error.
fn check(status: u32, count: usize) -> Result<(), Failed> {
    let unused = 4 * (LANES - count.min(LANES));
    Failed::unless(u64::from(status) << unused & u64::from(u32::MAX) == 0)
}

impl PublicKey for Lanes {
    fn jobs(&mut self, jobs: &mut [Job<'_>], run: Run<'_>) -> Result<(), Failed> {
        let batch = run.batch.unwrap_or(LANES);
        let is_good = jobs.iter().all(|job| self.operation.fits(job));
        Failed::unless(is_good && batch > 0 && run.keys.is_none())?;
        rounds(jobs.len(), run.requests, |count| {
            for batch in jobs[..count].chunks_mut(batch) {
                for jobs in batch.chunks_mut(LANES) {
                    self.call(jobs)?;
                }
            }
            Ok(())
        })
    }

    fn shared(&mut self, input: &[u8], secret: &mut [u8]) -> Result<(), Failed> {
        let private = self.last.ok_or(Failed)?;
        let operation = match self.operation {
            Operation::X25519Generate => Operation::X25519Derive,
            Operation::P256Generate => Operation::P256Derive,
            _ => return Err(Failed),
        };
        // The public key is not used.
        let public = if operation == Operation::P256Derive { input } else { &private };
        let key = KeyPair { private: &private, public };
        let mut lanes = Self::new(self.library, operation, &[key]).ok_or(Failed)?;
        let job = Job { session: 0, input, message: &[], digest: &[0; 32], output: secret };
        lanes.jobs(&mut [job], Run::of(1))
    }
}
