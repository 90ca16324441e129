//! Every entry point that takes a secret, at every length at which kernels change their ways.

use core::hint::black_box;

use inout::InOutBuf;
use lanecrypt_kernels::aes::{self, Aes, AesCtr};
use lanecrypt_kernels::chacha::{self, ChaCha, Counter64, Form, Ietf, Key};
use lanecrypt_kernels::salsa::{self, Salsa};
use lanecrypt_kernels::{Isa, Level, Seek, StreamCore};

use crate::secrets::Secrets;

/// One algorithm.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    /// The levels that have code of their own for it.
    pub(crate) levels: &'static [Level],
    /// Runs all of it.
    pub(crate) run: fn(Isa, &mut Secrets),
}

pub(crate) const ALL: [Kernel; 12] = [
    Kernel { name: "chacha8-djb", levels: chacha::KERNELS, run: chacha::<8, Counter64> },
    Kernel { name: "chacha12-djb", levels: chacha::KERNELS, run: chacha::<12, Counter64> },
    Kernel { name: "chacha20-djb", levels: chacha::KERNELS, run: chacha::<20, Counter64> },
    Kernel { name: "chacha8-ietf", levels: chacha::KERNELS, run: chacha::<8, Ietf> },
    Kernel { name: "chacha12-ietf", levels: chacha::KERNELS, run: chacha::<12, Ietf> },
    Kernel { name: "chacha20-ietf", levels: chacha::KERNELS, run: chacha::<20, Ietf> },
    Kernel { name: "salsa20/8", levels: salsa::KERNELS, run: salsa::<8> },
    Kernel { name: "salsa20/12", levels: salsa::KERNELS, run: salsa::<12> },
    Kernel { name: "salsa20/20", levels: salsa::KERNELS, run: salsa::<20> },
    Kernel { name: "aes-128", levels: aes::KERNELS, run: aes128 },
    Kernel { name: "aes-192", levels: aes::KERNELS, run: aes192 },
    Kernel { name: "aes-256", levels: aes::KERNELS, run: aes256 },
];

/// Ends of blocks, of registers and of the widths of all kernels, and next to them.
const LENGTHS: [usize; 17] =
    [0, 1, 16, 17, 63, 64, 65, 129, 192, 257, 320, 384, 448, 513, 1024, 1111, 1600];

/// Requests that reach past the end of the counter's lower part, in each form of a kernel.
const CROSSING: [usize; 3] = [449, 640, 1111];

/// Nonces of both forms; they are hidden too, for ChaCha takes them as it takes the key.
trait Nonce: Form {
    fn hidden(secrets: &mut Secrets) -> Self::Nonce;
}

impl Nonce for Counter64 {
    fn hidden(secrets: &mut Secrets) -> [u8; 8] {
        secrets.bytes()
    }
}

impl Nonce for Ietf {
    fn hidden(secrets: &mut Secrets) -> [u8; 12] {
        secrets.bytes()
    }
}

fn chacha<const ROUNDS: usize, F: Nonce>(isa: Isa, secrets: &mut Secrets) {
    counted(secrets, |key, secrets| ChaCha::<ROUNDS, F>::new(isa, key, &F::hidden(secrets)));
}

fn salsa<const ROUNDS: usize>(isa: Isa, secrets: &mut Secrets) {
    counted(secrets, |key, secrets| Salsa::<ROUNDS>::new(isa, key, &secrets.bytes()));
}

/// Both sizes of key; the second time the lower word of the counter runs over in the middle.
fn counted<C: Seek>(secrets: &mut Secrets, open: impl Fn(&Key, &mut Secrets) -> C) {
    let long = Key::from(&secrets.bytes::<32>());
    let short = Key::from(&secrets.bytes::<16>());
    for (key, first, lengths) in [(short, 0, &LENGTHS[..]), (long, (1 << 32) - 7, &CROSSING)] {
        let mut core = open(&key, secrets);
        streams(&mut core, first, lengths, secrets);
    }
}

macro_rules! key_size {
    ($name:ident, $bits:literal) => {
        fn $name(isa: Isa, secrets: &mut Secrets) {
            let key = secrets.bytes();
            let cipher = Aes::<$bits>::new(isa, &key);
            let (mut data, mut out) = ([[0; 16]; 40], [[0; 16]; 40]);
            for blocks in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40] {
                let (data, out) = (&mut data[..blocks], &mut out[..blocks]);
                secrets.fill(data.as_flattened_mut());
                cipher.encrypt((&mut *data).into());
                cipher.encrypt(InOutBuf::new(data, out).expect("as long"));
                secrets.reveal(out.as_flattened_mut());
            }
            // From a counter whose lower half runs over in the middle; counters are public. The
            // last is long enough for the kernels that share work among blocks.
            let crossing = (u128::from(u64::MAX) - 25).to_be_bytes();
            for (nonce, lengths) in
                [([0; 16], &LENGTHS[..]), (crossing, &CROSSING), ([7; 16], &[16 * 1024 + 1500])]
            {
                let mut core = AesCtr::<$bits>::new(isa, &key, &nonce);
                streams(&mut core, 0, lengths, secrets);
            }
        }
    };
}

key_size!(aes128, 128);
key_size!(aes192, 192);
key_size!(aes256, 256);

/// Requests of all `lengths` from block `first` on: written, XORed in place, XORed elsewhere.
fn streams(core: &mut impl Seek, first: u64, lengths: &[usize], secrets: &mut Secrets) {
    let longest = lengths.iter().max().expect("there are lengths");
    let (mut data, mut out) = (vec![0; *longest], vec![0; *longest]);
    for &length in lengths {
        let (data, out) = (&mut data[..length], &mut out[..length]);
        core.seek(first);
        core.keystream(out);
        secrets.reveal(out);
        secrets.fill(data);
        core.seek(first);
        core.xor((&mut *data).into());
        core.xor(InOutBuf::new(data, out).expect("as long"));
        secrets.reveal(out);
        black_box(core.remaining());
    }
}
