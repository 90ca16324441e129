//! The parts of a request in private memory, and what is done with them.

use lanecrypt_engine::{Batch, Nonce, Operation};

use super::sessions::Opened;
use crate::protocol::request::{ArenaRanges, WireRequest};
use crate::protocol::status;

/// Where the parts of a request are in its bytes, which are a nonce, associated data and data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'r> {
    found: &'r WireRequest,
    places: ArenaRanges,
    /// The nonce that the daemon has made; its place is in the bytes.
    made: Option<&'r Nonce>,
}

impl<'r> Parts<'r> {
    pub(super) fn new(
        found: &'r WireRequest,
        places: ArenaRanges,
        made: Option<&'r Nonce>,
    ) -> Self {
        Self { found, places, made }
    }

    /// Where the answer begins in the bytes. It ends where they end.
    #[inline]
    pub(super) fn answer(&self) -> usize {
        match self.made {
            // The associated data between the nonce and the message is written back as it was.
            Some(_) => 0,
            None => self.places.nonce + self.places.header,
        }
    }

    /// The offset of the answer in the arena.
    #[inline]
    pub(super) fn offset(&self) -> u32 {
        // It is within the arena, as all of the request is.
        self.found.offset.saturating_add(u32::try_from(self.answer()).unwrap_or(u32::MAX))
    }

    /// Nonce, associated data and data.
    #[inline]
    fn split<'n, 'w: 'n>(&'n self, whole: &'w mut [u8]) -> (&'n [u8], &'w [u8], &'w mut [u8]) {
        let (apart, rest) = whole.split_at_mut(self.places.nonce);
        if let Some(made) = self.made
            && apart.len() == made.len()
        {
            apart.copy_from_slice(made);
        }
        let nonce = if self.places.nonce > 0 { &*apart } else { self.found.nonce() };
        let (header, data) = rest.split_at_mut(self.places.header);
        (nonce, header, data)
    }

    /// Serves the request, whose bytes `read` copies from the arena: with the session, and to open
    /// a packet with earlier versions of its key, until one authenticates it. Returns the status.
    #[inline(always)]
    pub(super) fn process(
        &self,
        opened: &Opened,
        operation: Operation,
        whole: &mut [u8],
        mut read: impl FnMut(&mut [u8]) -> bool,
    ) -> u32 {
        let status = self.try_key(opened, operation, whole, &mut read);
        match status == status::FORGED && opened.has_older() {
            true => self.try_older(opened, operation, whole, &mut read),
            false => status,
        }
    }

    /// The same with the earlier versions only. The current one has wiped the packet.
    #[cold]
    fn try_older(
        &self,
        opened: &Opened,
        operation: Operation,
        whole: &mut [u8],
        read: &mut impl FnMut(&mut [u8]) -> bool,
    ) -> u32 {
        let mut older = opened.older(operation);
        let tried = older.find_map(|older| {
            Some(self.try_key(older, operation, whole, read))
                .filter(|&status| status != status::FORGED)
        });
        tried.unwrap_or(status::FORGED)
    }

    #[inline(always)]
    fn try_key(
        &self,
        opened: &Opened,
        operation: Operation,
        whole: &mut [u8],
        read: &mut impl FnMut(&mut [u8]) -> bool,
    ) -> u32 {
        if !read(whole) {
            return status::MALFORMED;
        }
        // From here on the client cannot change the request.
        let session = opened.session();
        let (nonce, header, data) = self.split(whole);
        status::of(match operation {
            Operation::Seal => session.seal(nonce, header, data),
            Operation::Open => session.open(nonce, header, data).map(drop),
            Operation::Encrypt => session.encrypt(nonce, data),
            _ => session.decrypt(nonce, data),
        })
    }

    /// Adds the request, whose bytes are already in `whole`, to a batch.
    #[inline]
    pub(super) fn add<'t>(
        &self,
        opened: &'t Opened,
        operation: Operation,
        whole: &'t mut [u8],
        batch: &mut Batch<'_, 't>,
    ) {
        let session = opened.session();
        let (nonce, header, data) = self.split(whole);
        // If it is served immediately, its outcome is stored as well.
        let _outcome = match operation {
            Operation::Seal => batch.seal(session, nonce, header, data),
            Operation::Open => batch.open(session, nonce, header, data),
            Operation::Encrypt => batch.encrypt(session, nonce, data),
            _ => batch.decrypt(session, nonce, data),
        };
    }
}
