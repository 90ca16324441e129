//! The outcomes of requests, as numbers in a completion.

use lanecrypt_engine::Error as Cipher;

use crate::Error;

/// It was served.
pub(crate) const SERVED: u32 = 0;
/// It was not authentic: the place of `Authentication` among the errors of ciphers, plus one.
pub(crate) const FORGED: u32 = 2;
/// The client has no such session.
pub(crate) const UNKNOWN_SESSION: u32 = 64;
/// The session may not be used for this operation.
pub(crate) const NOT_ALLOWED: u32 = 65;
/// The request is outside of the arena, or violates the protocol.
pub(crate) const MALFORMED: u32 = 66;
/// The system gave no random bytes.
pub(crate) const NO_ENTROPY: u32 = 67;

/// The client has the most signatures in flight that are allowed.
pub(crate) const FULL: u32 = 68;
/// The key of the session was removed from the daemon's settings.
pub(crate) const KEY_REMOVED: u32 = 69;
/// The daemon is shutting down, and the request would take long.
pub(crate) const SHUTTING_DOWN: u32 = 70;
/// The daemon makes the nonces of the key.
pub(crate) const MAKES_NONCES: u32 = 71;

/// The errors of ciphers; the number of one is its place here, plus one.
const CIPHER: [Cipher; 20] = [
    Cipher::AadLength,
    Cipher::Authentication,
    Cipher::DataLength,
    Cipher::DriverFailed,
    Cipher::Entropy,
    Cipher::Fault,
    Cipher::Finished,
    Cipher::Forked,
    Cipher::KeyLength,
    Cipher::KeyMemory,
    Cipher::KeystreamExhausted,
    Cipher::NoncesExhausted,
    Cipher::NonceLength,
    Cipher::OutOfReach,
    Cipher::OutputLength,
    Cipher::Padding,
    Cipher::TagLength,
    Cipher::Unsupported,
    Cipher::WeakKey,
    Cipher::PublicKey,
];

/// The number of an outcome.
#[inline]
pub(crate) fn of(outcome: Result<(), Cipher>) -> u32 {
    match outcome {
        Ok(()) => SERVED,
        Err(error) => of_error(error),
    }
}

#[cold]
fn of_error(error: Cipher) -> u32 {
    let place = |wanted| CIPHER.iter().position(|&known| known == wanted);
    // An error of a later version of the ciphers is reported as another one.
    let at = place(error).or_else(|| place(Cipher::Unsupported));
    at.and_then(|at| u32::try_from(at + 1).ok()).unwrap_or(MALFORMED)
}

/// Whether a request with this outcome has changed its data: data that is not authentic is wiped.
#[inline]
pub(crate) fn changes(number: u32) -> bool {
    const { assert!(matches!(CIPHER[FORGED as usize - 1], Cipher::Authentication)) };
    number == SERVED || number == FORGED
}

/// The outcome of a number.
#[inline]
pub(crate) fn outcome(number: u32) -> Result<(), Error> {
    if number == SERVED { Ok(()) } else { Err(error(number)) }
}

#[cold]
fn error(number: u32) -> Error {
    match number {
        UNKNOWN_SESSION => Error::UnknownSession,
        NOT_ALLOWED => Error::NotAllowed,
        NO_ENTROPY => Error::Entropy,
        FULL => Error::Full,
        KEY_REMOVED => Error::KeyRemoved,
        SHUTTING_DOWN => Error::ShuttingDown,
        MAKES_NONCES => Error::MakesNonces,
        number => match CIPHER.get((number as usize).wrapping_sub(1)) {
            Some(&error) => Error::Refused(error),
            None => Error::Malformed,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_comes_back() {
        assert_eq!(outcome(of(Ok(()))), Ok(()));
        for error in CIPHER {
            assert_eq!(outcome(of(Err(error))), Err(Error::Refused(error)));
        }
        assert_eq!(outcome(UNKNOWN_SESSION), Err(Error::UnknownSession));
        assert_eq!(outcome(NOT_ALLOWED), Err(Error::NotAllowed));
        assert_eq!(outcome(NO_ENTROPY), Err(Error::Entropy));
        assert_eq!(outcome(FULL), Err(Error::Full));
        assert_eq!(outcome(KEY_REMOVED), Err(Error::KeyRemoved));
        assert_eq!(outcome(SHUTTING_DOWN), Err(Error::ShuttingDown));
        assert_eq!(outcome(MAKES_NONCES), Err(Error::MakesNonces));
        for number in [21, MALFORMED, 72, u32::MAX] {
            assert_eq!(outcome(number), Err(Error::Malformed));
        }
    }
}
