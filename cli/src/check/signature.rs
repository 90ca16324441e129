//! RSA: signatures, and the private operation on a plain number.

use lanecrypt_rsa::{
    Backend, Components, CrtComponents, Hash, Isa, KeyError, Padding, PrivateKey, PublicKey,
    Request, Workspace, hazmat, process,
};
use serde::Deserialize;

use super::refusal::Refusal;

/// What the names of all of these begin with.
const FAMILY: &str = "rsa-";
const RAW: &str = "rsa-raw-private";

/// What is done with a message before the private operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Nothing: it is a number.
    Raw,
    /// PKCS#1 v1.5.
    Pkcs1v15(Hash),
    /// PSS, with MGF1 of the same hash function.
    Pss(Hash),
}

impl Scheme {
    /// By its name: `rsa-raw-private`, `rsa-pkcs1v15-sign-sha256`, `rsa-pss-sha256`, …
    pub(crate) fn named(name: &str) -> Option<Self> {
        if name == RAW {
            return Some(Self::Raw);
        }
        let of = |prefix: &str, of: fn(Hash) -> Self| {
            let hash = name.strip_prefix(FAMILY)?.strip_prefix(prefix)?;
            let hash = hash.strip_prefix("sign-").unwrap_or(hash);
            Hash::ALL.iter().copied().find(|known| known.name() == hash).map(of)
        };
        of("pkcs1v15-", Self::Pkcs1v15).or_else(|| of("pss-", Self::Pss))
    }

    /// The padding of a signature; a plain number has none.
    fn padding(self, salt: Option<&[u8]>) -> Result<Padding, Refusal> {
        match (self, salt) {
            (Self::Raw, _) => Err(Refusal(format!("op: {RAW} does not verify"))),
            (Self::Pkcs1v15(_), Some(_)) => Err(Refusal("salt: PKCS#1 v1.5 has none".to_owned())),
            (Self::Pkcs1v15(hash), None) => Ok(Padding::pkcs1v15(hash)),
            (Self::Pss(hash), None) => Ok(Padding::pss(hash)),
            (Self::Pss(hash), Some(salt)) => Ok(Padding::pss_with_salt_length(hash, salt.len())),
        }
    }

    /// The signature of `data`, or the private operation on it. With PSS, the salt is random unless
    /// there is one.
    pub(crate) fn sign(
        self,
        key: &PrivateKey,
        data: &[u8],
        salt: Option<&[u8]>,
    ) -> Result<Vec<u8>, Refusal> {
        let mut out = vec![0; key.signature_length()];
        let request = match (self, salt) {
            (Self::Raw, None) => hazmat::raw_private(key, data, &mut out),
            (Self::Raw, Some(_)) => return Err(Refusal(format!("salt: {RAW} has none"))),
            (Self::Pss(_), Some(salt)) => {
                hazmat::sign_with_salt(key, self.padding(Some(salt))?, data, salt, &mut out)
            }
            _ => Request::sign(key, self.padding(salt)?, data, &mut out),
        };
        serve(request)?;
        Ok(out)
    }

    /// Checks the signature of `data`. With PSS, the salt is as long as `salt`, or as a digest.
    pub(crate) fn verify(
        self,
        key: &PublicKey,
        data: &[u8],
        signature: &[u8],
        salt: Option<&[u8]>,
    ) -> Result<(), Refusal> {
        serve(Request::verify(key, self.padding(salt)?, data, signature))
    }
}

fn serve(request: Request<'_>) -> Result<(), Refusal> {
    let mut requests = [request];
    // What is checked is ours, whatever is cheaper. The outcome of the request says more than that
    // of the batch.
    let _ = process(&mut requests, &mut Workspace::with_backend(Backend::Own));
    let outcome = requests[0].outcome().unwrap_or(Ok(()));
    outcome.map_err(|error| Refusal(error.to_string()))
}

/// The numbers of a key, in hexadecimal digits.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct Numbers {
    n: Option<String>,
    e: Option<String>,
    d: Option<String>,
    p: Option<String>,
    q: Option<String>,
    dp: Option<String>,
    dq: Option<String>,
    qinv: Option<String>,
}

impl Numbers {
    /// The private key. With `crt` it knows its primes, which are recovered if they are missing.
    /// Without `crt` it uses those that are there.
    pub(crate) fn private(&self, crt: Option<bool>, isa: Isa) -> Result<PrivateKey, Refusal> {
        let [n, e, d] = [
            number("n", self.n.as_deref())?,
            number("e", self.e.as_deref())?,
            number("d", self.d.as_deref())?,
        ];
        let is_bare = self.p.is_none() && self.q.is_none();
        let key = if is_bare || crt == Some(false) {
            let components = Components { n: &n, e: &e, d: &d, crt: None };
            PrivateKey::legacy_from_components(&components).map_err(refused)?
        } else {
            let [p, q, dp, dq, qinv] = [
                number("p", self.p.as_deref())?,
                number("q", self.q.as_deref())?,
                number("dp", self.dp.as_deref())?,
                number("dq", self.dq.as_deref())?,
                number("qinv", self.qinv.as_deref())?,
            ];
            let crt = CrtComponents { p: &p, q: &q, dp: &dp, dq: &dq, qinv: &qinv };
            let components = Components { n: &n, e: &e, d: &d, crt: Some(crt) };
            PrivateKey::legacy_from_components(&components).map_err(refused)?
        };
        let key = if crt == Some(true) { key.recover_primes().map_err(refused)? } else { key };
        Ok(key.with_isa(isa))
    }

    pub(crate) fn public(&self, isa: Isa) -> Result<PublicKey, Refusal> {
        let (n, e) = (number("n", self.n.as_deref())?, number("e", self.e.as_deref())?);
        Ok(PublicKey::legacy_new(&n, &e).map_err(refused)?.with_isa(isa))
    }
}

fn refused(error: KeyError) -> Refusal {
    Refusal(format!("key: {error}"))
}

/// The bytes of a number, which may have any number of digits.
fn number(name: &str, digits: Option<&str>) -> Result<Vec<u8>, Refusal> {
    let digits = digits.ok_or_else(|| Refusal(format!("key: {name}: missing")))?;
    let even = if digits.len() % 2 == 0 { digits.to_owned() } else { format!("0{digits}") };
    super::hex::decode(&even)
        .ok_or_else(|| Refusal(format!("key: {name}: not a hexadecimal number")))
}

/// The two operations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Sign,
    Verify,
}

/// A message to sign, or one with its signature.
pub(crate) struct SignatureRequest {
    pub(crate) scheme: Scheme,
    pub(crate) side: Side,
    pub(crate) key: Numbers,
    pub(crate) crt: Option<bool>,
    pub(crate) salt: Option<Vec<u8>>,
    pub(crate) data: Vec<u8>,
    /// Empty for signing.
    pub(crate) signature: Vec<u8>,
}

impl SignatureRequest {
    /// The signature; nothing if one was to be checked and is right.
    pub(crate) fn run(&self, isa: Isa) -> Result<Vec<u8>, Refusal> {
        let Self { scheme, side, key, crt, salt, data, signature } = self;
        let salt = salt.as_deref();
        match side {
            Side::Sign => scheme.sign(&key.private(*crt, isa)?, data, salt),
            Side::Verify => {
                scheme.verify(&key.public(isa)?, data, signature, salt).map(|()| Vec::new())
            }
        }
    }
}
