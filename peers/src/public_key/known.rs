//! Answers that are known, computed by another library than those that are measured with Rust, and
//! the trial of a peer.

use super::{Operation, PublicKey};
use crate::peer::Kind;
use crate::reference::{Asked, Key};
use crate::{Job, KeyPair, Peer, Run};

/// A key with a known answer.
struct Known {
    private: &'static [u8],
    public: &'static [u8],
    input: &'static [u8],
    output: &'static [u8],
}

/// What is signed.
const MESSAGE: &[u8] = b"a message";
/// Its digest.
const DIGEST: [u8; 32] = bytes("f53c09ca39717a45c62d9aca8f8113eddbfd5f81dcab0b33b1c1834075225e68");

/// So many bytes in hexadecimal.
const fn bytes<const N: usize>(mut hex: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < N {
        let (byte, rest) = hex.split_at(2);
        match u8::from_str_radix(byte, 16) {
            Ok(byte) => bytes[at] = byte,
            Err(_) => panic!("hexadecimal digits"),
        }
        (at, hex) = (at + 1, rest);
    }
    assert!(hex.is_empty(), "there are as many bytes");
    bytes
}

const X25519: Known = Known {
    private: &bytes::<32>("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
    public: &bytes::<32>("34a7ca8bbded4e3f24c60ecb655f9235ac1b12d97aea698c554df8bf1d950f2d"),
    input: &bytes::<32>("b49f0c127818d83f1f712db6a7ffef49bff936211f49522a0f4fea01bd38d018"),
    output: &bytes::<32>("03338ef2b61cc30f3c79d3fe079e5d0503d46f1535f7ba781c4d987797972816"),
};

const ED25519: Known = Known {
    private: &bytes::<32>("2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6"),
    public: &bytes::<32>("2205b70216c0f4ca46301ac84029229db6fd68c34b8aac4f0d0966c1b3975f2b"),
    input: &[],
    output: &bytes::<64>(
        "\
        2bb9bffdac436d79aef5b972929208eb528cf44e92a109b11274e7d523ca8254fbcd0ecca2a1\
        aa9298eb06e5338c6eed193c2996932ca1e0f3da7c4220ba0907",
    ),
};

const P256: Known = Known {
    private: &bytes::<32>("18ac3e7343f016890c510e93f935261169d9e3f565436429830faf0934f4f8e4"),
    public: &bytes::<65>(
        "\
        04f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446f8e9cee1a0\
        c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
    ),
    input: &bytes::<65>(
        "\
        04227e6250f18f56183b12d2a946d88e976bec8353eea0dcdcb82c7df644899da4adb9d17d75\
        86d3b1a89f1f5920941694ea5d415725e0c415d6b984e05c814279",
    ),
    output: &bytes::<32>("c14ff7d84e83aebde3ba9a69db3bdcf692fccfecac55e47ca016a926b1dbd484"),
};

const ECDSA: Known = Known {
    private: &bytes::<32>("18ac3e7343f016890c510e93f935261169d9e3f565436429830faf0934f4f8e4"),
    public: &bytes::<65>(
        "\
        04f15a7f9f58279004e3af49350e2ba8660caedf529064bcf32e775bc7378f0446f8e9cee1a0\
        c489bdcdd6a0d4fe966cf9905aa4e48b2d3cfc63f3aa78cd961a8d",
    ),
    input: &[],
    output: &bytes::<64>(
        "\
        7c4a143e0d119841f61060b22d8bdb294a2be474467c3afa59d358024e4fbc2e12f59cc22f09\
        6337d506c185709525a625f0344d1145cb6cb18fcac9eb0496bb",
    ),
};

impl Known {
    /// The answer of an operation, if one is known.
    const fn of(operation: Operation) -> Option<&'static Self> {
        match operation {
            Operation::X25519Derive => Some(&X25519),
            Operation::Ed25519Sign | Operation::Ed25519Verify => Some(&ED25519),
            Operation::P256Derive => Some(&P256),
            Operation::P256Verify => Some(&ECDSA),
            _ => None,
        }
    }

    /// Whether a peer gives it, or accepts it.
    fn is_given(&self, peer: &Peer<dyn PublicKey>, operation: Operation) -> Option<bool> {
        let &Self { private, public, input, output } = self;
        let mut by = peer.with_key_pairs(&[KeyPair { private, public }])?;
        let mut made = if operation.is_check() { output.to_vec() } else { vec![0; output.len()] };
        let (message, digest) = (MESSAGE, &DIGEST);
        let job = Job { session: 0, input, message, digest, output: &mut made };
        by.jobs(&mut [job], Run::of(1)).ok()?;
        Some(made == output)
    }
}

/// Whether a peer gives answers that are known, and right ones to random questions.
fn works(peer: &Peer<dyn PublicKey>, operation: Operation) -> Option<bool> {
    if let Some(known) = Known::of(operation)
        && !known.is_given(peer, operation)?
    {
        return Some(false);
    }
    let key = operation.key().map(Key::generate);
    let none = KeyPair { private: &[], public: &[] };
    let mut by = peer.with_key_pairs(&[key.as_ref().map_or(none, Key::pair)])?;
    let mut asked = Asked::new(operation, key.as_ref()).ok()?;
    Some(asked.works(&mut *by, key.as_ref()))
}

impl Kind for dyn PublicKey {
    fn fault(peer: &Peer<Self>) -> Option<String> {
        let operation = peer.operation()?;
        let works = works(peer, operation).unwrap_or(false);
        (!works).then(|| format!("has no working {} here", peer.subject))
    }
}
