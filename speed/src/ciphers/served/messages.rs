//! Messages without authentication.

use lanecrypt_engine::Request;
use lanecrypt_peers::{Cipher, Direction, Failed, Message, Messages, Run};

use super::{Served, answered};

impl Messages<Message<'_>> for Served {
    fn messages(&mut self, messages: &mut [Message<'_>], run: Run<'_>) -> Result<(), Failed> {
        match self.direction {
            Direction::Encrypt => self.run(
                messages,
                run,
                |session, message| answered(session.encrypt(message.iv, &mut *message.data)),
                |session, message| Ok(Request::encrypt(session, message.iv, &mut *message.data)),
                |batch, session, message| batch.encrypt(session, message.iv, &mut *message.data),
            ),
            Direction::Decrypt => self.run(
                messages,
                run,
                |session, message| answered(session.decrypt(message.iv, &mut *message.data)),
                |session, message| Ok(Request::decrypt(session, message.iv, &mut *message.data)),
                |batch, session, message| batch.decrypt(session, message.iv, &mut *message.data),
            ),
        }
    }
}

// Sessions take whole messages, and keep their keys for life.
impl Cipher for Served {}
