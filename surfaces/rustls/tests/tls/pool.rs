//! Handshakes that advance together in a pool.

use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::catch_unwind;
use std::sync::Arc;

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};
use rustls::client::Resumption;
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, SupportedKxGroup, aws_lc_rs, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{
    ClientConfig, Connection, Error, NamedGroup, PeerMisbehaved, RootCertStore, ServerConfig,
    SupportedProtocolVersion,
};
use rustls_lanecrypt::{HandshakePool, over};

use crate::connections::{Link, deliver, pass, written};

const COUNTS: [usize; 5] = [1, 2, 5, 7, 64];

/// A certificate and its key.
struct Identity {
    name: &'static str,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    fn new(name: &'static str, pair: &KeyPair) -> Self {
        Self::with(name, pair, PrivateKeyDer::try_from(pair.serialize_der()).expect("PKCS #8"))
    }

    fn with(name: &'static str, pair: &KeyPair, key: PrivateKeyDer<'static>) -> Self {
        let parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
        let certificate = parameters.self_signed(pair).expect("a certificate");
        Self { name, certificate: certificate.der().clone(), key }
    }

    fn all() -> Vec<Self> {
        let pair = |algorithm| KeyPair::generate_for(algorithm).expect("a key");
        let rsa = PrivateKeyDer::from_pem_slice(RSA).expect("PEM");
        let PrivateKeyDer::Pkcs8(pkcs8) = &rsa else { panic!("PKCS #8") };
        let rsa_pair = KeyPair::from_pkcs8_der_and_sign_algo(pkcs8, &rcgen::PKCS_RSA_SHA256);
        vec![
            Self::new("P-256", &pair(&PKCS_ECDSA_P256_SHA256)),
            Self::new("Ed25519", &pair(&PKCS_ED25519)),
            Self::with("RSA", &rsa_pair.expect("a key"), rsa),
            // Not ours.
            Self::new("P-384", &pair(&PKCS_ECDSA_P384_SHA384)),
        ]
    }

    fn ecdsa() -> Self {
        Self::new("P-256", &KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key"))
    }
}

/// For tests only.
static RSA: &[u8] = include_bytes!("../../../../rsa/tests/key.pem");

/// Providers of servers: ours.
fn bases() -> [(&'static str, CryptoProvider); 2] {
    [("ring", ring::default_provider()), ("AWS-LC", aws_lc_rs::default_provider())]
}

fn server(
    provider: CryptoProvider,
    version: &'static SupportedProtocolVersion,
    identity: &Identity,
) -> Arc<ServerConfig> {
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version])
        .expect("it has the version")
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.clone()], identity.key.clone_key())
        .expect("the key is that of the certificate");
    Arc::new(config)
}

/// A client with one group, which begins each session anew.
fn client(
    mut provider: CryptoProvider,
    version: &'static SupportedProtocolVersion,
    identity: &Identity,
    group: NamedGroup,
) -> Arc<ClientConfig> {
    provider.kx_groups.retain(|it| it.name() == group);
    let mut roots = RootCertStore::empty();
    roots.add(identity.certificate.clone()).expect("a certificate");
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version])
        .expect("it has the version")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// Delivers what all have to send, until nobody has. The receiving sides of a direction advance
/// together in the pool.
fn shake_hands(pool: &mut HandshakePool, links: &mut [Link]) -> Vec<Result<(), Error>> {
    let mut outcomes = vec![Ok(()); links.len()];
    loop {
        for to_server in [true, false] {
            let closures = links.iter_mut().zip(&mut outcomes).map(|(link, outcome)| {
                move || {
                    let Link { client, server } = link;
                    let (from, to) = if to_server { (client, server) } else { (server, client) };
                    let wire = written(from);
                    let delivered = deliver(&wire, to);
                    if outcome.is_ok() {
                        *outcome = delivered.map(|_| ());
                    }
                }
            });
            pool.run(closures);
        }
        if links.iter().all(|link| !link.client.wants_write() && !link.server.wants_write()) {
            return outcomes;
        }
    }
}

