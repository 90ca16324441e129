//! A signature that is known (`vectors/rsa.jsonl`, the first generated key of 2048 bits).

use super::RsaKey;

/// A key, a message and its signature.
pub(super) struct Known {
    n: &'static [u8],
    e: &'static [u8],
    d: &'static [u8],
    crt: [&'static [u8]; 5],
    pub(super) message: &'static [u8],
    pub(super) digest: &'static [u8; 32],
    pub(super) signature: &'static [u8],
}

impl Known {
    pub(super) const fn key(&self) -> RsaKey<'static> {
        RsaKey { n: self.n, e: self.e, d: self.d, crt: Some(self.crt) }
    }
}

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

pub(super) const KNOWN: Known = Known {
    n: &bytes::<256>(
        "\
        cec2d7006f18a30a5955bedffb6bd61906fdc9835c3e91599e6d1290f02b4dd8be8ed7f34001428ba6142df1\
        8c34a0eac705a5f61eaeeb09ffa480edf0c5a94bd594f36137612cd7284821e98a642c3848b5ce62ca8586a4\
        325ec34fdf169f4b3fbaaff84b520ff0f00f1620d49919f86a8b33c736eedfdf61b4f45a50dd47aae12a720a\
        72dfbe1e61d0d8851bb2bdcc1b7885e411b289584091e0ddad61fd20ceb1d08ff118b30adbe4c1f1ceec1978\
        b229bddbb99655a61bca5e1559b3f91c157bd07b815a93a2dd8a772aa52463c648ffe821c11d29164b7c8e6d\
        79ec209d54dc5d010e67d7b8716818260e8c24469393fb6edd494080c024fc4138f6a923",
    ),
    e: &bytes::<3>("010001"),
    d: &bytes::<256>(
        "\
        1b57e30d18a41e73b0eac90a5ffa9bdec570eca4659f94a3507346404ab2bf61c999a46f73e876bf7720360f\
        3aa67f1d6d628ed724a9a745b43c321cc579ae70ebf6fdd4be79286fefd0d2434b5d0208137d8fa4baf9bb9b\
        9d59b0e4b03112b1e5e4af7edb9f27a28a6cc4556528362a07150face9d3df61704f78fd34b27ed69a4831bf\
        9b5bf8c7de3f9c41a89e5c5fbf15b5439c2ce4a5dc131aceffa678c4d4342bae6d3f5d13a72245db5e273b9e\
        3ad05d9b0e3fae2aa414365eda3fb649f1f6d2786f2a3f2072062b70135484c10159032044211ffc3f22a683\
        cdded6b7df4b3392fe32902e1f4893cce090f1be84b799cd56f5e450ed08b09fd928a641",
    ),
    crt: [
        &bytes::<128>(
            "\
        fb359d5ad0fe0ab95f3ba3d1d88806e250af1f624767010a9ce448740f9611a4db6ba76f1e719121df8496cb\
        357d33fc8b47a67e5bc5dee5e394e11e2c028248f5f44c9f5dfacb01da76e0008d8119ce5547aebb3fd5feff\
        c1fa8795cfa0cc3c52e3c5514e31380b20402c75be526906c14f8959dfc72af027e6686e1820df03",
        ),
        &bytes::<128>(
            "\
        d2b43b558a52c3f840b7198c289cba929d2aec1fdc6a85b6176f99974c0d8a173a93c233d8d5153cf448dd27\
        3fb5e93168e1aa547ae307d42666fabbca488facfba5fc194a8cd1cb6c545299de516123cfdc5d29719c953d\
        0cdd0aa3ab0b118b64b6508e0e347c63a32182328fe9cb555eb6bd5fd848c60e4403ed28c36c6361",
        ),
        &bytes::<128>(
            "\
        3f558e1d9671662cc448da0d8f05048f4c7e4a7051c6336a04923d7e1d6bdd78ede51f6a91875a6aeada97d6\
        15df421b1ad66eb08edcbd4cc26b07b2beafc73f33db6af20714b2d7fdc758c46ae8b0a3e7b651e45dbccb34\
        9a285ac4b77b37e2c197316945487d73b8a6d54ebe3432cc84325453b76a9475c5e97e4cbb829617",
        ),
        &bytes::<128>(
            "\
        3c29bc5b7370a886452c42fe3346753b91e7049f2057c6303546e76b3d0b0ca80f50cb7df466fb7679262907\
        a0f8774a6571322a872036470c641129f7db7a32e17406a4ce15a17ddd43c2862ee5bbbff7052c10be610077\
        fb294e75674c74c9018bd13a8eb1cbe6c358b90d68ec4fe3e37478645aa484f0e3d8df29e98b1461",
        ),
        &bytes::<128>(
            "\
        49ab18a50f524ea5e1b3e06d09c6997c6aca1d953258328e7be9f101f8a413e73db1c7dcb85b58ca36e92dcc\
        d0bacf7e8febcb4950c5566448d2a6247ff6d63284846e9640d13bca0c428ce24e483244a398c4bb48b8ade6\
        d220ebeaa227f8ac2061e84573764cde998cca02424ce7d4460d4eed299a57bbc08c48d8059e666c",
        ),
    ],
    message: &bytes::<3>("82197b"),
    digest: &bytes::<32>(
        "\
        5c2188d06a9e5e859edc92f795cd44148c7ff771bea674161a45206a42b1c9b4",
    ),
    signature: &bytes::<256>(
        "\
        80c932dce0fee2ff3d3d8db69ed84c8baa3d34e4dbdfd82abdf7fc774c21a29b941822ccb574700e7922468c\
        095a12a1a6a6d0fc99f7898af39c8c5590f0e41f5bdad7408e646241de78f145825cce02072c6612d1d5ee4a\
        1bf11d48e6cbfbdd186e2755497b78f527088422a8d29a52eb6228bd1c65ecb978306be31162cddd29f9aa71\
        d224c4c8871c6d295874ebeb9abad50c08cce7f5589ba088b86b6bc4c65efdd10b392ff634101548a3f0891e\
        c7089c5fb5c41934c6fc9e021e809c16aa842bfa89c15c72f433fa0713959d6eac433ea5319ec9ddcc7b8f95\
        f3bfd985d7a23edcb0bfdd45a071263d85b584991343237cadf4695148fabcd1c33584b2",
    ),
};
