//! Many values under one key.

use core::fmt;

use arrayvec::ArrayVec;
use inout::InOutBuf;
use lanecrypt_kernels::siv::Lane;
use lanecrypt_kernels::{equal, wipe};

use super::{DeterministicAesSiv, Key, by_key};
use crate::Error;

/// Values that a kernel gets at once.
const AT_ONCE: usize = 64;

/// A value to seal: the arguments of [`DeterministicAesSiv::seal_to`].
#[expect(clippy::exhaustive_structs, reason = "the owner of the values makes it, field by field")]
pub struct ValueToSeal<'a> {
    /// A string of its own, behind those that are fixed.
    pub string: Option<&'a [u8]>,
    /// The value.
    pub value: &'a [u8],
    /// The place of V and the ciphertext, longer by 16 bytes.
    pub packet: &'a mut [u8],
    /// The place for an error. Nothing is written there without an error.
    pub outcome: &'a mut Result<(), Error>,
}

/// A value to open: the arguments of [`DeterministicAesSiv::open_to`].
#[expect(clippy::exhaustive_structs, reason = "the owner of the values makes it, field by field")]
pub struct ValueToOpen<'a> {
    /// A string of its own, behind those that are fixed.
    pub string: Option<&'a [u8]>,
    /// V and the ciphertext.
    pub packet: &'a [u8],
    /// The place of the value, shorter by 16 bytes.
    pub value: &'a mut [u8],
    /// The place for an error. Nothing is written there without an error.
    pub outcome: &'a mut Result<(), Error>,
}

/// Many values at once.
impl DeterministicAesSiv {
    /// Seals each value, as [`seal_to`](Self::seal_to) does, and returns how many were refused:
    /// those whose packet has another length, and with more than 126 strings.
    ///
    /// Values run side by side where that is faster. Constant time except for lengths.
    pub fn seal_many<'a>(&'a self, values: impl Iterator<Item = ValueToSeal<'a>>) -> usize {
        let mut lanes = ArrayVec::<Lane<'a>, AT_ONCE>::new();
        let mut refused = 0;
        for ValueToSeal { string, value, packet, outcome } in values {
            let Some((v, out)) = packet.split_first_chunk_mut() else {
                refused += refuse(outcome, Error::OutputLength);
                continue;
            };
            match (self.admit(string.iter().len()), InOutBuf::new(value, out)) {
                (Ok(()), Ok(data)) => lanes.push(Lane::new(&self.context, [string, None], data, v)),
                (Err(error), _) => refused += refuse(outcome, error),
                (_, Err(_)) => refused += refuse(outcome, Error::OutputLength),
            }
            if lanes.is_full() {
                by_key!(&self.key, key => key.seal_lanes(&mut lanes));
                lanes.clear();
            }
        }
        by_key!(&self.key, key => key.seal_lanes(&mut lanes));
        refused
    }

    /// Opens each packet, as [`open_to`](Self::open_to) does, and returns how many were refused.
    /// The values of packets that are not authentic have been wiped. A refused packet changes
    /// nothing for the others.
    ///
    /// Values run side by side where that is faster. Constant time except for lengths and for
    /// whether a packet is authentic.
    pub fn open_many<'a>(&'a self, values: impl Iterator<Item = ValueToOpen<'a>>) -> usize {
        let mut values = values;
        let mut refused = 0;
        loop {
            // What came in a packet, which the kernel replaces by what should have come.
            let mut vs = [[0; 16]; AT_ONCE];
            let mut places = vs.iter_mut();
            let mut lanes = ArrayVec::<Lane<'_>, AT_ONCE>::new();
            let mut others = ArrayVec::<_, AT_ONCE>::new();
            while !lanes.is_full()
                && let Some(ValueToOpen { string, packet, value, outcome }) = values.next()
            {
                let Some((came, ciphertext)) = packet.split_first_chunk::<16>() else {
                    wipe::memory(value);
                    refused += refuse(outcome, Error::Authentication);
                    continue;
                };
                match (self.admit(string.iter().len()), InOutBuf::new(ciphertext, value)) {
                    (Ok(()), Ok(data)) => {
                        // There is one for each lane.
                        let Some(v) = places.next() else { break };
                        *v = *came;
                        lanes.push(Lane::new(&self.context, [string, None], data, v));
                        others.push((came, outcome));
                    }
                    (Err(error), _) => refused += refuse(outcome, error),
                    (_, Err(_)) => refused += refuse(outcome, Error::OutputLength),
                }
            }
            let last = !lanes.is_full();
            by_key!(&self.key, key => key.open_lanes(&mut lanes));
            for (lane, (came, outcome)) in lanes.iter_mut().zip(others) {
                if !equal(lane.v(), came) {
                    wipe::memory(lane.output());
                    refused += refuse(outcome, Error::Authentication);
                }
            }
            if last {
                return refused;
            }
        }
    }
}

#[cold]
fn refuse(outcome: &mut Result<(), Error>, error: Error) -> usize {
    *outcome = Err(error);
    1
}

/// Without the value.
impl fmt::Debug for ValueToSeal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueToSeal").field("bytes", &self.value.len()).finish_non_exhaustive()
    }
}

/// Without the value.
impl fmt::Debug for ValueToOpen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueToOpen").field("bytes", &self.value.len()).finish_non_exhaustive()
    }
}
