//! Messages without authentication.

use lanecrypt_ciphers::Error;
use lanecrypt_engine::{Batch, Request, Session};
use lanecrypt_peers::{Cipher, Direction, Failed, Message, Messages, Run};

use super::{Served, answered};

impl Messages<Message<'_>> for Served {
    fn messages(&mut self, messages: &mut [Message<'_>], run: Run<'_>) -> Result<(), Failed> {
        match self.direction {
            Direction::Encrypt => self.run(messages, run, encrypt, to_encrypt, give_to_encrypt),
            Direction::Decrypt => self.run(messages, run, decrypt, to_decrypt, give_to_decrypt),
        }
    }
}

// Sessions take whole messages, and keep their keys for life.
impl Cipher for Served {}

#[inline]
fn encrypt(session: &Session, message: &mut Message<'_>) -> Result<(), Failed> {
    answered(session.encrypt(message.iv, &mut *message.data))
}

#[inline]
fn decrypt(session: &Session, message: &mut Message<'_>) -> Result<(), Failed> {
    answered(session.decrypt(message.iv, &mut *message.data))
}

#[inline]
fn to_encrypt<'a>(
    session: &'a Session,
    message: &'a mut Message<'_>,
) -> Result<Request<'a>, Failed> {
    Ok(Request::encrypt(session, message.iv, &mut *message.data))
}

#[inline]
fn to_decrypt<'a>(
    session: &'a Session,
    message: &'a mut Message<'_>,
) -> Result<Request<'a>, Failed> {
    Ok(Request::decrypt(session, message.iv, &mut *message.data))
}

#[inline]
fn give_to_encrypt<'a>(
    batch: &mut Batch<'_, 'a>,
    session: &'a Session,
    message: &'a mut Message<'_>,
) -> Option<Result<(), Error>> {
    batch.encrypt(session, message.iv, &mut *message.data)
}

#[inline]
fn give_to_decrypt<'a>(
    batch: &mut Batch<'_, 'a>,
    session: &'a Session,
    message: &'a mut Message<'_>,
) -> Option<Result<(), Error>> {
    batch.decrypt(session, message.iv, &mut *message.data)
}
