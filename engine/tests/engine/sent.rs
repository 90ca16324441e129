//! Every public type but one may be sent to other threads.

use lanecrypt_engine::{
    Algorithm, Batch, BatchBuffer, BatchError, Data, Driver, DriverNameError, EachJob, Engine,
    Error, Isa, Job, Jobs, LaneRange, LaneSource, Lanes, Load, Mode, Nonce, NonceSequence, Nonces,
    Null, Operation, RandomNonces, Request, Session, SessionId,
};

const fn sent_and_shared<T: Send + Sync + ?Sized>() {}

macro_rules! sent_and_shared {
    ($($name:ident: $type:ty),+ $(,)?) => {
        const _: () = {
            $(sent_and_shared::<$type>();)+
        };
        const SENT_AND_SHARED: &[&str] = &[$(stringify!($name)),+];
    };
}

sent_and_shared!(
    Algorithm: Algorithm,
    Batch: Batch<'_, '_>,
    BatchError: BatchError,
    Data: Data<'_>,
    Driver: dyn Driver,
    DriverNameError: DriverNameError,
    EachJob: EachJob<'_, '_>,
    Engine: Engine,
    Error: Error,
    Isa: Isa,
    Job: Job<'_, '_>,
    Jobs: Jobs<'_, '_>,
    LaneRange: LaneRange,
    LaneSource: LaneSource,
    Lanes: Lanes,
    Load: Load,
    Mode: Mode,
    Nonce: Nonce,
    Nonces: Nonces,
    Null: Null,
    Operation: Operation,
    RandomNonces: RandomNonces<()>,
    Request: Request<'_>,
    BatchBuffer: BatchBuffer,
    Session: Session,
    SessionId: SessionId,
);

#[cfg(feature = "openssl")]
const _: () = {
    sent_and_shared::<lanecrypt_engine::OpenSsl>();
    sent_and_shared::<lanecrypt_engine::OpenSslError>();
};

#[cfg(feature = "rsa")]
const _: () = sent_and_shared::<lanecrypt_engine::RsaKey>();

#[cfg(any(feature = "pk", feature = "rsa"))]
const _: () = sent_and_shared::<lanecrypt_engine::AsymmetricKey>();

#[cfg(feature = "aws-lc")]
const _: () = sent_and_shared::<lanecrypt_engine::AwsLc>();

/// `InOutBuf` has pointers, and is made only when a kernel takes the data. `NonceSequence` is a
/// trait; its types are listed above. The others are there with the features `aws-lc`, `openssl`,
/// `pk` and `rsa` only.
const OTHERS: [&str; 7] =
    ["AwsLc", "InOutBuf", "NonceSequence", "OpenSsl", "OpenSslError", "RsaKey", "AsymmetricKey"];

/// The list has all public types.
#[test]
fn no_public_type_is_forgotten() {
    fn is_sequence<T: NonceSequence>() {}
    is_sequence::<Nonces>();

    let text = include_str!("../../src/lib.rs");
    let uses = text.split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap_or(rest));
    let mut names: Vec<&str> = uses
        .flat_map(|path| path.split([':', '{', '}', ',', ' ', '\n']))
        .filter(|name| name.starts_with(char::is_uppercase))
        .collect();
    names.sort_unstable();
    let mut listed: Vec<&str> = SENT_AND_SHARED.iter().chain(&OTHERS).copied().collect();
    listed.sort_unstable();
    assert_eq!(names, listed);
}