fn links(count: usize, client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Vec<Link> {
    (0..count).map(|_| Link::before_handshake(client, server)).collect()
}

fn talk(link: &mut Link) {
    assert!(!link.client.is_handshaking() && !link.server.is_handshaking());
    pass(b"to the server", &mut link.client, &mut link.server);
    pass(b"to the client", &mut link.server, &mut link.client);
}

#[test]
fn every_group_with_every_key() {
    let mut pool = HandshakePool::new();
    for (name, base) in bases() {
        let groups: Vec<_> = base.kx_groups.iter().map(|group| group.name()).collect();
        for identity in Identity::all() {
            for group in &groups {
                for count in COUNTS {
                    println!("{name}, {}, {group:?}, {count}", identity.name);
                    let version = &rustls::version::TLS13;
                    let server = server(over(base.clone()), version, &identity);
                    let client = client(base.clone(), version, &identity, *group);
                    let mut links = links(count, &client, &server);
                    let outcomes = shake_hands(&mut pool, &mut links);
                    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
                    for link in &mut links {
                        talk(link);
                        let chosen = link.server.negotiated_key_exchange_group();
                        assert_eq!(chosen.map(|it| it.name()), Some(*group));
                    }
                }
            }
        }
    }
}

#[test]
fn clients_of_ours_too() {
    let mut pool = HandshakePool::new();
    for (name, base) in bases() {
        let identity = Identity::ecdsa();
        for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
            for group in base.kx_groups.iter().map(|group| group.name()) {
                if version.version == rustls::ProtocolVersion::TLSv1_2
                    && group == NamedGroup::X25519MLKEM768
                {
                    continue;
                }
                for count in COUNTS {
                    println!("{name}, {version:?}, {group:?}, {count}");
                    let server = server(over(base.clone()), version, &identity);
                    let client = client(over(base.clone()), version, &identity, group);
                    // Clients compute their shares when they are made.
                    let closures = (0..count).map(|_| || Link::before_handshake(&client, &server));
                    let mut links = pool.run(closures);
                    let outcomes = shake_hands(&mut pool, &mut links);
                    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
                    links.iter_mut().for_each(talk);
                }
            }
        }
    }
}

/// The client offers X25519MLKEM768 and X25519 at once, and the server takes the second one.
#[test]
fn half_of_a_hybrid_exchange() {
    let mut pool = HandshakePool::new();
    let identity = Identity::ecdsa();
    let version = &rustls::version::TLS13;
    let base = aws_lc_rs::default_provider();
    let server = server(over(ring::default_provider()), version, &identity);
    let mut roots = RootCertStore::empty();
    roots.add(identity.certificate.clone()).expect("a certificate");
    let mut client = ClientConfig::builder_with_provider(Arc::new(over(base)))
        .with_protocol_versions(&[version])
        .expect("it has the version")
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.resumption = Resumption::disabled();
    let client = Arc::new(client);
    for count in COUNTS {
        let mut links = pool.run((0..count).map(|_| || Link::before_handshake(&client, &server)));
        let outcomes = shake_hands(&mut pool, &mut links);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        for link in &mut links {
            talk(link);
            let kind = link.server.handshake_kind();
            assert_eq!(kind, Some(rustls::HandshakeKind::Full), "without another round");
        }
    }
}

#[test]
fn outside_of_a_pool() {
    for (_, base) in bases() {
        for identity in Identity::all() {
            let version = &rustls::version::TLS13;
            let server = server(over(base.clone()), version, &identity);
            let client = client(over(base.clone()), version, &identity, NamedGroup::X25519);
            let mut link = Link::before_handshake(&client, &server);
            link.shake_hands().expect("the handshake succeeds");
            talk(&mut link);
        }
    }
}

/// A key exchange that begins in a pool and ends outside of it.
#[test]
fn half_in_a_pool() {
    let identity = Identity::ecdsa();
    for (_, base) in bases() {
        for group in base.kx_groups.iter().map(|group| group.name()) {
            let version = &rustls::version::TLS13;
            let server = server(over(base.clone()), version, &identity);
            let client = client(over(base.clone()), version, &identity, group);
            let closures = (0..7).map(|_| || Link::before_handshake(&client, &server));
            for mut link in HandshakePool::new().run(closures) {
                link.shake_hands().expect("the handshake succeeds");
                talk(&mut link);
            }
        }
    }
}

