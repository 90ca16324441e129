//! One message of a batch, and its expected result.

use core::fmt;

use lanecrypt_engine::{Batch, Data, Error, InOutBuf, Operation, Request, Session};

use super::keys::Key;
use super::numbers::Numbers;
use super::place::Place;

/// Fills an output buffer before a message is written to it.
const ROOM: u8 = 0x5a;

/// Where the data and tag of a message are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    InPlace,
    /// From one buffer to another.
    Apart,
    /// From one buffer to another of a different length.
    Uneven,
    /// In place, followed by the tag.
    Packet,
}

/// One message, and its expected result.
#[derive(Clone)]
pub struct Message {
    /// The index of its key.
    pub key: usize,
    pub operation: Operation,
    pub form: Form,
    pub nonce: Vec<u8>,
    pub aad: Vec<u8>,
    /// The data before; for a packet, the whole packet.
    pub data: Vec<u8>,
    /// The received tag, or the initial content of the tag's room; empty for a packet.
    pub tag: Vec<u8>,
    /// The length of tags under its key, 0 without authentication.
    pub tag_length: usize,
    /// It is served before its batch is; a slice of requests may have such messages.
    pub before: bool,
    /// Its address relative to cache lines.
    pub offset: usize,
    pub expected: Expected,
}

/// The expected result of a message.
#[derive(Clone)]
pub struct Expected {
    pub outcome: Result<(), Error>,
    pub out: Vec<u8>,
    pub tag: Vec<u8>,
}

/// The memory of a message.
pub struct Places {
    /// Its input, if that is a separate place.
    pub input: Option<Place>,
    pub out: Place,
    pub tag: Place,
}

/// The parts of a message.
enum Parts<'a> {
    Packet(&'a mut [u8]),
    Detached(Data<'a>, &'a mut [u8]),
}

impl Places {
    fn parts(&mut self, form: Form) -> Parts<'_> {
        let Self { input, out, tag } = self;
        match (form, input) {
            (Form::Packet, _) => Parts::Packet(out.bytes_mut()),
            (_, Some(input)) => {
                Parts::Detached((input.bytes(), out.bytes_mut()).into(), tag.bytes_mut())
            }
            (_, None) => Parts::Detached(out.bytes_mut().into(), tag.bytes_mut()),
        }
    }
}

/// Changes to a message that make it invalid.
const DAMAGES: [Damage; 11] = [
    Damage::Nonce,
    Damage::DataLength,
    Damage::TagLength,
    Damage::TagBit,
    Damage::TagBit,
    Damage::DataBit,
    Damage::AadBit,
    Damage::Operation,
    Damage::Before,
    Damage::Uneven,
    Damage::ShortPacket,
];

#[derive(Clone, Copy)]
enum Damage {
    Nonce,
    DataLength,
    TagLength,
    TagBit,
    DataBit,
    AadBit,
    Operation,
    Before,
    Uneven,
    ShortPacket,
}

impl Message {
    /// A valid message of about `len` bytes under the key of this index.
    pub fn random(keys: &[Key], key: usize, len: usize, numbers: &mut impl Numbers) -> Self {
        let number = key;
        let key = &keys[number];
        let algorithm = key.algorithm;
        let (operations, forms) = if algorithm.is_aead() {
            ([Operation::Seal, Operation::Open], &[Form::InPlace, Form::Apart, Form::Packet][..])
        } else {
            ([Operation::Encrypt, Operation::Decrypt], &[Form::InPlace, Form::Apart][..])
        };
        let shortest = if algorithm.to_string().ends_with("-xts") { 16 } else { 0 };
        let len = (len - len % algorithm.granularity()).max(shortest);
        let hashed = algorithm.to_string().ends_with("-gcm") && numbers.one_in(12);
        let nonce = if hashed { 1 + numbers.below(40) } else { algorithm.nonce_length() };
        let nonce = numbers.bytes(nonce);
        let aad = match numbers.below(8) {
            _ if !algorithm.is_aead() => 0,
            0 => numbers.below(300),
            _ => numbers.below(40),
        };
        let mut message = Self {
            key: number,
            operation: *numbers.choice(&operations),
            form: *numbers.choice(forms),
            nonce: near_the_carry(nonce, numbers),
            aad: numbers.bytes(aad),
            data: numbers.bytes(len),
            tag: vec![ROOM; key.tag_length()],
            tag_length: key.tag_length(),
            before: false,
            offset: numbers.below(64),
            expected: Expected { outcome: Ok(()), out: Vec::new(), tag: Vec::new() },
        };
        if message.operation == Operation::Open {
            let (aad, nonce) = (&message.aad, &message.nonce);
            let (data, tag) = (&mut message.data[..], &mut message.tag);
            key.serve(Operation::Seal, nonce, aad, data.into(), tag).expect("it can be sealed");
        }
        if message.form == Form::Packet {
            message.data.append(&mut message.tag);
        }
        message.expect(keys);
        message
    }

