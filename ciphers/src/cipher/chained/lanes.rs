//! Many messages with a code chained to a cipher: CBC encryption side by side, and codes of two
//! messages at a time.

use arrayvec::ArrayVec;
use inout::InOutBuf;
use lanecrypt_kernels::aes::Aes;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::{in_parts, into_blocks, wipe};

use super::{Chain, Chained, begun, bits, code, first};
use crate::Error;
use crate::cipher::Cipher;
use crate::cipher::key::Key as _;
use crate::cipher::lanes::message::{
    AT_ONCE, Lengths, Opening, Sealing, open_alone, refuse, seal_alone,
};
use crate::hmac::{Code, Hash, Key, Message};
use crate::mac_key::{MacKey, by_mac};

/// Seals each message and returns how many were refused; `key` finds the key of those that are of
/// the algorithm.
#[inline(never)]
pub(in crate::cipher) fn seal_cbc<'a, const BITS: usize>(
    lengths: Lengths,
    messages: impl Iterator<Item = Sealing<'a>>,
    key: impl Fn(&'a Cipher) -> Option<&'a Chained<Aes<BITS>>>,
    run: impl Fn(&mut [Lane<'a, Aes<BITS>, 16>]),
) -> usize
where
    Aes<BITS>: Chain,
{
    let mut lanes = ArrayVec::<Lane<'a, Aes<BITS>, 16>, AT_ONCE>::new();
    let mut others = ArrayVec::<_, AT_ONCE>::new();
    let mut refused = 0;
    let seal =
        |lanes: &mut ArrayVec<Lane<'a, Aes<BITS>, 16>, AT_ONCE>,
         others: &mut ArrayVec<(&'a MacKey, &'a [u8], &'a mut [u8]), AT_ONCE>| {
            run(lanes);
            let sealed = lanes.iter_mut().zip(&mut *others).map(|(lane, (mac, aad, tag))| {
                let ciphertext = lane.blocks.get_out().as_flattened();
                (Coded { mac, nonce: lane.iv, aad, ciphertext }, &mut **tag)
            });
            put_codes(sealed);
            lanes.clear();
            others.clear();
        };
    for message in messages {
        let Sealing { cipher, nonce, aad, data, tag, outcome } = message;
        if lengths.contains(data.len())
            && let Some(key) = key(cipher)
            && let Ok(iv) = nonce.try_into()
            && data.len().is_multiple_of(16)
            && cipher.key.facts().admit(aad.len(), data.len(), tag.len()).is_ok()
        {
            lanes.push(Lane { key: &key.cipher, iv, blocks: into_blocks(data).0 });
            others.push((&key.mac, aad, tag));
            if lanes.is_full() {
                seal(&mut lanes, &mut others);
            }
        } else {
            refused += seal_alone(Sealing { cipher, nonce, aad, data, tag, outcome });
        }
    }
    seal(&mut lanes, &mut others);
    refused
}

/// As [`seal_cbc`], for ciphers that fill the processor with one message.
#[inline(never)]
pub(in crate::cipher) fn seal<'a, C: Chain + 'a>(
    lengths: Lengths,
    messages: impl Iterator<Item = Sealing<'a>>,
    key: impl Fn(&'a Cipher) -> Option<&'a Chained<C>>,
) -> usize {
    let mut refused = 0;
    let sealed = messages.filter_map(|message| {
        let Sealing { cipher, nonce, aad, data, tag, outcome } = message;
        if lengths.contains(data.len())
            && let Some(key) = key(cipher)
            && let Ok(mut chain) = first::<C>(nonce, data.len())
            && cipher.key.facts().admit(aad.len(), data.len(), tag.len()).is_ok()
        {
            let mut data = in_parts(data);
            key.cipher.encrypt(&mut chain, data.reborrow());
            let ciphertext = data.into_out();
            return Some((Coded { mac: &key.mac, nonce, aad, ciphertext }, tag));
        }
        refused += seal_alone(Sealing { cipher, nonce, aad, data, tag, outcome });
        None
    });
    put_codes(sealed);
    refused
}

/// Opens each message and returns how many were refused.
#[inline(never)]
pub(in crate::cipher) fn open<'a, C: Chain + 'a>(
    lengths: Lengths,
    messages: impl Iterator<Item = Opening<'a>>,
    key: impl Fn(&'a Cipher) -> Option<&'a Chained<C>>,
) -> usize {
    let mut refused = 0;
    let mut waiting: Option<ToOpen<'a, C>> = None;
    for message in messages {
        let Opening { cipher, nonce, aad, data, tag, outcome } = message;
        if lengths.contains(data.len())
            && let Some(key) = key(cipher)
            && let Ok(chain) = first::<C>(nonce, data.len())
            && cipher.key.facts().admit(aad.len(), data.len(), tag.len()).is_ok()
        {
            let this = ToOpen { key, chain, nonce, aad, data: in_parts(data), tag, outcome };
            match waiting.take() {
                None => waiting = Some(this),
                Some(before) => {
                    let [one, other] = codes([before.coded(), this.coded()]);
                    refused += before.open(&one) + this.open(&other);
                }
            }
        } else {
            refused += open_alone(Opening { cipher, nonce, aad, data, tag, outcome });
        }
    }
    if let Some(last) = waiting {
        let code = last.coded().code();
        refused += last.open(&code);
    }
    refused
}

/// A message of which the code is not known yet.
struct ToOpen<'a, C> {
    key: &'a Chained<C>,
    chain: [u8; 16],
    nonce: &'a [u8],
    aad: &'a [u8],
    data: InOutBuf<'a, 'a, u8>,
    tag: &'a [u8],
    outcome: &'a mut Result<(), Error>,
}

impl<C: Chain> ToOpen<'_, C> {
    fn coded(&self) -> Coded<'_> {
        let Self { key, nonce, aad, data, .. } = self;
        Coded { mac: &key.mac, nonce, aad, ciphertext: data.get_in() }
    }

    /// Decrypts it, if that is its code; 1 if it is refused.
    fn open(mut self, code: &Code) -> usize {
        match code.compare(self.tag) {
            Ok(()) => {
                self.key.cipher.decrypt(&mut self.chain, self.data);
                0
            }
            Err(error) => {
                wipe::memory(self.data.get_out());
                refuse(self.outcome, error)
            }
        }
    }
}

/// The input of a MAC.
struct Coded<'m> {
    mac: &'m MacKey,
    nonce: &'m [u8],
    aad: &'m [u8],
    ciphertext: &'m [u8],
}

