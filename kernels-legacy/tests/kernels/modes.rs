//! What can be asked of a keyed block cipher, as one kind of thing.

use inout::InOutBuf;
use lanecrypt_kernels::{BlockCipher, into_blocks};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    Encrypt,
    Decrypt,
    CbcEncrypt,
    CbcDecrypt,
    Ctr,
    Keystream,
}

pub(crate) const MODES: [Mode; 6] =
    [Mode::Encrypt, Mode::Decrypt, Mode::CbcEncrypt, Mode::CbcDecrypt, Mode::Ctr, Mode::Keystream];

impl Mode {
    /// Whether data need not be whole blocks.
    pub(crate) fn takes_bytes(self) -> bool {
        matches!(self, Self::Ctr | Self::Keystream)
    }

    /// One request; `iv` advances as the trait says.
    pub(crate) fn run<C: BlockCipher<N>, const N: usize>(
        self,
        cipher: &C,
        iv: &mut [u8; N],
        data: InOutBuf<'_, '_, u8>,
    ) {
        let mut data = data;
        match self {
            Self::Ctr => return cipher.ctr(iv, data),
            Self::Keystream => return cipher.ctr_keystream(iv, data.get_out()),
            _ => {}
        }
        let (blocks, rest) = into_blocks::<N>(data);
        assert!(rest.is_empty());
        match self {
            Self::Encrypt => cipher.encrypt(blocks),
            Self::Decrypt => cipher.decrypt(blocks),
            Self::CbcEncrypt => cipher.cbc_encrypt(iv, blocks),
            _ => cipher.cbc_decrypt(iv, blocks),
        }
    }
}
