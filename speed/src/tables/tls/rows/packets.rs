//! Packets of QUIC with a short header.

use lanecrypt_ciphers::Algorithm;
use rustls_lanecrypt::rustls::quic::{DirectionalKeys, Version};
use rustls_lanecrypt::rustls::{Error, Side};

use super::providers::Provider;
use crate::ciphers::Sizes;
use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// The first byte and a connection ID, which are before the packet number.
const BEFORE: usize = 1 + 8;
/// The bytes of the packet number.
const NUMBER: usize = 4;
const HEADER: usize = BEFORE + NUMBER;
const TAG: usize = 16;
/// What the keys are made of.
const ID: &[u8] = b"measured";

/// Packets that are sealed and opened in the same place.
pub(super) struct Packets {
    keys: DirectionalKeys,
    /// Of another provider.
    reference: DirectionalKeys,
    /// Header, payload and tag.
    packet: Vec<u8>,
    /// What the payload must be after each packet.
    plain: Vec<u8>,
    number: u64,
}

impl Packets {
    pub(super) fn new(provider: &Provider, algorithm: Algorithm, sizes: Sizes) -> Option<Self> {
        let keys = |of: &Provider| {
            let suite = of.suite(algorithm)?.quic_suite()?;
            Some(suite.keys(ID, Side::Client, Version::V1).local)
        };
        Some(Self {
            keys: keys(provider)?,
            reference: keys(&provider.reference())?,
            packet: vec![0; HEADER + sizes.longest() + TAG],
            plain: vec![0; sizes.longest()],
            number: 0,
        })
    }

    /// Other bytes than before.
    fn renew(&mut self) {
        lanecrypt_random::fill(&mut self.plain);
        self.packet[HEADER..][..self.plain.len()].copy_from_slice(&self.plain);
    }

    /// The next packet comes back as it was.
    fn checked(&mut self) -> Result<(), Defect> {
        for _ in 0..8 {
            self.renew();
            self.number += 1;
            let mut expected = self.packet.clone();
            seal(&self.keys, self.number, &mut self.packet)?;
            seal(&self.reference, self.number, &mut expected)?;
            if self.packet != expected {
                return Err(Defect::Answer);
            }
            // Payload, tag, header and number count.
            for at in [HEADER, HEADER + self.plain.len(), expected.len() - 1, 3, BEFORE + 1] {
                let mut forged = expected.clone();
                forged[at] ^= 4;
                if open(&self.keys, self.number, &mut forged).is_ok() {
                    return Err(Defect::Forgery);
                }
            }
            open(&self.keys, self.number, &mut self.packet).or(Err(Defect::RejectReason))?;
            if !self.is_back() {
                return Err(Defect::Answer);
            }
        }
        Ok(())
    }

    fn is_back(&self) -> bool {
        self.packet[HEADER..].starts_with(&self.plain)
    }
}

impl Workload for Packets {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.renew();
        Ok(())
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        for _ in 0..requests {
            self.number += 1;
            let sealed = seal(&self.keys, self.number, &mut self.packet);
            let opened = open(&self.keys, self.number, &mut self.packet);
            assert!(sealed.is_ok() && opened.is_ok(), "a packet failed in the middle");
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        folded(&self.packet)
    }

    fn check(&mut self, _arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        // Nothing is random here, so nothing has to differ between threads.
        self.checked().map(|()| Vec::new())
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        if !self.is_back() { Err(Defect::Answer) } else { self.checked() }
    }
}

impl From<Error> for Defect {
    fn from(_: Error) -> Self {
        Self::Failed
    }
}

/// Writes the header, seals the payload, and hides the packet number.
fn seal(keys: &DirectionalKeys, number: u64, packet: &mut [u8]) -> Result<(), Error> {
    let (header, rest) = packet.split_at_mut(HEADER);
    header[0] = 0x43;
    header[BEFORE..].copy_from_slice(&number.to_be_bytes()[8 - NUMBER..]);
    let (payload, tag) = rest.split_at_mut(rest.len() - TAG);
    let made = keys.packet.encrypt_in_place(number, header, payload)?;
    tag.copy_from_slice(made.as_ref());
    let (first, header) = header.split_at_mut(1);
    keys.header.encrypt_in_place(&rest[..TAG], &mut first[0], &mut header[BEFORE - 1..])
}

/// Shows the packet number and opens the payload.
fn open(keys: &DirectionalKeys, number: u64, packet: &mut [u8]) -> Result<(), Error> {
    let (header, rest) = packet.split_at_mut(HEADER);
    let (first, hidden) = header.split_at_mut(1);
    keys.header.decrypt_in_place(&rest[..TAG], &mut first[0], &mut hidden[BEFORE - 1..])?;
    keys.packet.decrypt_in_place(number, header, rest).map(|_| ())
}

/// A number that depends on all bytes and their order.
pub(super) fn folded(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    bytes.iter().fold(0, |folded, &byte| (folded ^ u64::from(byte)).wrapping_mul(ODD))
}
