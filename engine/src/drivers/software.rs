//! This processor.

use lanecrypt_ciphers::{Algorithm, Error, Isa};

use crate::{Driver, Operation, Request, Session, SessionId};

/// Serves every algorithm with the kernels of this processor, from the key that the session holds.
#[derive(Debug)]
pub(crate) struct Software {
    isa: Isa,
}

impl Software {
    pub(crate) fn new(isa: Isa) -> Self {
        Self { isa }
    }
}

impl Driver for Software {
    fn name(&self) -> &'static str {
        "software"
    }

    fn cost(
        &self,
        _algorithm: Algorithm,
        _operation: Operation,
        bytes: usize,
        _batch: usize,
    ) -> Option<f64> {
        Some(bytes as f64)
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        let made = match algorithm.is_aead() {
            true => Session::sealed(self.isa, algorithm, key),
            false => Session::raw(self.isa, algorithm, key),
        };
        made.map(|_| SessionId::default())
    }

    fn close(&self, _session: SessionId) {}

    fn process(&self, batch: &mut [Request<'_>]) {
        batch.iter_mut().for_each(Request::alone);
    }
}