/// Every third client sends garbage, a share that is none, or nothing that the server supports.
#[test]
fn bad_clients_among_good_ones() {
    let identity = Identity::ecdsa();
    let version = &rustls::version::TLS13;
    let base = aws_lc_rs::default_provider();
    let server = server(over(ring::default_provider()), version, &identity);
    let good = client(base.clone(), version, &identity, NamedGroup::X25519);
    let other = client(base, version, &identity, NamedGroup::X25519MLKEM768);
    let mut pool = HandshakePool::new();
    for _ in 0..3 {
        let mut connections: Vec<_> = (0..24)
            .map(|i| {
                let client = if i % 3 == 2 { &other } else { &good };
                let Link { mut client, server } = Link::before_handshake(client, &server);
                let mut wire = written(&mut client);
                match i {
                    // A share of small order: all that the client sends between its beginning and
                    // its end.
                    1 | 10 => {
                        let share = position(&wire, &[0, 0x1d, 0, 0x20]) + 4;
                        wire[share..share + 32].fill(0);
                    }
                    // Not TLS.
                    4 => wire.fill(0x55),
                    // Nothing at all.
                    7 => wire.clear(),
                    // Ends in the middle.
                    13 => wire.truncate(wire.len() / 2),
                    // A share that is too short, in a message of the right length.
                    16 => {
                        let share = position(&wire, &[0, 0x1d, 0, 0x20]);
                        wire[share + 3] = 0x1f;
                    }
                    _ => (),
                }
                (client, server, wire)
            })
            .collect();
        let closures = connections.iter_mut().map(|(_, server, wire)| || deliver(wire, server));
        let outcomes = pool.run(closures);
        for (i, (outcome, (mut client, server, _))) in
            outcomes.into_iter().zip(connections).enumerate()
        {
            match i {
                1 | 10 => assert_eq!(outcome, Err(PeerMisbehaved::InvalidKeyShare.into()), "{i}"),
                4 | 16 => assert!(outcome.is_err(), "{i}: {outcome:?}"),
                7 | 13 => assert!(outcome.is_ok() && server.is_handshaking(), "{i}"),
                i if i % 3 == 2 => {
                    // Ring does not have the group.
                    let expected =
                        Error::PeerIncompatible(rustls::PeerIncompatible::NoKxGroupsInCommon);
                    assert_eq!(outcome, Err(expected), "{i}");
                }
                _ => {
                    assert_eq!(outcome, Ok(Vec::new()), "{i}");
                    let mut server: Connection = server;
                    deliver(&written(&mut server), &mut client).expect("authentic");
                    let mut link = Link { client, server };
                    link.shake_hands().expect("the handshake succeeds");
                    talk(&mut link);
                }
            }
        }
    }
}

fn position(wire: &[u8], part: &[u8]) -> usize {
    wire.windows(part.len()).rposition(|window| window == part).expect("it is there")
}

#[test]
fn a_panic_disturbs_nobody() {
    let identity = Identity::ecdsa();
    let version = &rustls::version::TLS13;
    let server = server(over(ring::default_provider()), version, &identity);
    let client = client(ring::default_provider(), version, &identity, NamedGroup::X25519);
    let mut pool = HandshakePool::new();
    for _ in 0..3 {
        let mut links = links(9, &client, &server);
        let done = Cell::new(0);
        let closures = links.iter_mut().enumerate().map(|(i, link)| {
            let done = &done;
            move || {
                let wire = written(&mut link.client);
                deliver(&wire, &mut link.server).expect("it is authentic");
                assert!(i != 4, "the fourth");
                done.set(done.get() + 1);
            }
        });
        let outcome = catch_unwind(AssertUnwindSafe(|| pool.run(closures)));
        let panic = outcome.expect_err("one panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the fourth"));
        assert_eq!(done.get(), 8);
        let outcomes = shake_hands(&mut pool, &mut links);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        links.iter_mut().for_each(talk);
    }
}

/// A base that counts what it computes.
#[derive(Debug)]
struct Counting;

static COMPUTED: AtomicUsize = AtomicUsize::new(0);

impl SupportedKxGroup for Counting {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        COMPUTED.fetch_add(1, Ordering::Relaxed);
        ring::kx_group::X25519.start()
    }

    fn ffdhe_group(&self) -> Option<rustls::ffdhe_groups::FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

#[test]
fn the_base_computes_what_gains_nothing() {
    let mut provider = ring::default_provider();
    provider.kx_groups = vec![&Counting];
    let provider = over(provider);
    assert!(over(provider.clone()).kx_groups[0].name() == NamedGroup::X25519);
    let group = provider.kx_groups[0];
    let peer = ring::kx_group::X25519.start().expect("a key").pub_key().to_vec();
    let mut pool = HandshakePool::new();
    let by_base: Vec<_> = (0..=17)
        .map(|count| {
            COMPUTED.store(0, Ordering::Relaxed);
            let outcomes = pool.run((0..count).map(|_| || group.start_and_complete(&peer)));
            assert!(outcomes.iter().all(Result::is_ok));
            COMPUTED.load(Ordering::Relaxed)
        })
        .collect();
    // By AVX-512, by AVX2, and without lanes.
    let by_eight = [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1];
    let by_four = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1];
    let alone: Vec<_> = (0..=17).collect();
    assert!(by_base == by_eight || by_base == by_four || by_base == alone, "{by_base:?}");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && std::env::var_os("LANECRYPT_ISA").is_none() {
        assert!(by_base != alone, "lanes are used");
    }
}