    /// Changes it so that it is refused in most cases.
    pub fn damage(&mut self, keys: &[Key], numbers: &mut impl Numbers) {
        match *numbers.choice(&DAMAGES) {
            Damage::Nonce => {
                let len = *numbers.choice(&[0, 1, 7, 8, 11, 12, 13, 15, 16, 17, 23, 24, 25]);
                self.nonce = numbers.bytes(len);
            }
            Damage::DataLength => {
                let grown = 1 + numbers.below(15);
                self.data.extend(numbers.bytes(grown));
            }
            Damage::TagLength => {
                let len = *numbers.choice(&[0, 1, 12, 15, 17, 32]);
                self.tag.resize(len, ROOM);
            }
            Damage::TagBit if self.form == Form::Packet => flip_last(&mut self.data, numbers),
            Damage::TagBit => flip_last(&mut self.tag, numbers),
            Damage::DataBit => flip(&mut self.data, numbers),
            Damage::AadBit if self.aad.is_empty() => self.aad.push(0),
            Damage::AadBit => flip(&mut self.aad, numbers),
            Damage::Operation => {
                self.operation = *numbers.choice(&Operation::OF_CIPHERS);
                let seals = matches!(self.operation, Operation::Seal | Operation::Open);
                if self.form == Form::Packet && !seals {
                    self.form = Form::InPlace;
                }
            }
            Damage::Before => self.before = true,
            Damage::Uneven if self.form == Form::Packet => self.before = true,
            Damage::Uneven => self.form = Form::Uneven,
            Damage::ShortPacket => {
                let opens = matches!(self.operation, Operation::Decrypt | Operation::Open);
                self.operation = if opens { Operation::Open } else { Operation::Seal };
                self.form = Form::Packet;
                let len = numbers.below(17);
                self.data.truncate(len);
            }
        }
        self.expect(keys);
    }

    /// Sets the expected result from the portable cipher.
    pub fn expect(&mut self, keys: &[Key]) {
        let mut out = self.room();
        let mut tag = self.tag.clone();
        let (key, nonce, aad) = (&keys[self.key], &self.nonce, &self.aad);
        let sealed = matches!(self.operation, Operation::Seal | Operation::Open);
        let outcome = match self.form {
            Form::Uneven if sealed != key.algorithm.is_aead() => Err(Error::Unsupported),
            Form::Uneven => Err(Error::OutputLength),
            Form::Packet => key.serve_packet(self.operation, nonce, aad, &mut out),
            Form::InPlace => key.serve(self.operation, nonce, aad, (&mut out[..]).into(), &mut tag),
            Form::Apart => {
                let data = InOutBuf::new(&self.data, &mut out).expect("equal lengths");
                key.serve(self.operation, nonce, aad, data, &mut tag)
            }
        };
        self.expected = Expected { outcome, out, tag };
    }

    /// The initial content of its output.
    pub fn room(&self) -> Vec<u8> {
        match self.form {
            Form::Apart => vec![ROOM; self.data.len()],
            // Shorter or longer.
            Form::Uneven if self.offset.is_multiple_of(2) && !self.data.is_empty() => {
                vec![ROOM; self.data.len() / 2]
            }
            Form::Uneven => vec![ROOM; self.data.len() + 1 + self.offset],
            Form::InPlace | Form::Packet => self.data.clone(),
        }
    }

    pub fn places(&self) -> Places {
        let has_input = matches!(self.form, Form::Apart | Form::Uneven);
        let input = has_input.then(|| Place::new(&self.data, 3 * self.offset));
        let tag = Place::new(&self.tag, 5 * self.offset + 1);
        Places { input, out: Place::new(&self.room(), self.offset), tag }
    }

