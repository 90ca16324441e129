//! ChaCha20-Poly1305 and XChaCha20-Poly1305: known answers, and every instruction set against
//! another implementation.

use chacha20poly1305 as other;
use inout::InOutBuf;
use lanecrypt_kernels::chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::{Aead, Incremental, Isa};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

use other::aead::{AeadInOut, KeyInit};

/// Lengths of associated data: at and next to a block's, and those of records.
const AADS: [usize; 8] = [0, 1, 8, 12, 13, 16, 17, 64];

/// One message, as another implementation seals it.
struct Case<const NONCE: usize> {
    key: [u8; 32],
    nonce: [u8; NONCE],
    aad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    tag: [u8; 16],
}

impl Case<12> {
    fn new(numbers: &mut Numbers, aad: usize, len: usize) -> Self {
        let (key, nonce) = (numbers.array(), numbers.array());
        let (aad, text) = (numbers.bytes(aad), numbers.bytes(len));
        let mut sealed = text.clone();
        let cipher = other::ChaCha20Poly1305::new(&key.into());
        let tag = cipher.encrypt_inout_detached(&nonce.into(), &aad, (&mut sealed[..]).into());
        let tag = tag.expect("short enough").into();
        Self { key, nonce, aad, text, sealed, tag }
    }
}

impl Case<24> {
    fn new(numbers: &mut Numbers, aad: usize, len: usize) -> Self {
        let (key, nonce) = (numbers.array(), numbers.array());
        let (aad, text) = (numbers.bytes(aad), numbers.bytes(len));
        let mut sealed = text.clone();
        let cipher = other::XChaCha20Poly1305::new(&key.into());
        let tag = cipher.encrypt_inout_detached(&nonce.into(), &aad, (&mut sealed[..]).into());
        let tag = tag.expect("short enough").into();
        Self { key, nonce, aad, text, sealed, tag }
    }
}

impl<const NONCE: usize> Case<NONCE> {
    /// Seals and opens at every level: from one buffer to another, then in place, `offset` bytes
    /// into a buffer of which no other byte may change.
    fn check<C: Aead<Key = [u8; 32], Nonce = [u8; NONCE]>>(&self, offset: usize) {
        for isa in levels() {
            let cipher = C::new(isa, &self.key);
            self.one(isa, offset, &self.text, &self.sealed, |data| {
                cipher.seal(&self.nonce, &self.aad, data)
            });
            self.one(isa, offset, &self.sealed, &self.text, |data| {
                cipher.open(&self.nonce, &self.aad, data, &[0; 16])
            });
        }
    }

    fn one(
        &self,
        isa: Isa,
        offset: usize,
        from: &[u8],
        to: &[u8],
        run: impl Fn(InOutBuf<'_, '_, u8>) -> [u8; 16],
    ) {
        const GUARD: usize = 64;
        let (len, aad) = (from.len(), self.aad.len());
        let place = || format!("{len} bytes, {aad} associated, offset {offset}, {isa:?}");
        let mut buffer = vec![0x5a; offset + len + GUARD];
        let inside = offset..offset + len;

        let tag = run(InOutBuf::new(from, &mut buffer[inside.clone()]).expect("equal lengths"));
        assert!(tag == self.tag, "tag apart, {}", place());
        assert!(buffer[inside.clone()] == *to, "data apart, {}", place());

        buffer[inside.clone()].copy_from_slice(from);
        let tag = run((&mut buffer[inside.clone()]).into());
        assert!(tag == self.tag, "tag in place, {}", place());
        assert!(buffer[inside.clone()] == *to, "data in place, {}", place());

        let outside = buffer[..offset].iter().chain(&buffer[offset + len..]);
        assert!(outside.into_iter().all(|&b| b == 0x5a), "bytes outside changed, {}", place());
    }

    /// Seals and opens in pieces, whose lengths `cut` says when so many bytes have gone and so many
    /// are left.
    fn in_pieces<C: Aead<Key = [u8; 32], Nonce = [u8; NONCE]>>(
        &self,
        isa: Isa,
        mut cut: impl FnMut(usize, usize) -> usize,
    ) {
        let cipher = C::new(isa, &self.key);
        for (from, to, seal) in
            [(&self.text, &self.sealed, true), (&self.sealed, &self.text, false)]
        {
            let mut message = cipher.begin(&self.nonce).expect("a nonce");
            let mut aad = &self.aad[..];
            while !aad.is_empty() {
                let gone = self.aad.len() - aad.len();
                let (piece, rest) = aad.split_at(cut(gone, aad.len()));
                message.associate(&cipher, piece);
                aad = rest;
            }
            let mut out = vec![0; from.len()];
            let mut cuts = Vec::new();
            let mut data = InOutBuf::new(from, &mut out).expect("equal lengths");
            while !data.is_empty() {
                let len = cut(from.len() - data.len(), data.len());
                cuts.push(len);
                let (piece, rest) = data.split_at(len);
                if seal {
                    message.encrypt(&cipher, piece);
                } else {
                    message.decrypt(&cipher, piece);
                }
                data = rest;
            }
            assert!(out == *to, "{cuts:?}, sealing {seal}, {isa:?}");
            assert!(message.tag(&cipher) == self.tag, "tag, {cuts:?}, sealing {seal}, {isa:?}");
        }
    }
}

/// A published case with a nonce of `NONCE` bytes; what is sealed ends with the tag.
fn published<const NONCE: usize>(
    [key, nonce, aad, sealed]: [&str; 4],
    text: impl AsRef<[u8]>,
) -> Case<NONCE> {
    let sealed = hex(sealed);
    let (data, tag) = sealed.split_last_chunk().expect("a tag");
    Case {
        key: hex(key).try_into().expect("32 bytes"),
        nonce: hex(nonce).try_into().expect("a nonce's length"),
        aad: hex(aad),
        text: text.as_ref().to_vec(),
        sealed: data.to_vec(),
        tag: *tag,
    }
}

