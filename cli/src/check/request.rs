//! The fields of a request. Each is parsed by itself, so that an error can name the field.

use lanecrypt_ciphers::{Algorithm, Error, Isa};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::calls;
use super::case::{Case, Direction};
use super::code::{Code, CodeRequest};
use super::hex::decode;
use super::packet::{Packet, Way};
use super::refusal::Refusal;
use super::signature::{Scheme, Side, SignatureRequest};

/// Operations of the protocol; not every algorithm has every one.
const OPERATIONS: [&str; 7] = ["encrypt", "decrypt", "mac", "sign", "verify", "seal", "open"];

/// A request with its fields still as text, so that a long line takes no more memory than
/// necessary. A field that is null counts as absent; unknown fields are ignored.
#[derive(Deserialize)]
pub(crate) struct Request<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    alg: Option<&'a RawValue>,
    op: Option<&'a RawValue>,
    key: Option<&'a RawValue>,
    iv: Option<&'a RawValue>,
    skip: Option<&'a RawValue>,
    counter: Option<&'a RawValue>,
    aad: Option<&'a RawValue>,
    taglen: Option<&'a RawValue>,
    chunks: Option<&'a RawValue>,
    data: Option<&'a RawValue>,
    crt: Option<&'a RawValue>,
    salt: Option<&'a RawValue>,
    sig: Option<&'a RawValue>,
}

/// A parsed request: every field is valid.
pub(crate) enum Task {
    /// Encrypt or decrypt.
    Case(Case),
    /// Make a code.
    Code(CodeRequest),
    /// Seal or open.
    Packet(Packet),
    /// Sign or verify.
    Signature(Box<SignatureRequest>),
}

impl Task {
    /// The result.
    pub(crate) fn run(self, isa: Isa) -> Result<Vec<u8>, Refusal> {
        match self {
            Self::Case(case) => case.run(isa),
            Self::Code(message) => message.run(isa),
            Self::Packet(packet) => packet.run(isa),
            Self::Signature(request) => request.run(isa),
        }
    }
}

