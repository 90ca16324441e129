//! Messages with authentication.

use lanecrypt_ciphers::Error;
use lanecrypt_engine::{Batch, BatchBuffer, BatchError, Request, Session};
use lanecrypt_peers::{Aead, Direction, Failed, Messages, Packet, Run};

use super::{Served, Way, answered, good, opened};

impl Messages<Packet<'_>> for Served {
    fn messages(&mut self, packets: &mut [Packet<'_>], run: Run<'_>) -> Result<(), Failed> {
        match self.direction {
            Direction::Encrypt => self.run(packets, run, seal, to_seal, give_to_seal),
            Direction::Decrypt => self.run(packets, run, open, to_open, give_to_open),
        }
    }
}

impl Aead for Served {
    /// Checks the outcome of each request; the result of `process` must agree with them.
    fn opened(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: Option<&[&[u8]]>,
        batch: usize,
    ) -> Result<Vec<bool>, Failed> {
        let batch = good(Some(batch))?;
        let keyed = |key: &&[u8]| opened(&self.engine, self.algorithm, key);
        let fresh: Option<Vec<Session>> =
            keys.map(|keys| keys.iter().map(keyed).collect()).transpose()?;
        let session = |(at, packet): (usize, &Packet<'_>)| match &fresh {
            Some(fresh) => fresh.get(at).ok_or(Failed),
            None => self.sessions.get(packet.session).ok_or(Failed),
        };
        let sessions: Vec<&Session> =
            packets.iter().enumerate().map(session).collect::<Result<_, _>>()?;
        if self.way == Way::Alone {
            let each = sessions.into_iter().zip(packets);
            return Ok(each.map(|(session, packet)| open(session, packet).is_ok()).collect());
        }
        let mut all = Vec::new();
        let mut buffer = self.engine.batch_buffer(batch);
        for (sessions, packets) in sessions.chunks(batch).zip(packets.chunks_mut(batch)) {
            let (answer, outcomes) = match self.way {
                Way::Filled => opened_filled(&mut buffer, sessions, packets)?,
                _ => {
                    let requests = sessions.iter().zip(packets);
                    let mut requests: Vec<Request<'_>> = requests
                        .map(|(session, packet)| to_open(session, packet))
                        .collect::<Result<_, _>>()?;
                    let answer = self.engine.process(&mut requests);
                    let outcomes = requests.iter().map(|request| request.outcome() == Some(Ok(())));
                    (answer, outcomes.collect())
                }
            };
            let refused = outcomes.iter().filter(|&&opened| !opened).count();
            if answer.map_or_else(|error| error.failed, |()| 0) != refused {
                return Err(Failed);
            }
            all.extend(outcomes);
        }
        Ok(all)
    }
}

/// Checks the buffer's outcomes; the immediate answers of the batch must agree with them.
fn opened_filled(
    buffer: &mut BatchBuffer,
    sessions: &[&Session],
    packets: &mut [Packet<'_>],
) -> Result<(Result<(), BatchError>, Vec<bool>), Failed> {
    let mut batch = buffer.batch();
    let each = sessions.iter().zip(packets);
    let answers: Vec<_> =
        each.map(|(session, packet)| give_to_open(&mut batch, session, packet)).collect();
    let answer = batch.finish();
    let outcomes: Vec<_> = buffer.outcomes().collect();
    let agree = |(answer, outcome)| Option::is_none(answer) || answer == outcome;
    if outcomes.len() != answers.len() || !answers.iter().zip(&outcomes).all(agree) {
        return Err(Failed);
    }
    Ok((answer, outcomes.iter().map(|outcome| *outcome == Some(Ok(()))).collect()))
}

#[inline]
fn seal(session: &Session, packet: &mut Packet<'_>) -> Result<(), Failed> {
    answered(session.seal_detached(packet.nonce, packet.aad, &mut *packet.data, packet.tag))
}

#[inline]
fn open(session: &Session, packet: &mut Packet<'_>) -> Result<(), Failed> {
    let data = (packet.sealed, &mut *packet.data);
    answered(session.open_detached(packet.nonce, packet.aad, data, packet.tag))
}

#[inline]
fn to_seal<'a>(session: &'a Session, packet: &'a mut Packet<'_>) -> Result<Request<'a>, Failed> {
    let Packet { nonce, aad, data, tag, .. } = packet;
    Ok(Request::seal_detached(session, nonce, aad, &mut **data, &mut tag[..]))
}

#[inline]
fn to_open<'a>(session: &'a Session, packet: &'a mut Packet<'_>) -> Result<Request<'a>, Failed> {
    let Packet { nonce, aad, data, sealed, tag, .. } = packet;
    Ok(Request::open_detached(session, nonce, aad, (*sealed, &mut **data), &tag[..]))
}

#[inline]
fn give_to_seal<'a>(
    batch: &mut Batch<'_, 'a>,
    session: &'a Session,
    packet: &'a mut Packet<'_>,
) -> Option<Result<(), Error>> {
    let Packet { nonce, aad, data, tag, .. } = packet;
    batch.seal_detached(session, nonce, aad, &mut **data, &mut tag[..])
}

#[inline]
fn give_to_open<'a>(
    batch: &mut Batch<'_, 'a>,
    session: &'a Session,
    packet: &'a mut Packet<'_>,
) -> Option<Result<(), Error>> {
    let Packet { nonce, aad, data, sealed, tag, .. } = packet;
    batch.open_detached(session, nonce, aad, (*sealed, &mut **data), &tag[..])
}
