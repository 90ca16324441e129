//! Operations in the lanes of kernels: requests of one operation side by side.
//!
//! Inputs are gathered by reference. Outputs go to the stack first: what is secret there is wiped.

use arrayvec::ArrayVec;
use lanecrypt_kernels::curve25519::{self, ed25519, x25519};
use lanecrypt_kernels::{Isa, mlkem, p256, wipe};

use crate::library::x25519_result;
use crate::mlkem768::{CIPHERTEXT_LENGTH, DecapsulationKey, SEED_LENGTH};
use crate::options::Options;
use crate::request::{Hedge, Work};
use crate::secret::random;
use crate::{Error, Operation, Request};

/// The most requests that are served side by side.
pub(crate) const MOST: usize = 8;

/// Requests of one operation, without outcomes.
pub(crate) type Group<'g, 'a> = ArrayVec<&'g mut Request<'a>, MOST>;

/// How many requests of an operation run side by side.
pub(crate) const fn lanes(isa: Isa, operation: Operation) -> usize {
    match operation {
        Operation::X25519PublicKey
        | Operation::X25519SharedSecret
        | Operation::Ed25519Sign
        | Operation::Ed25519Verify => curve25519::lanes(isa),
        Operation::P256PublicKey
        | Operation::P256SharedSecret
        | Operation::P256Sign
        | Operation::P256Verify => p256::lanes(isa),
        Operation::MlKem768Generate
        | Operation::MlKem768Encapsulate
        | Operation::MlKem768Decapsulate => mlkem::lanes(isa),
    }
}

/// Serves a group.
pub(crate) fn serve(mut group: Group<'_, '_>, operation: Operation, options: &Options) {
    match operation {
        Operation::X25519PublicKey => x25519_public_keys(&mut group, options.isa),
        Operation::X25519SharedSecret => x25519_shared_secrets(&mut group, options.isa),
        Operation::Ed25519Sign => ed25519_sign(&mut group, options),
        Operation::Ed25519Verify => ed25519_verify(&mut group, options.isa),
        Operation::P256PublicKey => p256_public_keys(&mut group, options.isa),
        Operation::P256SharedSecret => p256_shared_secrets(&mut group, options.isa),
        Operation::P256Sign => p256_sign(&mut group, options),
        Operation::P256Verify => p256_verify(&mut group, options.isa),
        Operation::MlKem768Generate => mlkem768_generate(&mut group, options.isa),
        Operation::MlKem768Encapsulate => mlkem768_encapsulate(&mut group, options.isa),
        Operation::MlKem768Decapsulate => mlkem768_decapsulate(&mut group, options.isa),
    }
}

/// A list of what `$pattern` finds in each request of a group: jobs or outputs.
macro_rules! each {
    ($requests:expr, $pattern:pat => $value:expr) => {
        $requests
            .filter_map(|request| match request {
                $pattern => Some($value),
                _ => None,
            })
            .collect::<ArrayVec<_, MOST>>()
    };
}

fn x25519_public_keys(group: &mut Group<'_, '_>, isa: Isa) {
    let secrets = each!(group.iter().map(|request| &request.work),
        Work::X25519PublicKey { secret, .. } => secret.as_bytes());
    let mut results = [[0; 32]; MOST];
    x25519::public_keys(isa, &secrets, &mut results[..secrets.len()]);
    finish(group, &results, |work, result| {
        if let Work::X25519PublicKey { public, .. } = work {
            **public = *result;
        }
        Ok(())
    });
}

fn x25519_shared_secrets(group: &mut Group<'_, '_>, isa: Isa) {
    let works = || group.iter().map(|request| &request.work);
    let secrets = each!(works(), Work::X25519SharedSecret { secret, .. } => secret.as_bytes());
    let publics = each!(works(), Work::X25519SharedSecret { public, .. } => public.as_bytes());
    let mut results = [[0; 32]; MOST];
    x25519::shared_secrets(isa, &secrets, &publics, &mut results[..secrets.len()]);
    finish(group, &results, |work, result| match work {
        Work::X25519SharedSecret { shared, .. } => x25519_result(result, shared),
        _ => Ok(()),
    });
    wipe::memory(results.as_flattened_mut());
}

