//! Records of connections of OpenSSL 3.0.19 with itself, without the extension `encrypt_then_mac`.
//! The keys were computed from the master secret that it logged.

use lanecrypt_ciphers::hazmat::{TlsCbc, TlsHeader};
use lanecrypt_ciphers::{Algorithm, Mac};

/// What the client sent after its keys had changed: the end of the handshake, then [`TEXT`].
struct Connection {
    suite: &'static str,
    version: u16,
    algorithm: Algorithm,
    code: Mac,
    key: &'static str,
    mac: &'static str,
    /// The first initialization vector of TLS 1.0; later versions send one with each record.
    iv: Option<&'static str>,
    /// Content type and bytes.
    records: &'static [(u8, &'static str)],
}

const TEXT: &[u8] = b"The quick brown fox jumps over the lazy dog";

const CONNECTIONS: &[Connection] = &[
    Connection {
        suite: "AES128-SHA",
        version: 0x0301,
        algorithm: Algorithm::AES_128_CBC,
        code: Mac::HmacSha1,
        key: "9b3696977e8d1aa2ee330ef4b48106b3",
        mac: "a6be6dfce9918fb80c4e1f8c69a34e420f2e7841",
        iv: Some("463973dfb1863b10d9d1c1514493855e"),
        records: &[
            (
                22,
                "e0dd227486d3b57feeafa4e036ee1809c1c5eafeb1dc633d317b17321ffc3d26354753cab653445d\
                 80d336a86f5e4af7",
            ),
            (23, "0005fed7a43f683f4fbfc5ba9242a59429fa9ec8b24f946a4e3874b5d2a21f11"),
            (
                23,
                "42d5907ba20d51ebb82a440caee50637955ddc9d94e2c78f3119b2d371ccb3ff5fdf1c8f1bbf103f\
                 727f8ed148a7b12fb2d9e3bfa40dee977b69605efe000566",
            ),
        ],
    },
    Connection {
        suite: "AES256-SHA",
        version: 0x0302,
        algorithm: Algorithm::AES_256_CBC,
        code: Mac::HmacSha1,
        key: "5185d6908adcc44446d645031966878b761e14f8e6bb3a93baea37bc19e3a741",
        mac: "ea947848abf1a2e0f977b8277ff430e84d43453a",
        iv: None,
        records: &[
            (
                22,
                "64298864aeb0a0551002f936be42032715996b43988013e1494fc147875787546baef5705c7a65e8\
                 d817a4ef83801c8154b267500ca6fd3cce7638d86fb5e326",
            ),
            (
                23,
                "296add682799e02a8ea7db723d6df01d32ebb8e851f4a29ead651f56ec5b96f99a3a70be9d7a7987\
                 355559f68074da83262a213dd60258358531fa6136d4844ae48cf5d302188fb120fc7f8931c227ed",
            ),
        ],
    },
    Connection {
        suite: "AES128-SHA256",
        version: 0x0303,
        algorithm: Algorithm::AES_128_CBC,
        code: Mac::HmacSha256,
        key: "b264add77b5d75f19d82b35eb53dcad9",
        mac: "5c657d4867e6eb470330bb25797846769a6e2fdbef2f85103f17c322b9bf4e8f",
        iv: None,
        records: &[
            (
                22,
                "9d4c60d32e9afec23ca8905da88f889e27d533114076935dc92d9421d3290976fa68d586e5035f91\
                 7908c3fedc6b3284ce62de8f263ac3bb300c891afb9d58ba1781acba07ba15e6ea52b08d9dea5283",
            ),
            (
                23,
                "2d6f6dda7f3888b2a8f8a6fe8320edfcac9eb74fe21fb89fd40cb1e2b726d5463af3a7e07516480b\
                 c567e3cff4e76afea5864c3d0adf5c0191feb0519c8d67a016901835a793493b44dea0df6620fe07\
                 eaaa909532b80060dbed1af421fed800",
            ),
        ],
    },
    Connection {
        suite: "ECDHE-RSA-AES256-SHA384",
        version: 0x0303,
        algorithm: Algorithm::AES_256_CBC,
        code: Mac::HmacSha384,
        key: "17894ceeb4e3b674c703284166e2c7666d357431fccac7c6b9a53c1740885cf6",
        mac: "70f468d31b95720fbf7cee434ea248280b9a71d1705c64059792e06118e12b5ea8ecddaec31b2c32\
                 9e8b54467df15846",
        iv: None,
        records: &[
            (
                22,
                "d80b56ae8bd41c036b60309297d8bb9d14ed7da232c9f7b2ecfb38fea132342da8600c89e5380fbd\
                 a78db45526a24a30b25a1090f4b25b7f3716181f8ec0f8348157f80c16900ac7f7066e5657c9b092\
                 92418b486c92935435467ccc361c30cd",
            ),
            (
                23,
                "c44f2e45cdebc7e169d7623a721951f868c0281ea91821a04e145c6105fd4b79c0879af45b339580\
                 6c98553c1161625f366192a0ff0044f1d834170ad39ffdc2e6b98c4c840542cf6a19b5f32440b121\
                 f50bee4b6fcea6670c51d0aa1648a05cc5338ff51b94bc5c9ee8e544a8f53bf2",
            ),
        ],
    },
];

#[test]
fn records_of_openssl() {
    for connection in CONNECTIONS {
        let Connection { suite, version, algorithm, code, .. } = *connection;
        let keys = TlsCbc::new(algorithm, &unhex(connection.key), code, &unhex(connection.mac))
            .expect("good keys");
        let mut chained = connection.iv.map(unhex);
        let (mut data, mut finished) = (vec![], vec![]);
        for (sequence, (content_type, bytes)) in (0..).zip(connection.records) {
            let header = TlsHeader { sequence, content_type: *content_type, version };
            let bytes = unhex(bytes);
            let (iv, sent) = match &chained {
                Some(iv) => (&iv[..], &bytes[..]),
                None => bytes.split_at(16),
            };
            let mut record = sent.to_vec();
            let length = keys.open(header, iv, &mut record).expect(suite);
            let content = if *content_type == 23 { &mut data } else { &mut finished };
            content.extend_from_slice(&record[..length]);

            // OpenSSL's padding is the shortest, so that it seals as we do.
            keys.seal(header, iv, &mut record, length).expect("good lengths");
            assert_eq!(record, sent, "{suite} {sequence}");
            if let Some(iv) = &mut chained {
                iv.copy_from_slice(&sent[sent.len() - 16..]);
            }
        }
        assert_eq!(data, TEXT, "{suite}");
        // The type of the handshake's message is 20; it has 12 bytes.
        assert_eq!((finished.len(), &finished[..4]), (16, &[20, 0, 0, 12][..]), "{suite}");
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}