impl Request<'_> {
    pub(crate) fn parse(&self) -> Result<Task, Refusal> {
        let name = required("alg", text("alg", self.alg)?)?;
        if let Some(code) = Code::named(&name) {
            return self.message(code).map(Task::Code);
        }
        if let Some(scheme) = Scheme::named(&name) {
            return self.signature(&name, scheme).map(Box::new).map(Task::Signature);
        }
        let algorithm: Algorithm = name.parse().map_err(|_| Error::Unsupported)?;
        if algorithm.is_aead() {
            return self.packet(algorithm).map(Task::Packet);
        }
        self.case(algorithm).map(Task::Case)
    }

    fn case(&self, algorithm: Algorithm) -> Result<Case, Refusal> {
        let name = algorithm.to_string();
        let ways = [("encrypt", Direction::Encrypt), ("decrypt", Direction::Decrypt)];
        let direction = self.operation(&name, &ways)?;
        if !hex("aad", self.aad)?.unwrap_or_default().is_empty() {
            return Err(Refusal(format!("aad: {name} does not authenticate")));
        }
        refuse_field("taglen", self.taglen, &name)?;
        // The null cipher has no key.
        let no_key = algorithm.key_lengths().contains(0).then(Vec::new);
        Ok(Case {
            algorithm,
            direction,
            key: required("key", hex("key", self.key)?.or(no_key))?,
            nonce: hex("iv", self.iv)?.unwrap_or_default(),
            skip: number("skip", self.skip)?,
            counter: number("counter", self.counter)?,
            chunks: self.chunks()?,
            data: required("data", hex("data", self.data)?)?,
        })
    }

    fn packet(&self, algorithm: Algorithm) -> Result<Packet, Refusal> {
        let name = algorithm.to_string();
        let way = self.operation(&name, &[("open", Way::Open), ("seal", Way::Seal)])?;
        refuse_field("skip", self.skip, &name)?;
        refuse_field("counter", self.counter, &name)?;
        let tag = field("taglen", "a whole number of bytes", self.taglen)?.unwrap_or(16);
        Ok(Packet {
            algorithm,
            way,
            key: required("key", hex("key", self.key)?)?,
            nonce: hex("iv", self.iv)?.unwrap_or_default(),
            aad: hex("aad", self.aad)?.unwrap_or_default(),
            tag,
            chunks: self.chunks()?,
            data: required("data", hex("data", self.data)?)?,
        })
    }

    /// Refuses the fields that only ciphers have.
    fn refuse_fields_of_ciphers(&self, name: &str) -> Result<(), Refusal> {
        for (field, bytes) in [("iv", self.iv), ("aad", self.aad)] {
            if !hex(field, bytes)?.unwrap_or_default().is_empty() {
                return Err(Refusal(format!("{field}: {name} has none")));
            }
        }
        refuse_field("skip", self.skip, name)?;
        refuse_field("counter", self.counter, name)?;
        refuse_field("taglen", self.taglen, name)?;
        Ok(())
    }

    fn message(&self, code: Code) -> Result<CodeRequest, Refusal> {
        let name = code.name();
        self.operation(name, &[("mac", ())])?;
        self.refuse_fields_of_ciphers(name)?;
        Ok(CodeRequest {
            code,
            key: required("key", hex("key", self.key)?)?,
            chunks: self.chunks()?,
            data: required("data", hex("data", self.data)?)?,
        })
    }

    fn signature(&self, name: &str, scheme: Scheme) -> Result<SignatureRequest, Refusal> {
        let side = match scheme {
            Scheme::Raw => self.operation(name, &[("sign", Side::Sign)])?,
            _ => self.operation(name, &[("sign", Side::Sign), ("verify", Side::Verify)])?,
        };
        self.refuse_fields_of_ciphers(name)?;
        let data = required("data", hex("data", self.data)?)?;
        // A signature takes the whole message in one call.
        calls::check(&self.chunks()?, data.len())?;
        let signature = match side {
            Side::Sign => Vec::new(),
            Side::Verify => required("sig", hex("sig", self.sig)?)?,
        };
        let key = field("key", "an object of hexadecimal numbers", self.key)?;
        Ok(SignatureRequest {
            scheme,
            side,
            key: required("key", key)?,
            crt: field("crt", "true or false", self.crt)?,
            salt: hex("salt", self.salt)?,
            data,
            signature,
        })
    }

    /// The operation that is asked for, if it is one of the algorithm's `own`.
    fn operation<T: Copy>(&self, algorithm: &str, own: &[(&str, T)]) -> Result<T, Refusal> {
        let operation = required("op", text("op", self.op)?)?;
        if let Some((_, own)) = own.iter().find(|(name, _)| *name == operation) {
            return Ok(*own);
        }
        if OPERATIONS.contains(&operation.as_str()) {
            return Err(Refusal(format!("op: {algorithm} does not {operation}")));
        }
        Err(Refusal(String::from("op: unknown")))
    }

    fn chunks(&self) -> Result<Vec<usize>, Refusal> {
        Ok(field("chunks", "a list of whole numbers", self.chunks)?.unwrap_or_default())
    }
}

/// Refuses a number other than 0 for a field that the algorithm does not have.
fn refuse_field(name: &str, value: Option<&RawValue>, algorithm: &str) -> Result<(), Refusal> {
    match number(name, value)? {
        0 => Ok(()),
        _ => Err(Refusal(format!("{name}: {algorithm} has none"))),
    }
}

fn number(name: &str, value: Option<&RawValue>) -> Result<u64, Refusal> {
    Ok(field(name, "a whole number below 2^64", value)?.unwrap_or(0))
}

fn required<T>(name: &str, value: Option<T>) -> Result<T, Refusal> {
    value.ok_or_else(|| Refusal(format!("{name}: missing")))
}

fn field<T: DeserializeOwned>(
    name: &str,
    what: &str,
    value: Option<&RawValue>,
) -> Result<Option<T>, Refusal> {
    let Some(value) = value else { return Ok(None) };
    let parsed = serde_json::from_str(value.get());
    parsed.map(Some).map_err(|_| Refusal(format!("{name}: not {what}")))
}

fn text(name: &str, value: Option<&RawValue>) -> Result<Option<String>, Refusal> {
    field(name, "a string", value)
}

fn hex(name: &str, value: Option<&RawValue>) -> Result<Option<Vec<u8>>, Refusal> {
    let Some(text) = text(name, value)? else { return Ok(None) };
    let bytes = decode(&text).ok_or_else(|| Refusal(format!("{name}: not hexadecimal bytes")))?;
    Ok(Some(bytes))
}