fn ed25519_sign(group: &mut Group<'_, '_>, options: &Options) {
    let works = || group.iter().map(|request| &request.work);
    let jobs = each!(works(), Work::Ed25519Sign { key, message, .. } =>
        ed25519::Sign { key: &key.lanes, message });
    let mut results = [[0; 64]; MOST];
    ed25519::sign(options.isa, &jobs, &mut results[..jobs.len()]);
    let mut verdicts = [true; MOST];
    if options.checks_signatures {
        let signed = works().zip(&results);
        let jobs = each!(signed, (Work::Ed25519Sign { key, message, .. }, signature) =>
            ed25519::Verify { public: key.verifying_key().as_bytes(), message, signature });
        ed25519::verify(options.isa, &jobs, &mut verdicts[..jobs.len()]);
    }
    finish(group, results.iter().zip(verdicts), |work, (result, is_right)| match work {
        Work::Ed25519Sign { signature, .. } if is_right => {
            **signature = *result;
            Ok(())
        }
        _ => Err(Error::Fault),
    });
}

fn ed25519_verify(group: &mut Group<'_, '_>, isa: Isa) {
    let jobs = each!(group.iter().map(|request| &request.work),
        Work::Ed25519Verify { key, message, signature } =>
            ed25519::Verify { public: key.as_bytes(), message, signature });
    let mut verdicts = [false; MOST];
    ed25519::verify(isa, &jobs, &mut verdicts[..jobs.len()]);
    finish(group, verdicts, |_, is_right| if is_right { Ok(()) } else { Err(Error::Signature) });
}

fn p256_public_keys(group: &mut Group<'_, '_>, isa: Isa) {
    let secrets = each!(group.iter().map(|request| &request.work),
        Work::P256PublicKey { secret, .. } => &secret.scalar);
    let mut results = [p256::PublicKey::BASE; MOST];
    p256::public_keys(isa, &secrets, &mut results[..secrets.len()]);
    finish(group, &results, |work, result| {
        if let Work::P256PublicKey { public, .. } = work {
            let bytes = result.to_bytes();
            // Finds the point on the curve again, unless there was an error.
            p256::PublicKey::new(&bytes).ok_or(Error::Fault)?;
            **public = bytes;
        }
        Ok(())
    });
}

fn p256_shared_secrets(group: &mut Group<'_, '_>, isa: Isa) {
    let works = || group.iter().map(|request| &request.work);
    let secrets = each!(works(), Work::P256SharedSecret { secret, .. } => &secret.scalar);
    let publics = each!(works(), Work::P256SharedSecret { public, .. } => &public.point);
    let mut results = [[0; 32]; MOST];
    p256::shared_secrets(isa, &secrets, &publics, &mut results[..secrets.len()]);
    finish(group, &results, |work, result| {
        if let Work::P256SharedSecret { shared, .. } = work {
            **shared = *result;
        }
        Ok(())
    });
    wipe::memory(results.as_flattened_mut());
}

fn p256_sign(group: &mut Group<'_, '_>, options: &Options) {
    let Ok(drawn) = random::<{ 32 * MOST }>() else {
        return refuse(group, Error::Entropy);
    };
    let works = || group.iter().map(|request| &request.work);
    let drawn: &[[u8; 32]] = drawn.as_chunks().0;
    let jobs = each!(works().zip(drawn), (Work::P256Sign { key, digest, hedge, .. }, drawn) => {
        let entropy = match *hedge {
            Hedge::Random => Some(drawn),
            Hedge::Given(entropy) => entropy,
        };
        p256::SignJob { key: &key.secret().scalar, digest, entropy }
    });
    let mut results = [[0; 64]; MOST];
    p256::sign(options.isa, &jobs, &mut results[..jobs.len()]);
    drop(jobs);
    let mut verdicts = [true; MOST];
    if options.checks_signatures {
        let jobs = each!(works().zip(&results), (Work::P256Sign { key, digest, .. }, signature) =>
            p256::VerifyJob { key: &key.public_key().point, digest, signature });
        p256::verify(options.isa, &jobs, &mut verdicts[..jobs.len()]);
    }
    finish(group, results.iter().zip(verdicts), |work, (result, is_right)| match work {
        Work::P256Sign { signature, .. } if is_right => {
            **signature = *result;
            Ok(())
        }
        _ => Err(Error::Fault),
    });
}