impl Coded<'_> {
    fn code(&self) -> Code {
        let Self { mac, nonce, aad, ciphertext } = self;
        by_mac!(mac, key => code(key, nonce, aad, ciphertext))
    }
}

/// Writes the code of each message into its tag.
fn put_codes<'m>(mut sealed: impl Iterator<Item = (Coded<'m>, &'m mut [u8])>) {
    while let Some((coded, tag)) = sealed.next() {
        match sealed.next() {
            None => coded.code().put(tag),
            Some((other_coded, other_tag)) => {
                let [code, other] = codes([coded, other_coded]);
                code.put(tag);
                other.put(other_tag);
            }
        }
    }
}

/// The codes of two messages. SHA-384 is computed without instructions of its own and fills the
/// processor with one.
fn codes(both: [Coded<'_>; 2]) -> [Code; 2] {
    match both.each_ref().map(|coded| coded.mac) {
        [MacKey::Sha1(one), MacKey::Sha1(other)] => side_by_side([one, other], &both),
        [MacKey::Sha256(one), MacKey::Sha256(other)] => side_by_side([one, other], &both),
        _ => both.map(|coded| coded.code()),
    }
}

#[inline(never)]
fn side_by_side<H: Hash<BLOCK>, const BLOCK: usize>(
    keys: [&Key<H, BLOCK>; 2],
    [one, other]: &[Coded<'_>; 2],
) -> [Code; 2] {
    let [key, other_key] = keys;
    let mut message = begun(key, one.nonce, one.aad);
    let mut other_message = begun(other_key, other.nonce, other.aad);
    let ciphertexts = [one.ciphertext, other.ciphertext];
    Message::update_both([&mut message, &mut other_message], ciphertexts);
    message.update(&bits(one.aad.len() as u64));
    other_message.update(&bits(other.aad.len() as u64));
    Key::finish_both(keys, [message, other_message])
}
