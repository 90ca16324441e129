//! What a batch holds: requests of a slice, or those that wait in a room.

use crate::job::Jobs;
use crate::work::{State, Work};
use crate::{Request, Session};

/// One message of a batch.
pub(crate) trait Entry<'a>: Sized {
    /// The work itself.
    fn work(&self) -> &Work<'a>;

    /// Its session, its nonce, and what is done.
    fn parts(&mut self) -> (&Session, &[u8], &mut Work<'a>);

    /// Its session.
    fn session(&self) -> &'a Session;

    /// For the driver that serves them.
    fn jobs<'j>(entries: &'j mut [Self]) -> Jobs<'j, 'a>;

    /// How far it has come.
    #[inline]
    fn state(&self) -> State {
        self.work().state
    }

    /// Served by the software here, by itself.
    #[inline(always)]
    fn serve(&mut self) -> bool {
        let (session, nonce, work) = self.parts();
        work.serve(session, nonce).is_ok()
    }
}

impl<'a> Entry<'a> for Request<'a> {
    #[inline]
    fn work(&self) -> &Work<'a> {
        &self.work
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Session, &[u8], &mut Work<'a>) {
        (self.session, self.nonce, &mut self.work)
    }

    #[inline]
    fn session(&self) -> &'a Session {
        self.session
    }

    fn jobs<'j>(entries: &'j mut [Self]) -> Jobs<'j, 'a> {
        Jobs::requests(entries)
    }
}
