//! Our signatures, behind the interface of the peers.

use arrayvec::ArrayVec;
use lanecrypt_peers::{
    Direction, Failed, Messages, Run, Signature, Signer, Signing, rounds, signer,
};
use lanecrypt_rsa::{
    Backend, Hash, Isa, Padding, PrivateKey, PublicKey, Request, Workspace, process,
};

use super::keys::Key;

/// The most requests that are handed over together.
pub(super) const MOST: usize = 64;

const PADDING: Padding = Padding::pkcs1v15(Hash::SHA256);

/// One call for each signature.
pub(super) fn single(
    direction: Direction,
    keys: &[Key],
    crt: bool,
    isa: Isa,
    backend: Backend,
) -> Option<Box<dyn Signer>> {
    let sessions = keys.iter().map(|key| {
        let (private, public) = (key.private(crt)?.with_isa(isa), key.public()?.with_isa(isa));
        Some(Single { private, public, workspace: Workspace::with_backend(backend) })
    });
    signer(direction, sessions.collect::<Option<Vec<_>>>()?)
}

/// Slices of requests.
pub(super) fn batches(direction: Direction, keys: &[Key], crt: bool) -> Option<Box<dyn Signer>> {
    let private = keys.iter().map(|key| key.private(crt)).collect::<Option<_>>()?;
    let public = keys.iter().map(Key::public).collect::<Option<_>>()?;
    Some(Box::new(Batches { direction, private, public, workspace: Workspace::new() }))
}

struct Single {
    private: PrivateKey,
    public: PublicKey,
    workspace: Workspace,
}

impl Signing for Single {
    fn sign(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { digest, signature, .. } = signature;
        let Self { private, workspace, .. } = self;
        private.sign_digest(PADDING, &digest[..], signature, workspace).or(Err(Failed))
    }

    fn verify(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { digest, signature, .. } = signature;
        let Self { public, workspace, .. } = self;
        public.verify_digest(PADDING, &digest[..], signature, workspace).or(Err(Failed))
    }
}

struct Batches {
    direction: Direction,
    private: Vec<PrivateKey>,
    public: Vec<PublicKey>,
    workspace: Workspace,
}

impl Batches {
    fn request<'a>(&'a self, signature: &'a mut Signature<'_>) -> Result<Request<'a>, Failed> {
        let Signature { session, digest, signature, .. } = signature;
        Ok(match self.direction {
            Direction::Encrypt => {
                let key = self.private.get(*session).ok_or(Failed)?;
                Request::sign_digest(key, PADDING, &digest[..], signature)
            }
            Direction::Decrypt => {
                let key = self.public.get(*session).ok_or(Failed)?;
                Request::verify_digest(key, PADDING, &digest[..], signature)
            }
        })
    }
}

impl Messages<Signature<'_>> for Batches {
    fn messages(&mut self, signatures: &mut [Signature<'_>], run: Run<'_>) -> Result<(), Failed> {
        let batch = run.batch.unwrap_or(MOST);
        if batch == 0 || batch > MOST || run.keys.is_some() {
            return Err(Failed);
        }
        // Requests borrow the keys, and serving them takes the workspace.
        let mut workspace = core::mem::take(&mut self.workspace);
        let done = rounds(signatures.len(), run.requests, |count| {
            for together in signatures[..count].chunks_mut(batch) {
                let requests = together.iter_mut().map(|signature| self.request(signature));
                let mut requests: ArrayVec<Request<'_>, MOST> =
                    requests.collect::<Result<_, _>>()?;
                process(&mut requests, &mut workspace).or(Err(Failed))?;
            }
            Ok(())
        });
        self.workspace = workspace;
        done
    }
}
