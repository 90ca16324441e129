//! What is tested, and an independent implementation of it.

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt};
use aes::cipher::{BlockModeEncrypt, KeyInit, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use cbc::{Decryptor, Encryptor};
use ctr::Ctr128BE;
use inout::InOutBuf;
use lanecrypt_kernels::aes::{Aes, AesForward};
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, Isa, into_blocks};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    EcbEncrypt,
    EcbDecrypt,
    CbcEncrypt,
    CbcDecrypt,
    Ctr,
    Keystream,
}

impl Operation {
    pub(crate) const ALL: [Self; 6] = [
        Self::EcbEncrypt,
        Self::EcbDecrypt,
        Self::CbcEncrypt,
        Self::CbcDecrypt,
        Self::Ctr,
        Self::Keystream,
    ];

    /// Whether it takes whole blocks only.
    pub(crate) fn of_blocks(self) -> bool {
        !matches!(self, Self::Ctr | Self::Keystream)
    }

    /// What the IV or the counter must be after a request.
    pub(crate) fn iv_after(self, iv: &[u8; 16], input: &[u8], output: &[u8]) -> [u8; 16] {
        let last = |bytes: &[u8]| *bytes.last_chunk().unwrap_or(iv);
        match self {
            Self::EcbEncrypt | Self::EcbDecrypt => *iv,
            Self::CbcEncrypt => last(output),
            Self::CbcDecrypt => last(input),
            Self::Ctr | Self::Keystream => {
                let blocks = input.len().div_ceil(16) as u128;
                u128::from_be_bytes(*iv).wrapping_add(blocks).to_be_bytes()
            }
        }
    }
}

/// One key, of any size, in both types of kernels.
pub(crate) trait Keyed {
    /// Runs the kernels that have both schedules.
    fn run(&self, operation: Operation, iv: &mut [u8; 16], data: InOutBuf<'_, '_, u8>);

    /// Runs those that have the forward schedule only; false if there are none.
    fn run_forward(
        &self,
        operation: Operation,
        iv: &mut [u8; 16],
        data: InOutBuf<'_, '_, u8>,
    ) -> bool;
}

struct Kernels<C, F>(C, F);

impl<C: BlockCipher<16>, F: BlockEncrypt<16>> Keyed for Kernels<C, F> {
    fn run(&self, operation: Operation, iv: &mut [u8; 16], data: InOutBuf<'_, '_, u8>) {
        match operation {
            Operation::EcbDecrypt => self.0.decrypt(into_blocks(data).0),
            Operation::CbcDecrypt => self.0.cbc_decrypt(iv, into_blocks(data).0),
            _ => forward(&self.0, operation, iv, data),
        }
    }

    fn run_forward(
        &self,
        operation: Operation,
        iv: &mut [u8; 16],
        data: InOutBuf<'_, '_, u8>,
    ) -> bool {
        let has = !matches!(operation, Operation::EcbDecrypt | Operation::CbcDecrypt);
        if has {
            forward(&self.1, operation, iv, data);
        }
        has
    }
}

fn forward(
    cipher: &impl BlockEncrypt<16>,
    operation: Operation,
    iv: &mut [u8; 16],
    mut data: InOutBuf<'_, '_, u8>,
) {
    match operation {
        Operation::EcbEncrypt => cipher.encrypt(into_blocks(data).0),
        Operation::CbcEncrypt => cipher.cbc_encrypt(iv, into_blocks(data).0),
        Operation::Ctr => cipher.ctr(iv, data),
        Operation::Keystream => cipher.ctr_keystream(iv, data.get_out()),
        _ => panic!("{operation:?} is not forward"),
    }
}

/// The kernels of `isa` for a key of 16, 24 or 32 bytes.
pub(crate) fn keyed(isa: Isa, key: &[u8]) -> Box<dyn Keyed> {
    macro_rules! size {
        ($bits:literal) => {{
            let key = key.try_into().expect("as long");
            Box::new(Kernels(Aes::<$bits>::new(isa, key), AesForward::<$bits>::new(isa, key)))
        }};
    }
    match key.len() {
        16 => size!(128),
        24 => size!(192),
        32 => size!(256),
        _ => panic!("no key size of AES"),
    }
}

/// What another implementation makes of `input`.
pub(crate) fn expected(operation: Operation, key: &[u8], iv: &[u8; 16], input: &[u8]) -> Vec<u8> {
    macro_rules! size {
        ($cipher:ty) => {{
            let mut data = input.to_vec();
            let (key, iv) = (key.try_into().expect("as long"), iv.into());
            let blocks = Array::cast_slice_from_core_mut(data.as_chunks_mut::<16>().0);
            match operation {
                Operation::EcbEncrypt => <$cipher>::new(key).encrypt_blocks(blocks),
                Operation::EcbDecrypt => <$cipher>::new(key).decrypt_blocks(blocks),
                Operation::CbcEncrypt => Encryptor::<$cipher>::new(key, iv).encrypt_blocks(blocks),
                Operation::CbcDecrypt => Decryptor::<$cipher>::new(key, iv).decrypt_blocks(blocks),
                Operation::Ctr => Ctr128BE::<$cipher>::new(key, iv).apply_keystream(&mut data),
                Operation::Keystream => {
                    Ctr128BE::<$cipher>::new(key, iv).write_keystream(&mut data);
                }
            }
            data
        }};
    }
    match key.len() {
        16 => size!(Aes128),
        24 => size!(Aes192),
        32 => size!(Aes256),
        _ => panic!("no key size of AES"),
    }
}
