//! Drivers that share load allocate nothing from request to request, with and without migration.

use lanecrypt_accelerators::{Balanced, Member};
use lanecrypt_engine::queue::{LocalQueue, Message};
use lanecrypt_engine::{Algorithm, Driver, Engine, Error, Jobs, Request, SessionId};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::counting::calls;

/// Serves the null cipher; with `fails` it answers nothing.
#[derive(Debug)]
struct Plain {
    name: &'static str,
    fails: bool,
}

impl Driver for Plain {
    fn name(&self) -> &'static str {
        self.name
    }

    fn open(&self, algorithm: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        if algorithm == Algorithm::NULL { Ok(SessionId(1)) } else { Err(Error::Unsupported) }
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        for job in jobs {
            job.settle(if self.fails { Err(Error::DriverFailed) } else { Ok(()) });
        }
    }
}

const MOST: usize = 300;
const TURNS: usize = 3000;

/// What happens meanwhile.
#[derive(Clone, Copy, PartialEq)]
enum Case {
    NoMigration,
    /// Nothing fails.
    Migration,
    /// A driver fails in each turn, and is readmitted.
    Failures,
}

fn balanced(case: Case) -> Balanced {
    let failing = Plain { name: "failing", fails: case == Case::Failures };
    let members = [
        Member::new(failing),
        Member::new(Plain { name: "plain", fails: false }),
        Member::software(Engine::new().lanes()),
    ];
    match case {
        Case::NoMigration => Balanced::new(members),
        Case::Migration | Case::Failures => Balanced::with_migration(members),
    }
    .expect("good names")
}

/// How often memory was allocated for slices of requests, and for messages through a queue, of up
/// to this many.
fn served(case: Case) -> usize {
    let balanced = balanced(case);
    let engine = Engine::new().with_driver(balanced.clone()).expect("a free name");
    let open = || engine.session_on("balanced", Algorithm::NULL, &[]).expect("they have it");
    let session = open();
    let mut queue = LocalQueue::new(&engine, MOST);
    let attached = queue.attach(open()).expect("room");
    let mut data = vec![[3; 64]; MOST];
    let mut pool: Vec<Box<[u8]>> = data.iter().map(|data| data.to_vec().into()).collect();
    let mut numbers = Random(131);
    let mut turn = |count: usize| {
        let mut requests: arrayvec::ArrayVec<Request<'_>, MOST> = data
            .iter_mut()
            .take(count)
            .map(|data| Request::encrypt(&session, &[], &mut data[..]))
            .collect();
        assert!(engine.process(&mut requests).is_ok());
        for _ in 0..count {
            let buffer = pool.pop().expect("as many as the queue takes");
            queue.submit(Message::encrypt(attached, [0_u8; 0], buffer)).expect("room");
        }
        while let Some(done) = queue.poll() {
            assert_eq!(done.outcome, Ok(()));
            pool.push(done.buffer);
        }
        let failed = balanced.failed().eq(["failing"]);
        assert_eq!(failed, case == Case::Failures && balanced.readmit("failing"));
        failed
    };
    (0..20).for_each(|_| _ = turn(MOST));
    // By now each driver has been measured.
    assert!(balanced.shares().all(|(_, given)| given > 0));
    let mut failures = 0;
    // How often a driver gets requests depends on the times that were measured.
    let least = if case == Case::Failures { TURNS / 10 } else { 0 };
    let allocated = calls(|| {
        let mut turns = 0;
        while turns < TURNS || failures < least {
            let count = 1 + numbers.below(MOST);
            failures += usize::from(turn(count));
            turns += 1;
        }
    });
    assert!(case == Case::Failures || failures == 0, "{failures}");
    allocated
}

pub(crate) fn shared_load_allocates_nothing() {
    assert_eq!(served(Case::NoMigration), 0);
    assert_eq!(served(Case::Migration), 0);
    assert_eq!(served(Case::Failures), 0);
}
