//! Calls for one message, which wait for the answer.

use lanecrypt_engine::{Nonce, Operation};

use super::parts::{Checking, Computing, Filling, Part, Whole, WholeNext};
use super::window::Owner;
use super::{Client, Session};
use crate::Error;
use crate::protocol::request::Code;

impl<B: AsMut<[u8]>> Client<B> {
    /// Seals a message in place: **the last [`tag_length`](Session::tag_length) bytes are room for
    /// the tag and are overwritten**.
    ///
    /// **The nonce must not have been used before under the session's key.**
    ///
    /// # Errors
    ///
    /// [`Error::MakesNonces`] if the daemon makes the nonces of the key; [`Error`]. Then nothing is
    /// written.
    pub fn seal(
        &mut self,
        session: Session,
        nonce: &[u8],
        aad: &[u8],
        buffer: &mut [u8],
    ) -> Result<(), Error> {
        self.serve(session, Operation::Seal, nonce, aad, buffer)
    }

    /// Seals a message in place, as [`seal`](Self::seal) does, with a nonce that the daemon makes
    /// and that is returned: for named keys whose nonces the daemon
    /// [makes](Session::makes_nonces). It never repeats.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with [`NoncesExhausted`](lanecrypt_engine::Error::NoncesExhausted) after
    /// as many messages as the algorithm allows with one key; [`Error`]. Then nothing is written.
    pub fn seal_next(
        &mut self,
        session: Session,
        aad: &[u8],
        buffer: &mut [u8],
    ) -> Result<Nonce, Error> {
        self.served(WholeNext::new(session, aad, buffer))?.outcome()
    }

    /// Opens a packet in place, if it is authentic, and returns the message. If not, it is wiped.
    ///
    /// # Errors
    ///
    /// [`Error`]; then nothing is written, unless it was not authentic.
    pub fn open<'p>(
        &mut self,
        session: Session,
        nonce: &[u8],
        aad: &[u8],
        packet: &'p mut [u8],
    ) -> Result<&'p mut [u8], Error> {
        self.serve(session, Operation::Open, nonce, aad, packet)?;
        let message = packet.len().saturating_sub(session.tag_length());
        packet.get_mut(..message).ok_or(Error::Malformed)
    }

    /// Encrypts a message in place without a tag.
    ///
    /// # Errors
    ///
    /// [`Error`]; then nothing is written.
    pub fn encrypt(&mut self, session: Session, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
        self.serve(session, Operation::Encrypt, iv, &[], data)
    }

    /// Decrypts a message in place without a tag.
    ///
    /// # Errors
    ///
    /// [`Error`]; then nothing is written.
    pub fn decrypt(&mut self, session: Session, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
        self.serve(session, Operation::Decrypt, iv, &[], data)
    }

    /// Fills `out` with random bytes from the daemon's generator, in pieces if they exceed the
    /// arena.
    ///
    /// # Errors
    ///
    /// [`Error`]; then a part may be written.
    pub fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
        // Half of it, so that one piece is copied while the next is generated.
        let longest = (self.longest() / 2).max(1);
        let mut pieces: Vec<Filling<'_>> = out.chunks_mut(longest).map(Filling::new).collect();
        self.run(&mut pieces)?;
        pieces.iter().try_for_each(Filling::outcome)
    }

    /// Signs a message into `signature`, which has
    /// [`signature_length`](Session::signature_length) bytes. It takes 0.1 to 20 milliseconds.
    ///
    /// # Errors
    ///
    /// [`Error`]; then nothing is written.
    pub fn sign(
        &mut self,
        session: Session,
        message: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.compute(session, Code::Keyed(Operation::Sign), message, signature)
    }

    /// The same with the digest of a message, by the hash function of the session: that of its
    /// padding, or SHA-256 of ECDSA. Ed25519 signs messages only.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with [`DataLength`](lanecrypt_engine::Error::DataLength) if it does not
    /// have the length of such a digest; [`Error`]. Then nothing is written.
    pub fn sign_digest(
        &mut self,
        session: Session,
        digest: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.compute(session, Code::SignDigest, digest, signature)
    }

    /// Checks the signature of a message.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with [`Authentication`](lanecrypt_engine::Error::Authentication) if it or
    /// its length is invalid; [`Error`].
    pub fn verify(
        &mut self,
        session: Session,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        self.served(Checking::new(session.number, message, signature))?.outcome()
    }

    /// Computes a shared secret from what the other side of a key exchange sent, and writes it to
    /// `output`, which has [`agreement_length`](Session::agreement_length) bytes. The lengths are
    /// those of the engine's `AsymmetricKey`.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with [`DataLength`](lanecrypt_engine::Error::DataLength) if `received`
    /// does not have the length of a public key or ciphertext, and with
    /// [`PublicKey`](lanecrypt_engine::Error::PublicKey) if its point is not on the curve or has a
    /// small order; [`Error`]. Then nothing is written.
    pub fn agree(
        &mut self,
        session: Session,
        received: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error> {
        self.compute(session, Code::Keyed(Operation::Agree), received, output)
    }

    fn compute(
        &mut self,
        session: Session,
        code: Code,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error> {
        self.served(Computing::new(session.number, code, input, output))?.outcome()
    }

    fn serve(
        &mut self,
        session: Session,
        operation: Operation,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<(), Error> {
        self.served(Whole::new(session.number, operation, nonce, aad, data))?.outcome()
    }

    /// The same part, once the daemon has served it.
    fn served<P: Part>(&mut self, mut part: P) -> Result<P, Error> {
        self.run(core::slice::from_mut(&mut part))?;
        Ok(part)
    }

    /// Submits each part to the daemon, and waits for all.
    ///
    /// # Errors
    ///
    /// If the connection ends. Parts without an answer then stay without one.
    pub(super) fn run(&mut self, parts: &mut [impl Part]) -> Result<(), Error> {
        self.channel.check_usable()?;
        let (mut given, mut answered) = (0, 0);
        while answered < parts.len() {
            while let Some(part) = parts.get_mut(given) {
                let put = part.put(&mut self.channel, Owner::Part(given));
                match put {
                    Ok(_) => given += 1,
                    Err(Error::Full) => break,
                    Err(error) => {
                        part.settle(Err(error));
                        (given, answered) = (given + 1, answered + 1);
                    }
                }
            }
            if answered == parts.len() {
                break;
            }
            self.channel.publish();
            self.channel.wait()?;
            while let Some(done) = self.channel.next()? {
                match done.pending.owner {
                    Owner::Part(at) => {
                        answered += 1;
                        if let Some(part) = parts.get_mut(at) {
                            part.take(self.channel.memory(), done.pending.offset, done.status);
                        }
                    }
                    Owner::Message => {
                        let completion = self.finish(&done)?;
                        self.done.push_back(completion);
                    }
                }
            }
        }
        Ok(())
    }
}
