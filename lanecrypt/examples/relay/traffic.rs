//! The other side: all peers on one socket, with traffic of mixed lengths.

use core::error::Error;
use core::net::SocketAddrV4;
use core::ops::Range;

use lanecrypt::{Cipher, KeyError, random};

use crate::keys::{Secrets, Suite};
use crate::relay::Slot;
use crate::socket::Socket;
use crate::wire::{ADDRESS, AT_ONCE, HEADER, Header, TAG};

/// Range of message lengths in bytes.
pub(crate) const LENGTHS: Range<usize> = 60..1401;
/// Maximum number of datagrams in flight.
const IN_FLIGHT: usize = 128;
/// Datagrams to be dropped: too short, from an unknown peer, forged, and replayed.
pub(crate) const HOSTILE: usize = 4;

/// The datagrams that are sent to a relay, prepared in advance.
pub(crate) struct Traffic {
    secrets: Vec<Secrets>,
    suite: Suite,
    messages: Vec<Message>,
    /// First the messages of all peers to themselves, then the hostile datagrams, then the rest.
    datagrams: Vec<Vec<u8>>,
}

struct Message {
    from: u32,
    to: u32,
    text: Vec<u8>,
}

impl Traffic {
    /// Creates messages from and to random peers, under new keys. First each peer sends a message
    /// to itself, from which the relay learns its address.
    pub(crate) fn new(suite: Suite, peers: u32, messages: usize) -> Result<Self, Box<dyn Error>> {
        let secrets: Vec<Secrets> = (0..peers)
            .map(|_| Secrets { to_relay: random::bytes(), from_relay: random::bytes() })
            .collect();
        let messages = (0..u32::try_from(messages)?).map(|at| {
            let (from, to) = match at < peers {
                true => (at, at),
                false => (random::range(0..peers), random::range(0..peers)),
            };
            let mut text = vec![0; random::range(LENGTHS)];
            random::fill(&mut text);
            Message { from, to, text }
        });
        let mut made = Self { secrets, suite, messages: messages.collect(), datagrams: Vec::new() };
        made.datagrams = made.sealed()?;
        made.add_hostile();
        Ok(made)
    }

    fn sealed(&self) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let ciphers = self.ciphers(|secrets| &secrets.to_relay)?;
        let mut counters = vec![0; ciphers.len()];
        let mut datagrams = Vec::with_capacity(self.messages.len() + HOSTILE);
        for Message { from, to, text } in &self.messages {
            let sender = *from as usize;
            let header = Header { peer: *from, counter: counters[sender] };
            counters[sender] += 1;
            let mut datagram = vec![0; HEADER];
            header.write(&mut datagram);
            datagram.extend_from_slice(&to.to_be_bytes());
            datagram.extend_from_slice(text);
            datagram.resize(datagram.len() + TAG, 0);
            let (front, payload) = datagram.split_at_mut(HEADER);
            ciphers[sender].seal(&header.nonce(), front, payload)?;
            datagrams.push(datagram);
        }
        Ok(datagrams)
    }

    fn add_hostile(&mut self) {
        let [first, second, third, fourth] = [0, 1, 2, 3].map(|at| self.datagrams[at].clone());
        let short = first[..HEADER + ADDRESS + TAG - 1].to_vec();
        let (mut unknown, mut forged) = (second, third);
        unknown[..4].copy_from_slice(&u32::MAX.to_be_bytes());
        // A counter that is not used yet, so that the datagram is not dropped for its age.
        forged[4] = 0xff;
        let at = self.secrets.len();
        self.datagrams.splice(at..at, [short, unknown, forged, fourth]);
    }

    fn ciphers(&self, secret: impl Fn(&Secrets) -> &[u8; 32]) -> Result<Vec<Cipher>, KeyError> {
        let suite = self.suite;
        let new = |secrets| Cipher::new(suite.algorithm(), suite.key(secret(secrets)));
        self.secrets.iter().map(new).collect()
    }

    pub(crate) fn secrets(&self) -> &[Secrets] {
        &self.secrets
    }

    /// The bytes to send, as datagrams.
    pub(crate) fn datagrams(&self) -> &[Vec<u8>] {
        &self.datagrams
    }

    /// How many of the first `datagrams` are answered.
    fn answered(&self, datagrams: usize) -> usize {
        let at = self.secrets.len();
        datagrams - (datagrams.clamp(at, at + HOSTILE) - at)
    }

    /// Sends all datagrams to the relay, a limited number at a time, and returns what came back, in
    /// order of arrival.
    pub(crate) fn exchange(
        &self,
        socket: &mut Socket,
        relay: SocketAddrV4,
    ) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let mut answers = Vec::with_capacity(self.messages.len());
        let (mut slots, mut sent) = (vec![Slot::new(); AT_ONCE], 0);
        while answers.len() < self.messages.len() {
            let is_out = |sent| self.answered(sent).saturating_sub(answers.len());
            let free = IN_FLIGHT.saturating_sub(is_out(sent));
            let rest = self.datagrams[sent..].iter().take(free);
            sent += socket.send(rest.map(|datagram| (datagram.as_slice(), relay)))?;
            let is_full = sent == self.datagrams.len() || is_out(sent) >= IN_FLIGHT;
            let received = socket.receive(&mut slots, is_full)?;
            if is_full && received == 0 {
                // The rest was lost.
                break;
            }
            answers.extend(slots[..received].iter().map(|slot| slot.bytes[..slot.length].to_vec()));
        }
        Ok(answers)
    }

    /// Opens what came back, compares it, and returns the number of messages that arrived.
    pub(crate) fn check(&self, answers: &mut [Vec<u8>]) -> Result<usize, Box<dyn Error>> {
        let ciphers = self.ciphers(|secrets| &secrets.from_relay)?;
        let mut messages = self.messages.iter();
        let mut counters = vec![None; ciphers.len()];
        for answer in &mut *answers {
            let header = Header::read(answer).map_err(|why| format!("an answer is {why}"))?;
            let receiver = header.peer as usize;
            let cipher = ciphers.get(receiver).ok_or("an answer to nobody")?;
            if counters[receiver] >= Some(header.counter) {
                return Err("a counter came twice".into());
            }
            counters[receiver] = Some(header.counter);
            let (front, payload) = answer.split_at_mut(HEADER);
            let opened = cipher.open(&header.nonce(), front, payload)?;
            let (from, text) = opened.split_at(ADDRESS);
            // Messages arrive in the order of sending; some may be lost.
            let sent = messages.find(|message| {
                message.to == header.peer
                    && message.from.to_be_bytes() == from
                    && message.text == text
            });
            sent.ok_or("an answer that nobody sent")?;
        }
        Ok(answers.len())
    }
}