    /// Its request.
    pub fn request<'a>(&'a self, session: &'a Session, places: &'a mut Places) -> Request<'a> {
        let (nonce, aad) = (&self.nonce, &self.aad);
        match (self.operation, places.parts(self.form)) {
            (Operation::Seal, Parts::Packet(packet)) => Request::seal(session, nonce, aad, packet),
            (_, Parts::Packet(packet)) => Request::open(session, nonce, aad, packet),
            (Operation::Encrypt, Parts::Detached(data, _)) => {
                Request::encrypt(session, nonce, data)
            }
            (Operation::Decrypt, Parts::Detached(data, _)) => {
                Request::decrypt(session, nonce, data)
            }
            (Operation::Seal, Parts::Detached(data, tag)) => {
                Request::seal_detached(session, nonce, aad, data, tag)
            }
            (_, Parts::Detached(data, tag)) => {
                Request::open_detached(session, nonce, aad, data, tag)
            }
        }
    }

    /// Adds it to a batch that is filled.
    pub fn give<'a>(
        &'a self,
        session: &'a Session,
        places: &'a mut Places,
        batch: &mut Batch<'_, 'a>,
    ) -> Option<Result<(), Error>> {
        let (nonce, aad) = (&self.nonce, &self.aad);
        match (self.operation, places.parts(self.form)) {
            (Operation::Seal, Parts::Packet(packet)) => batch.seal(session, nonce, aad, packet),
            (_, Parts::Packet(packet)) => batch.open(session, nonce, aad, packet),
            (Operation::Encrypt, Parts::Detached(data, _)) => batch.encrypt(session, nonce, data),
            (Operation::Decrypt, Parts::Detached(data, _)) => batch.decrypt(session, nonce, data),
            (Operation::Seal, Parts::Detached(data, tag)) => {
                batch.seal_detached(session, nonce, aad, data, tag)
            }
            (_, Parts::Detached(data, tag)) => batch.open_detached(session, nonce, aad, data, tag),
        }
    }

    /// Serves it by a call of the session, without a batch.
    pub fn call(&self, session: &Session, places: &mut Places) -> Result<(), Error> {
        let (nonce, aad) = (&self.nonce, &self.aad);
        match (self.operation, places.parts(self.form)) {
            (Operation::Seal, Parts::Packet(packet)) => session.seal(nonce, aad, packet),
            (_, Parts::Packet(packet)) => {
                let message = packet.len().saturating_sub(session.tag_length());
                let opened = session.open(nonce, aad, packet)?;
                assert_eq!(opened.len(), message, "{self:?}");
                Ok(())
            }
            (Operation::Encrypt, Parts::Detached(data, _)) => session.encrypt(nonce, data),
            (Operation::Decrypt, Parts::Detached(data, _)) => session.decrypt(nonce, data),
            (Operation::Seal, Parts::Detached(data, tag)) => {
                session.seal_detached(nonce, aad, data, tag)
            }
            (_, Parts::Detached(data, tag)) => session.open_detached(nonce, aad, data, tag),
        }
    }

    /// Compares its result with the expected one.
    pub fn check(
        &self,
        outcome: Option<Result<(), Error>>,
        places: &Places,
    ) -> Result<(), &'static str> {
        let Places { input, out, tag } = places;
        let expected = &self.expected;
        if !out.is_guarded() || !tag.is_guarded() || input.iter().any(|input| !input.is_guarded()) {
            return Err("a byte outside of its buffers is written");
        }
        if input.iter().any(|input| input.bytes() != self.data) {
            return Err("its input is written");
        }
        if outcome != Some(expected.outcome) {
            return Err("another outcome");
        }
        if expected.outcome == Err(Error::Authentication) && !self.is_short() {
            let tag = if self.form == Form::Packet { self.tag_length } else { 0 };
            let message = out.bytes().len() - tag;
            if out.bytes()[..message].iter().any(|&byte| byte != 0) {
                return Err("it is refused and not wiped");
            }
        }
        if out.bytes() != expected.out {
            return Err("another output");
        }
        if tag.bytes() != expected.tag {
            return Err("another tag");
        }
        Ok(())
    }

    /// Whether it is a packet that is shorter than a tag.
    pub fn is_short(&self) -> bool {
        self.form == Form::Packet && self.data.len() < self.tag_length
    }
}

/// Shows lengths instead of bytes; the seed of the test reproduces the bytes.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("key", &self.key)
            .field("operation", &self.operation)
            .field("form", &self.form)
            .field("nonce", &self.nonce.len())
            .field("aad", &self.aad.len())
            .field("data", &self.data.len())
            .field("tag", &self.tag.len())
            .field("before", &self.before)
            .field("offset", &self.offset)
            .field("expected", &self.expected.outcome)
            .finish()
    }
}

/// Makes nonces end with ones in some cases, so that a counter in them wraps.
fn near_the_carry(mut nonce: Vec<u8>, numbers: &mut impl Numbers) -> Vec<u8> {
    if numbers.one_in(4) {
        let ones = numbers.below(nonce.len() + 1);
        nonce.iter_mut().rev().take(ones).for_each(|byte| *byte = 0xff);
        if let Some(last) = nonce.last_mut().filter(|_| ones > 0) {
            *last -= 3;
        }
    }
    nonce
}

fn flip(bytes: &mut [u8], numbers: &mut impl Numbers) {
    if !bytes.is_empty() {
        let bit = numbers.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Flips a bit of the last 16 bytes.
fn flip_last(bytes: &mut [u8], numbers: &mut impl Numbers) {
    let at = bytes.len().saturating_sub(16);
    flip(&mut bytes[at..], numbers);
}
