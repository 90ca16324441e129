//! Key exchanges allocate nothing, in each way.

use lanecrypt_engine::queue::{LocalQueue, Message};
use lanecrypt_engine::{AsymmetricKey, Engine, Request};
use lanecrypt_pk::{mlkem768, p256, x25519};
use lanecrypt_testing::counting::calls;

const COUNT: usize = 40;

/// A key of each kind, and what the other side sends.
pub(crate) fn exchanges() -> [(AsymmetricKey, Vec<u8>); 4] {
    let montgomery = x25519::SecretKey::from_bytes(&[1; 32]);
    let other = montgomery.public_key().as_bytes().to_vec();
    let weierstrass = p256::SecretKey::from_bytes(&[2; 32]).expect("it is in range");
    let point = weierstrass.public_key().expect("no fault").as_sec1_bytes().to_vec();
    let lattice = mlkem768::DecapsulationKey::from_seed(&[3; 64]);
    let public = lattice.encapsulation_key().clone();
    let (ciphertext, _) = public.encapsulate().expect("there is entropy");
    [
        (montgomery.into(), other),
        (weierstrass.into(), point),
        (lattice.into(), ciphertext.to_vec()),
        (public.into(), Vec::new()),
    ]
}

pub(crate) fn key_exchanges_allocate_nothing() {
    let engine = Engine::new();
    for (key, received) in exchanges() {
        let session = engine.asymmetric_session(key.clone());
        let length = session.agreement_length();
        let mut buffer = engine.batch_buffer(COUNT);
        let mut queue = LocalQueue::new(&engine, COUNT);
        let attached = queue.attach(engine.asymmetric_session(key.clone())).expect("buffer");
        let mut used = [0; 2];
        for used in &mut used {
            let mut outs = [(); 2].map(|()| vec![vec![0; length]; COUNT]);
            let message = [&received[..], &vec![0; length]].concat();
            let mut queued = vec![message; COUNT];
            let mut requests = Vec::with_capacity(COUNT);
            *used = calls(|| {
                let [batched, sliced] = &mut outs;
                let mut batch = buffer.batch();
                for out in batched {
                    batch.agree(&session, &received, out);
                }
                assert_eq!(batch.finish(), Ok(()));
                let each = sliced.iter_mut();
                requests.extend(each.map(|out| Request::agree(&session, &received, out)));
                assert_eq!(engine.process(&mut requests), Ok(()));
                for buffer in queued.drain(..) {
                    queue.submit(Message::agree(attached, buffer)).expect("buffer");
                }
                while let Some(done) = queue.poll() {
                    assert_eq!(done.outcome, Ok(()));
                    core::mem::forget(done.buffer);
                }
            });
        }
        assert_eq!(used[1], 0, "{key:?}");
    }
}