const SUNSCREEN: &str = "Ladies and Gentlemen of the class of '99: If I could offer you only one \
    tip for the future, sunscreen would be it.";

/// RFC 8439, section 2.8.2 and appendix A.5.
#[test]
fn rfc_8439() {
    published::<12>(
        [
            "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
            "070000004041424344454647",
            "50515253c0c1c2c3c4c5c6c7",
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
            3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
            92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
            3ff4def08e4b7a9de576d26586cec64b6116
            1ae10b594f09e26a7e902ecbd0600691",
        ],
        SUNSCREEN,
    )
    .check::<ChaCha20Poly1305>(0);
    published::<12>(
        [
            "1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0",
            "000000000102030405060708",
            "f33388860000000000004e91",
            "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb2
            4c6cfc18755d43eea09ee94e382d26b0bdb7b73c321b0100d4f03b7f355894cf
            332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff37c855
            9797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4
            b9166c767b804d46a59b5216cde7a4e99040c5a40433225ee282a1b0a06c523e
            af4534d7f83fa1155b0047718cbc546a0d072b04b3564eea1b422273f548271a
            0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a10
            49e617d91d361094fa68f0ff77987130305beaba2eda04df997b714d6c6f2c29
            a6ad5cb4022b02709b
            eead9d67890cbb22392336fea1851f38",
        ],
        "Internet-Drafts are draft documents valid for a maximum of six months and may be updated, \
        replaced, or obsoleted by other documents at any time. It is inappropriate to use \
        Internet-Drafts as reference material or to cite them other than as /\u{201c}work in \
        progress./\u{201d}",
    )
    .check::<ChaCha20Poly1305>(0);
}

/// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
#[test]
fn xchacha_draft() {
    published::<24>(
        [
            "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
            "404142434445464748494a4b4c4d4e4f5051525354555657",
            "50515253c0c1c2c3c4c5c6c7",
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb
            731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452
            2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9
            21f9664c97637da9768812f615c68b13b52e
            c0875924c1c7987947deafd8780acf49",
        ],
        SUNSCREEN,
    )
    .check::<XChaCha20Poly1305>(0);
}

#[test]
fn every_length() {
    let mut numbers = Numbers(1);
    for len in 0..=700 {
        for aad in AADS {
            Case::<12>::new(&mut numbers, aad, len).check::<ChaCha20Poly1305>(len % 64);
        }
    }
}

/// Lengths next to the ends of passes and parts, with associated data that are long too.
#[test]
fn long_messages() {
    let mut numbers = Numbers(2);
    for len in [704, 960, 1024, 1216, 1472, 1728, 1792, 4096, 4288, 6144, 8192, 16_384, 20_000] {
        for len in len - 2..=len + 2 {
            let (aad, offset) = (numbers.below(1000), numbers.below(64));
            Case::<12>::new(&mut numbers, aad, len).check::<ChaCha20Poly1305>(offset);
        }
    }
}

#[test]
fn random_lengths() {
    let mut numbers = Numbers(3);
    for _ in 0..cases(300) {
        let (aad, len) = (numbers.below(700), numbers.below(3000));
        let offset = numbers.below(64);
        Case::<12>::new(&mut numbers, aad, len).check::<ChaCha20Poly1305>(offset);
        Case::<24>::new(&mut numbers, aad, len).check::<XChaCha20Poly1305>(offset);
    }
}

/// Every place to cut data in two, and associated data in two.
#[test]
fn every_cut_in_two() {
    let mut numbers = Numbers(4);
    let case = Case::<12>::new(&mut numbers, 37, 331);
    for isa in levels() {
        for at in 0..=331 {
            case.in_pieces::<ChaCha20Poly1305>(
                isa,
                |gone, left| {
                    if gone < at { left.min(at) } else { left }
                },
            );
        }
    }
}

/// Pieces of any lengths, empty ones among them, and those that are longer than a part.
#[test]
fn random_pieces() {
    let mut numbers = Numbers(5);
    for _ in 0..cases(200) {
        let (aad, len) = (numbers.below(100), numbers.below(10_000));
        let widest = [2, 20, 100, 700, 9000][numbers.below(5)];
        let case = Case::<24>::new(&mut numbers, aad, len);
        for isa in levels() {
            case.in_pieces::<XChaCha20Poly1305>(isa, |_, left| numbers.below(widest).min(left));
        }
    }
}

/// A key that is set again is as good as a new one.
#[test]
fn set_key() {
    let mut numbers = Numbers(6);
    let case = Case::<12>::new(&mut numbers, 8, 100);
    for isa in levels() {
        let mut cipher = ChaCha20Poly1305::new(isa, &[1; 32]);
        cipher.set_key(&case.key);
        let mut data = case.text.clone();
        assert_eq!(cipher.seal(&case.nonce, &case.aad, (&mut data[..]).into()), case.tag);
        assert_eq!(data, case.sealed);
    }
}

#[test]
fn debug_shows_no_key() {
    let cipher = ChaCha20Poly1305::new(Isa::PORTABLE, &[0xab; 32]);
    let extended = XChaCha20Poly1305::new(Isa::PORTABLE, &[0xab; 32]);
    let message = cipher.begin(&[0xab; 12]).expect("a nonce");
    for (shown, name) in [
        (format!("{cipher:?}"), "ChaCha20Poly1305"),
        (format!("{extended:?}"), "XChaCha20Poly1305"),
        (format!("{message:?}"), "Message"),
    ] {
        assert_eq!(shown, format!("{name} {{ isa: Isa(Portable), .. }}"));
    }
}