fn p256_verify(group: &mut Group<'_, '_>, isa: Isa) {
    let jobs = each!(group.iter().map(|request| &request.work),
        Work::P256Verify { key, digest, signature } =>
            p256::VerifyJob { key: &key.point, digest, signature });
    let mut verdicts = [false; MOST];
    p256::verify(isa, &jobs, &mut verdicts[..jobs.len()]);
    drop(jobs);
    finish(group, verdicts, |_, is_right| if is_right { Ok(()) } else { Err(Error::Signature) });
}

fn mlkem768_generate(group: &mut Group<'_, '_>, isa: Isa) {
    let Ok(drawn) = random::<{ SEED_LENGTH * MOST }>() else {
        return refuse(group, Error::Entropy);
    };
    let seeds: &[[u8; SEED_LENGTH]] = drawn.as_chunks().0;
    let seeds: ArrayVec<_, MOST> = seeds.iter().take(group.len()).collect();
    let mut keys: ArrayVec<_, MOST> =
        seeds.iter().map(|_| mlkem::DecapsulationKey::empty()).collect();
    mlkem::generate(isa, &seeds, &mut keys);
    // The keys here are wiped: they are copied, not moved.
    finish(group, seeds.iter().zip(&keys), |work, (seed, lanes)| {
        if let Work::MlKem768Generate { key } = work {
            **key = Some(DecapsulationKey::of(seed, lanes));
        }
        Ok(())
    });
}

fn mlkem768_encapsulate(group: &mut Group<'_, '_>, isa: Isa) {
    let Ok(drawn) = random::<{ 32 * MOST }>() else {
        return refuse(group, Error::Entropy);
    };
    let drawn: &[[u8; 32]] = drawn.as_chunks().0;
    let works = group.iter().map(|request| &request.work);
    let jobs = each!(works.zip(drawn), (Work::MlKem768Encapsulate { key, message, .. }, drawn) =>
        mlkem::Encapsulation { key: &key.key, randomness: message.unwrap_or(drawn) });
    let count = jobs.len();
    let mut ciphertexts = [[0; CIPHERTEXT_LENGTH]; MOST];
    let mut secrets = [[0; 32]; MOST];
    mlkem::encapsulate(isa, &jobs, &mut ciphertexts[..count], &mut secrets[..count]);
    drop(jobs);
    finish(group, ciphertexts.iter().zip(&secrets), |work, (made, secret)| {
        if let Work::MlKem768Encapsulate { ciphertext, shared, .. } = work {
            (**ciphertext, **shared) = (*made, *secret);
        }
        Ok(())
    });
    wipe::memory(secrets.as_flattened_mut());
}

fn mlkem768_decapsulate(group: &mut Group<'_, '_>, isa: Isa) {
    let jobs = each!(group.iter().map(|request| &request.work),
        Work::MlKem768Decapsulate { key, ciphertext, .. } =>
            mlkem::Decapsulation { key: &key.expanded, ciphertext });
    let mut secrets = [[0; 32]; MOST];
    mlkem::decapsulate(isa, &jobs, &mut secrets[..jobs.len()]);
    drop(jobs);
    finish(group, &secrets, |work, secret| {
        if let Work::MlKem768Decapsulate { shared, .. } = work {
            **shared = *secret;
        }
        Ok(())
    });
    wipe::memory(secrets.as_flattened_mut());
}

/// Sets the outcome of each request by its result.
fn finish<R>(
    group: &mut Group<'_, '_>,
    results: impl IntoIterator<Item = R>,
    mut write: impl FnMut(&mut Work<'_>, R) -> Result<(), Error>,
) {
    for (request, result) in group.iter_mut().zip(results) {
        request.outcome = Some(write(&mut request.work, result));
    }
}

fn refuse(group: &mut Group<'_, '_>, error: Error) {
    for request in group {
        request.outcome = Some(Err(error));
    }
}
