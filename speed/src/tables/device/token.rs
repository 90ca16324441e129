//! SoftHSM2: a token in software, by PKCS#11, in a process of its own, whose environment names the
//! token's folder.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::{Direction, Failed, PeerLibraries, SoftHsm, TokenKey};

use super::NAME;
use super::daemons::Daemons;
use super::many::Many;
use super::process::{Job, PKCS11};
use super::setting::Setting;
use crate::ciphers::Sizes;
use crate::ciphers::known::{self, Question};
use crate::ciphers::sessions::{self, SESSIONS, Turns, shuffle};
use crate::results::Point;
use crate::row::{Arena, Row, Workload};
use crate::verify::Defect;

/// The one algorithm that is measured.
pub(super) const ALGORITHM: Algorithm = Algorithm::AES_128_CBC;

/// One process that calls `C_EncryptInit` and `C_Encrypt` for each message.
pub(super) fn row(daemons: &Arc<Daemons>, size: usize) -> Row {
    let job = Job {
        socket: PathBuf::new(),
        // The client's processor; it has no daemon.
        setting: Setting::SameSleep,
        processors: Setting::SameSleep.of_clients(daemons.processors()),
        subject: PKCS11.to_owned(),
        is_encryption: true,
        size,
        depth: 1,
    };
    let point = Point {
        id: format!("{NAME}/{}/{PKCS11}/{ALGORITHM}/encrypt/{size}", SoftHsm::SOURCE),
        table: NAME.into(),
        source: SoftHsm::SOURCE.into(),
        api: PKCS11.into(),
        subject: ALGORITHM.to_string(),
        op: "encrypt".into(),
        size: Some(size as u64),
        depth: Some(1),
        processes: Some(1),
        key: Some("kept".into()),
        chained: Some(false),
        ..Point::default()
    };
    let (batches, daemons) = (job.batches(), daemons.clone());
    Row::new(point, batches, move || Some(Many::new(&daemons, job.clone(), 1)))
}

/// A token with its keys. All rows of a process share it, because a token is made once.
pub(super) struct Token {
    module: SoftHsm,
    keys: Vec<TokenKey>,
}

impl Token {
    pub(super) fn open(libraries: &PeerLibraries) -> Option<Self> {
        let module = SoftHsm::open(libraries).ok()?;
        let keys = sessions::keys(ALGORITHM, SESSIONS)?;
        let keys = keys.iter().map(|key| module.aes_key(key)).collect::<Result<_, _>>().ok()?;
        Some(Self { module, keys })
    }
}

/// Messages that a token encrypts.
pub(super) struct Calls {
    token: Arc<Mutex<Token>>,
    turns: Turns,
    buffers: Vec<Vec<u8>>,
    size: usize,
    next: usize,
}

impl Calls {
    pub(super) fn new(token: &Arc<Mutex<Token>>, size: usize) -> Option<Self> {
        let turns = Turns::new(ALGORITHM, SESSIONS)?;
        Some(Self { token: token.clone(), turns, buffers: Vec::new(), size, next: 0 })
    }

    fn requests(&mut self, requests: usize) -> Result<(), Failed> {
        let Self { token, turns, buffers, next, .. } = self;
        let mut token = token.lock().unwrap_or_else(PoisonError::into_inner);
        let Token { module, keys } = &mut *token;
        for _ in 0..requests {
            let at = *turns.order.get(*next).ok_or(Failed)?;
            *next = if *next + 1 < turns.order.len() { *next + 1 } else { 0 };
            let iv = turns.nonces.get(at).and_then(|iv| iv.first_chunk()).ok_or(Failed)?;
            let (key, buffer) = (keys.get(at).ok_or(Failed)?, buffers.get_mut(at).ok_or(Failed)?);
            module.encrypt_cbc(*key, iv, buffer)?;
        }
        Ok(())
    }

    /// Known questions get the portable kernel's answers.
    fn checked(&mut self) -> Result<(), Defect> {
        self.turns.ask();
        shuffle(&mut self.turns.order, 1);
        self.buffers = (0..SESSIONS).map(|session| sessions::data(session, self.size)).collect();
        self.next = 0;
        let question = Question::Messages(Sizes::one(self.size), SESSIONS);
        let answer = known::answer(ALGORITHM, Direction::Encrypt, question)?;
        self.requests(SESSIONS)?;
        if self.buffers.concat() == answer.messages { Ok(()) } else { Err(Defect::Answer) }
    }
}

impl Workload for Calls {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.turns.next();
        Ok(self.requests(8)?)
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        if self.requests(requests).is_err() {
            panic!("a token failed in the middle of a measurement");
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        let each = self.buffers.iter().map(|buffer| sessions::digest(buffer));
        each.fold(0, |folded, digest| folded.rotate_left(7) ^ digest)
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.checked()
    }
}
