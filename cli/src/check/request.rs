//! The fields of a request, parsed one by one so that a wrong one can be named.

use lanecrypt_ciphers::{Algorithm, Error};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::case::{Case, Direction};

/// Operations of the protocol; not every algorithm has every one.
const OPERATIONS: [&str; 7] = ["encrypt", "decrypt", "mac", "sign", "verify", "seal", "open"];

/// What goes into an answer instead of a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

/// A request whose fields are still the text that they came as: a long line takes no more memory
/// than it must. A field that is null is absent, one that is unknown is ignored.
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
    chunks: Option<&'a RawValue>,
    data: Option<&'a RawValue>,
}

impl Request<'_> {
    /// What is to be encrypted or decrypted, and how.
    pub(crate) fn parse(&self) -> Result<Case, Refusal> {
        let algorithm: Algorithm =
            required("alg", text("alg", self.alg)?)?.parse().map_err(|_| Error::Unsupported)?;
        let direction = self.direction(algorithm)?;
        if !hex("aad", self.aad)?.unwrap_or_default().is_empty() {
            return Err(Refusal(format!("aad: {algorithm} does not authenticate")));
        }
        // The null cipher has none.
        let no_key = algorithm.key_lengths().contains(0).then(Vec::new);
        Ok(Case {
            algorithm,
            direction,
            key: required("key", hex("key", self.key)?.or(no_key))?,
            nonce: hex("iv", self.iv)?.unwrap_or_default(),
            skip: field("skip", "a whole number below 2^64", self.skip)?.unwrap_or(0),
            counter: field("counter", "a whole number below 2^64", self.counter)?.unwrap_or(0),
            chunks: field("chunks", "a list of whole numbers", self.chunks)?.unwrap_or_default(),
            data: required("data", hex("data", self.data)?)?,
        })
    }

    fn direction(&self, algorithm: Algorithm) -> Result<Direction, Refusal> {
        let operation = required("op", text("op", self.op)?)?;
        match operation.as_str() {
            "encrypt" => Ok(Direction::Encrypt),
            "decrypt" => Ok(Direction::Decrypt),
            other if OPERATIONS.contains(&other) => {
                Err(Refusal(format!("op: {algorithm} does not {other}")))
            }
            _ => Err(Refusal(String::from("op: unknown"))),
        }
    }
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

/// The bytes of a text in hexadecimal, of either case.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let nibble = |byte: u8| char::from(byte).to_digit(16).and_then(|n| u8::try_from(n).ok());
    pairs.iter().map(|&[high, low]| Some(nibble(high)? << 4 | nibble(low)?)).collect()
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('?');
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(digits));
    text
}
