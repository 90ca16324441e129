//! Signatures allocate nothing once a thread has made as many together, but for those that AWS-LC
//! makes.

use lanecrypt_engine::queue::{LocalQueue, Message};
use lanecrypt_engine::{Engine, Request, Session};
use lanecrypt_testing::counting::calls;

use crate::signers::{Signer, signers};

const COUNT: usize = 40;

pub(crate) fn sessions(engine: &Engine, signers: &[Signer]) -> Vec<Session> {
    signers.iter().map(|it| engine.asymmetric_session((it.key.clone(), it.padding))).collect()
}

/// Room for a signature of each session in turn.
pub(crate) fn places(sessions: &[Session]) -> Vec<Vec<u8>> {
    sessions.iter().cycle().take(COUNT).map(|it| vec![0; it.signature_length()]).collect()
}

/// Calls of the allocator, by the crate of AWS-LC, for a signature that AWS-LC makes: it is made in
/// memory of its own and copied. What AWS-LC allocates in C is not counted.
const BY_AWS_LC: usize = 2;

/// Whether AWS-LC may make the signatures of a key; whether it does depends on the processor.
fn may_be_by_aws_lc(signer: &Signer) -> bool {
    #[cfg(feature = "aws-lc")]
    return signer.key.has_primes()
        && lanecrypt_rsa::Backend::AwsLc.supports(signer.key.public_key(), signer.padding);
    #[cfg(not(feature = "aws-lc"))]
    {
        let _ = signer;
        false
    }
}

pub(crate) fn a_thread_that_has_signed_allocates_nothing() {
    let (by_aws_lc, own): (Vec<_>, _) = signers().into_iter().partition(may_be_by_aws_lc);
    assert_eq!(allocations(&own), 0);
    if !by_aws_lc.is_empty() {
        // Four ways to sign, each for so many.
        let most = 4 * COUNT * BY_AWS_LC;
        let used = allocations(&by_aws_lc);
        assert!(used <= most && used.is_multiple_of(BY_AWS_LC), "{used} of {most}");
    }
}

/// Calls of the allocator by a thread that signs in each way, once it has done so before.
fn allocations(signers: &[Signer]) -> usize {
    let engine = Engine::new();
    let sessions = sessions(&engine, signers);
    let mut buffer = engine.batch_buffer(COUNT);
    let mut queue = LocalQueue::new(&engine, COUNT);
    let each = sessions.iter().zip(signers);
    let attached: Vec<_> = each
        .map(|(_, it)| engine.asymmetric_session((it.key.clone(), it.padding)))
        .map(|session| queue.attach(session).expect("buffer"))
        .collect();
    let mut used = [0; 2];
    for used in &mut used {
        let (mut alone, mut batched) = (places(&sessions), places(&sessions));
        let (mut sliced, mut queued) = (places(&sessions), places(&sessions));
        let mut requests = Vec::with_capacity(COUNT);
        *used = calls(|| {
            for (session, place) in sessions.iter().cycle().zip(&mut alone) {
                session.sign(b"message", place).expect("it signs");
                session.verify(b"message", place).expect("it is right");
            }
            let mut batch = buffer.batch();
            for (session, place) in sessions.iter().cycle().zip(&mut batched) {
                batch.sign(session, b"message", place);
            }
            assert_eq!(batch.finish(), Ok(()));
            let each = sessions.iter().cycle().zip(&mut sliced);
            requests.extend(each.map(|(it, place)| Request::sign(it, b"message", place)));
            assert_eq!(engine.process(&mut requests), Ok(()));
            for (&session, place) in attached.iter().cycle().zip(queued.drain(..)) {
                queue.submit(Message::sign(session, place)).expect("buffer");
            }
            while let Some(done) = queue.poll() {
                assert_eq!(done.outcome, Ok(()));
                core::mem::forget(done.buffer);
            }
        });
    }
    assert!(used[0] > used[1], "the counter sees what does allocate");
    used[1]
}
