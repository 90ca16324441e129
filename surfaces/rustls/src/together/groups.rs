//! Groups of key exchange.

use core::fmt;
use core::marker::PhantomData;

use lanecrypt_pk::KeyError;
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, ProtocolVersion};
use zeroize::Zeroizing;

use super::curves::{Curve, P256, X25519, invalid};
use super::hybrid::Hybrid;
use super::jobs::{Agreement, Failed, Job};
use super::known::Known;
use super::pool;

/// The group with our operations in a pool; the group itself, if we do not have it.
pub(crate) fn ours(base: &'static dyn SupportedKxGroup) -> &'static dyn SupportedKxGroup {
    static KNOWN: Known<dyn SupportedKxGroup> = Known::new();
    match base.name() {
        NamedGroup::X25519 => KNOWN.of(base, || Box::leak(Box::new(Group::<X25519>::over(base)))),
        NamedGroup::secp256r1 => KNOWN.of(base, || Box::leak(Box::new(Group::<P256>::over(base)))),
        NamedGroup::X25519MLKEM768 => KNOWN.of(base, || Box::leak(Box::new(Hybrid(base)))),
        _ => base,
    }
}

/// A curve.
struct Group<C> {
    base: &'static dyn SupportedKxGroup,
    curve: PhantomData<fn() -> C>,
}

impl<C: Curve> Group<C> {
    fn over(base: &'static dyn SupportedKxGroup) -> Self {
        Self { base, curve: PhantomData }
    }
}

impl<C> fmt::Debug for Group<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt(f)
    }
}

impl<C: Curve> Agreement<C> {
    /// A new key, whose share is asked for.
    pub(crate) fn new(peer: Option<C::Public>) -> Result<Self, Error> {
        let secret = C::generate().map_err(|_: KeyError| GetRandomFailed)?;
        Ok(Self { share: Some(C::EMPTY), ..Self::continued(secret, peer) })
    }

    /// A key whose share is known.
    pub(crate) fn continued(secret: C::Secret, peer: Option<C::Public>) -> Self {
        Self { secret, share: None, peer, shared: Zeroizing::new([0; 32]) }
    }
}

impl<C: Curve> SupportedKxGroup for Group<C>
where
    Job: Holds<C>,
{
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        if pool::is_here() {
            let made = pool::together(Job::with(Agreement::new(None)?));
            if let Some(Ok(job)) = made
                && let Some(Agreement { secret, share: Some(share), .. }) = job.take()
            {
                return Ok(Box::new(Active::<C> { secret, share }));
            }
        }
        self.base.start()
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        if pool::is_here() {
            let public = C::read(peer).ok_or_else(invalid)?;
            match pool::together(Job::with(Agreement::new(Some(public))?)) {
                None => (),
                Some(Err(Failed)) => return Err(invalid()),
                Some(Ok(job)) => {
                    if let Some(Agreement { share: Some(share), shared, .. }) = job.take() {
                        return Ok(CompletedKeyExchange {
                            group: C::NAME,
                            pub_key: share.as_ref().to_vec(),
                            secret: SharedSecret::from(&shared[..]),
                        });
                    }
                }
            }
        }
        self.base.start_and_complete(peer)
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        C::NAME
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.base.usable_for_version(version)
    }
}

/// A job of one agreement.
pub(crate) trait Holds<C: Curve> {
    fn with(agreement: Agreement<C>) -> Self;
    fn take(self: Box<Self>) -> Option<Agreement<C>>;
}

impl Holds<X25519> for Job {
    fn with(agreement: Agreement<X25519>) -> Self {
        Self { x25519: Some(agreement), ..Self::default() }
    }

    fn take(self: Box<Self>) -> Option<Agreement<X25519>> {
        self.x25519
    }
}

impl Holds<P256> for Job {
    fn with(agreement: Agreement<P256>) -> Self {
        Self { p256: Some(agreement), ..Self::default() }
    }

    fn take(self: Box<Self>) -> Option<Agreement<P256>> {
        self.p256
    }
}

/// A key exchange that began in a pool.
struct Active<C: Curve> {
    secret: C::Secret,
    share: C::Share,
}

impl<C: Curve> ActiveKeyExchange for Active<C>
where
    Job: Holds<C>,
{
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let public = C::read(peer).ok_or_else(invalid)?;
        let job = pool::finish(Job::with(Agreement::continued(self.secret, Some(public))));
        let agreement = job.ok().and_then(Job::take).ok_or_else(invalid)?;
        Ok(SharedSecret::from(&agreement.shared[..]))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        self.share.as_ref()
    }

    fn group(&self) -> NamedGroup {
        C::NAME
    }
}
