//! Many requests at once.
//!
//! Requests run in stages, up to 32 at once. A stage is one call of `powers` or `public_powers` for
//! all requests, which groups them by size into lanes. Products are stages too. The last stage
//! raises each result to the public exponent; it also serves requests that verify. A single
//! signature is a slice of one request.

use arrayvec::ArrayVec;
use lanecrypt_kernels::montgomery::{self, PublicPower, public_powers};
use subtle::ConstantTimeEq as _;

use crate::hash::Digest;
use crate::numbers::{from_bytes, write_bytes};
use crate::private::{self, Task};
use crate::request::{AT_ONCE, Work};
use crate::workspace::{Slot, Workspace, zeros};
#[cfg(feature = "aws-lc")]
use crate::{Backend, Padding, PrivateKey};
use crate::{BatchError, Error, PublicKey, Request};

/// Serves requests of any operations, under any keys, side by side. Each has its own
/// [`outcome`](Request::outcome).
///
/// With AVX-512, eight exponentiations of one size run side by side, and a signature by a key that
/// knows its primes is two of them, of half the size. So four such signatures of one size, or eight
/// signatures to check, cost little more than one. With AVX2, four exponentiations run side by
/// side, in about two and a half times the time of one. A request alone costs what a call costs.
///
/// Allocates only if the workspace has to grow.
///
/// # Errors
///
/// [`BatchError`] if a request failed. All others have been served.
pub fn process(requests: &mut [Request<'_>], workspace: &mut Workspace) -> Result<(), BatchError> {
    for batch in requests.chunks_mut(AT_ONCE) {
        serve(batch, workspace);
    }
    let failed = requests.iter().filter(|request| matches!(request.outcome, Some(Err(_)))).count();
    if failed == 0 { Ok(()) } else { Err(BatchError { failed }) }
}

#[cfg(feature = "aws-lc")]
fn signs_here(key: &PrivateKey, padding: Padding, digest: &[u8], signature: &mut [u8]) -> bool {
    let mut workspace = Workspace::with_backend(Backend::Own);
    process(&mut [Request::sign_digest(key, padding, digest, signature)], &mut workspace).is_ok()
}

fn serve(batch: &mut [Request<'_>], workspace: &mut Workspace) {
    #[cfg(feature = "aws-lc")]
    if workspace.backend != Backend::Own {
        let is_measured = workspace.backend == Backend::Measured;
        crate::aws_lc::serve(batch, is_measured.then_some(signs_here));
    }
    let Workspace { slots, arithmetic, .. } = workspace;
    if slots.len() < batch.len() {
        slots.resize_with(batch.len(), Slot::default);
    }
    for (request, slot) in batch.iter_mut().zip(&mut *slots) {
        if request.outcome.is_none() {
            match begin(request, slot) {
                Ok(()) => slot.is_live = true,
                Err(error) => request.outcome = Some(Err(error)),
            }
        }
    }

    let mut tasks: ArrayVec<_, AT_ONCE> = batch
        .iter()
        .zip(&mut *slots)
        .filter(|(_, slot)| slot.is_live)
        .filter_map(|(request, slot)| Some(Task { key: request.private_key()?, slot }))
        .collect();
    private::run(&mut tasks, arithmetic);
    drop(tasks);
    public_operations(batch, slots, arithmetic);

    for (request, slot) in batch.iter_mut().zip(slots) {
        if slot.is_live {
            request.outcome = Some(finish(request, slot));
        }
        slot.wipe();
    }
}

/// Computes the input, and draws what hides it.
fn begin(request: &mut Request<'_>, slot: &mut Slot) -> Result<(), Error> {
    let key = request.public_key();
    let length = key.signature_length();
    let input = zeros(&mut slot.input, key.modulus().limbs().len());
    match &request.work {
        Work::Sign { padding, digest, salt, signature, .. } => {
            if signature.len() != length {
                return Err(Error::OutputLength);
            }
            let padded = zeros(&mut slot.padded[0], length);
            padding.encode(present(digest)?, *salt, key.bits(), padded)?;
            from_bytes(padded, input);
        }
        Work::Verify { digest, signature, .. } => {
            present(digest)?;
            if signature.len() != length || !is_remainder(key, signature, input) {
                return Err(Error::Signature);
            }
        }
        Work::RawPrivate { input: bytes, output, .. }
        | Work::RawPublic { input: bytes, output, .. } => {
            if bytes.len() != length {
                return Err(Error::InputLength);
            }
            if output.len() != length {
                return Err(Error::OutputLength);
            }
            if !is_remainder(key, bytes, input) {
                return Err(Error::OutOfRange);
            }
        }
    }
    if request.private_key().is_some() { private::draw(key, slot) } else { Ok(()) }
}

fn present(digest: &Option<Digest>) -> Result<&Digest, Error> {
    digest.as_ref().ok_or(Error::DigestLength)
}

/// Sets `input` to a number, if it is less than the modulus.
fn is_remainder(key: &PublicKey, bytes: &[u8], input: &mut [u64]) -> bool {
    from_bytes(bytes, input) && key.modulus().contains(input)
}

/// The public operations: of inputs, or of the outputs of private operations, to check them.
fn public_operations(
    batch: &[Request<'_>],
    slots: &mut [Slot],
    arithmetic: &mut montgomery::Workspace,
) {
    let live = batch.iter().zip(slots).filter(|(_, slot)| slot.is_live);
    let mut jobs: ArrayVec<_, AT_ONCE> = live
        .map(|(request, slot)| {
            let key = request.public_key();
            let length = slot.input.len();
            let [base, out] = if request.private_key().is_some() {
                [&mut slot.output, &mut slot.checked]
            } else {
                [&mut slot.input, &mut slot.output]
            };
            let out = zeros(out, length);
            PublicPower { modulus: key.modulus(), base, exponent: key.e(), factor: None, out }
        })
        .collect();
    public_powers(&mut jobs, arithmetic);
}

/// Writes the output if it is right.
fn finish(request: &mut Request<'_>, slot: &mut Slot) -> Result<(), Error> {
    let key = request.public_key();
    if request.private_key().is_some() && !bool::from(slot.checked.ct_eq(&slot.input)) {
        return Err(Error::Fault);
    }
    match &mut request.work {
        Work::Sign { signature: output, .. }
        | Work::RawPrivate { output, .. }
        | Work::RawPublic { output, .. } => {
            write_bytes(&slot.output, output);
            Ok(())
        }
        Work::Verify { padding, digest, .. } => {
            let [number, room] = &mut slot.padded;
            let [number, room] = [number, room].map(|bytes| zeros(bytes, key.signature_length()));
            write_bytes(&slot.output, number);
            padding.check(present(digest)?, key.bits(), number, room)
        }
    }
}
