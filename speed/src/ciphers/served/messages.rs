//! Messages without authentication.

use lanecrypt_ciphers::Error;
use lanecrypt_engine::{Batch, Request, Session};
use lanecrypt_peers::{Cipher, Direction, Failed, Message};

use super::{Served, Way, answered};

impl Cipher for Served {
    fn messages(&mut self, batch: &mut [Message<'_>], requests: usize) -> Result<(), Failed> {
        self.batches(batch, 1, requests)
    }

    fn messages_rekeyed(
        &mut self,
        batch: &mut [Message<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        self.batches_rekeyed(batch, keys, 1, requests)
    }

    fn batches(
        &mut self,
        messages: &mut [Message<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        match (self.direction, self.way) {
            (Direction::Encrypt, Way::Alone) => self.each(messages, requests, encrypt),
            (Direction::Decrypt, Way::Alone) => self.each(messages, requests, decrypt),
            (Direction::Encrypt, Way::Process) => {
                self.processed(messages, batch, requests, to_encrypt)
            }
            (Direction::Decrypt, Way::Process) => {
                self.processed(messages, batch, requests, to_decrypt)
            }
            (Direction::Encrypt, Way::Filled) => {
                self.filled(messages, batch, requests, give_to_encrypt)
            }
            (Direction::Decrypt, Way::Filled) => {
                self.filled(messages, batch, requests, give_to_decrypt)
            }
        }
    }

    fn batches_rekeyed(
        &mut self,
        messages: &mut [Message<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        match (self.direction, self.way) {
            (Direction::Encrypt, Way::Alone) => {
                self.each_rekeyed(messages, keys, requests, encrypt)
            }
            (Direction::Decrypt, Way::Alone) => {
                self.each_rekeyed(messages, keys, requests, decrypt)
            }
            (Direction::Encrypt, Way::Process) => {
                self.processed_rekeyed(messages, keys, batch, requests, to_encrypt)
            }
            (Direction::Decrypt, Way::Process) => {
                self.processed_rekeyed(messages, keys, batch, requests, to_decrypt)
            }
            (Direction::Encrypt, Way::Filled) => {
                self.filled_rekeyed(messages, keys, batch, requests, give_to_encrypt)
            }
            (Direction::Decrypt, Way::Filled) => {
                self.filled_rekeyed(messages, keys, batch, requests, give_to_decrypt)
            }
        }
    }

    // Sessions have whole messages, and their keys for life.

    fn chunks(&mut self, _: &[u8], _: &mut [u8], _: usize, _: usize) -> Result<(), Failed> {
        Err(Failed)
    }

    fn set_ivs(&mut self, _: &[u8], _: usize) -> Result<(), Failed> {
        Err(Failed)
    }

    fn set_keys(&mut self, _: &[&[u8]], _: usize) -> Result<(), Failed> {
        Err(Failed)
    }

    fn open(&mut self, _: &[&[u8]], _: &[u8], _: usize) -> Result<(), Failed> {
        Err(Failed)
    }

    fn fetch(&mut self, _: usize) -> Result<(), Failed> {
        Err(Failed)
    }
}

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
