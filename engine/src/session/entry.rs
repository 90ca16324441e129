//! The messages of a batch: requests of a slice, or waiting messages of a buffer.

use super::Session;
use super::work::{State, Work};

/// One message of a batch.
pub(crate) trait Entry<'a>: Sized {
    /// Its work.
    fn work(&self) -> &Work<'a>;

    /// Its session, its nonce and its work.
    fn parts(&mut self) -> (&Session, &[u8], &mut Work<'a>);

    /// Its session.
    fn session(&self) -> &'a Session;

    /// Its progress.
    #[inline]
    fn state(&self) -> State {
        self.work().state
    }

    /// Serves it by the software, without lanes.
    #[inline(always)]
    fn serve(&mut self) -> bool {
        let (session, nonce, work) = self.parts();
        work.serve(session, nonce).is_ok()
    }
}
