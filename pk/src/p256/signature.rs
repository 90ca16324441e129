//! Signatures in DER (RFC 3279, `Ecdsa-Sig-Value`): a sequence of r and s.

use pkcs8::der::asn1::{AnyRef, UintRef};
use pkcs8::der::{self, Decode as _, Encode as _, SliceWriter};

use crate::Error;

/// The most bytes of a signature in DER.
pub const MAX_DER_LENGTH: usize = 72;

/// A signature, r and s, in DER, written to the beginning of `room`.
pub fn signature_to_der<'a>(signature: &[u8; 64], room: &'a mut [u8; MAX_DER_LENGTH]) -> &'a [u8] {
    write(signature, SliceWriter::new(room)).expect("there is room")
}

fn write<'a>(signature: &[u8; 64], mut writer: SliceWriter<'a>) -> Result<&'a [u8], der::Error> {
    let (r, s) = signature.split_at(32);
    let (r, s) = (UintRef::new(r)?, UintRef::new(s)?);
    let length = (r.encoded_len()? + s.encoded_len()?)?;
    writer.sequence(length, |writer| {
        r.encode(writer)?;
        s.encode(writer)
    })?;
    writer.finish()
}

/// The signature, r and s, each of 32 bytes, of one in DER.
///
/// # Errors
///
/// [`Error::Signature`] if it is not the DER of two numbers of at most 32 bytes.
pub fn signature_from_der(der: &[u8]) -> Result<[u8; 64], Error> {
    let numbers = AnyRef::from_der(der).and_then(|any| {
        any.sequence(|reader| Ok([UintRef::decode(reader)?, UintRef::decode(reader)?]))
    });
    let numbers = numbers.map_err(|_: der::Error| Error::Signature)?;
    let mut signature = [0; 64];
    for (number, out) in numbers.iter().zip(signature.chunks_exact_mut(32)) {
        let bytes = number.as_bytes();
        let start = out.len().checked_sub(bytes.len()).ok_or(Error::Signature)?;
        out[start..].copy_from_slice(bytes);
    }
    Ok(signature)
}
