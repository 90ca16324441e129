//! A key for columns.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

use lanecrypt_ciphers::DeterministicAesSiv;
use lanecrypt_engine::{BatchBuffer, Engine, Session};

use crate::blocks::BLOCK;
use crate::layout::PREFIX;
use crate::{Error, Layout, layout};

/// An expanded key, for any number of columns and threads. It is wiped on drop.
///
/// Requests only read the key. They are constant time, except for lengths, NULLs, associated data,
/// and which cells are authentic. Decrypted values are in ordinary memory of the caller, which is
/// not wiped.
pub struct ColumnKey {
    layout: Layout,
    pub(crate) cipher: Cipher,
    /// What its cells begin with, if it is a key of a ring.
    pub(crate) prefix: Option<[u8; PREFIX]>,
    /// The number of values that it has encrypted or reserved. It publishes no other memory, so no
    /// ordering is needed.
    used: AtomicU64,
}

/// The cipher of a layout.
pub(crate) enum Cipher {
    /// With a nonce for each value, served in batches.
    //
    // The engine is boxed, because its table of costs is large.
    Nonces { engine: Box<Engine>, session: Box<Session> },
    /// Without nonces.
    Deterministic(Box<DeterministicAesSiv>),
}

impl Cipher {
    /// Memory for the batches of one thread.
    pub(crate) fn buffer(&self) -> Option<BatchBuffer> {
        match self {
            Self::Nonces { engine, .. } => Some(engine.batch_buffer(BLOCK)),
            Self::Deterministic(_) => None,
        }
    }
}

impl ColumnKey {
    /// Expands `key` for cells of this layout.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`].
    pub fn new(layout: Layout, key: &[u8]) -> Result<Self, Error> {
        let refused = |_| Error::KeyLength { layout, given: key.len() };
        let cipher = match layout {
            Layout::Deterministic => {
                Cipher::Deterministic(DeterministicAesSiv::boxed(key).map_err(|_| refused(()))?)
            }
            _ => {
                let engine = Box::new(Engine::new());
                let algorithm = layout.algorithm(key.len()).ok_or_else(|| refused(()))?;
                let session = engine.boxed_session(algorithm, key).map_err(|_| refused(()))?;
                Cipher::Nonces { engine, session }
            }
        };
        Ok(Self { layout, cipher, prefix: None, used: AtomicU64::new(0) })
    }

    /// The same key with the id `id` in front of its cells.
    pub(crate) fn with_id(self, id: u32) -> Self {
        Self { prefix: Some(layout::prefix(id)), ..self }
    }

    /// The difference between the lengths of a cell and its value in bytes.
    pub(crate) fn overhead(&self) -> usize {
        self.layout.overhead() + self.prefix.map_or(0, |prefix| prefix.len())
    }

    /// Its layout.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Counts `used` values that were encrypted under the key before, in an earlier run or by
    /// others.
    #[must_use]
    pub fn already_used(self, used: u64) -> Self {
        let before = self.used.into_inner();
        Self { used: AtomicU64::new(before.saturating_add(used)), ..self }
    }

    /// The number of values that count as encrypted, including those of earlier runs and of failed
    /// calls.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Reserves `values` of those that the key may still encrypt.
    pub(crate) fn reserve(&self, values: usize) -> Result<(), Error> {
        let after = |used: u64| {
            let after = used.checked_add(u64::try_from(values).ok()?)?;
            (after <= self.layout.most_values()).then_some(after)
        };
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, after)
            .map(drop)
            .map_err(|_| Error::KeyExhausted)
    }
}

impl fmt::Debug for ColumnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnKey").field("layout", &self.layout).finish_non_exhaustive()
    }
}
