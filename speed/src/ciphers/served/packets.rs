//! Messages with authentication.

use lanecrypt_ciphers::InOutBuf;
use lanecrypt_engine::{Request, Session};
use lanecrypt_peers::{Aead, Failed, Packet};

use super::{Served, answered, good, opened};

impl Aead for Served {
    fn seal(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed> {
        self.seal_batches(batch, 1, requests)
    }

    fn seal_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        self.seal_batches_rekeyed(batch, keys, 1, requests)
    }

    fn open(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed> {
        self.open_batches(batch, 1, requests)
    }

    fn open_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        self.open_batches_rekeyed(batch, keys, 1, requests)
    }

    fn seal_batches(
        &mut self,
        packets: &mut [Packet<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        match self.batches {
            true => self.processed(packets, batch, requests, to_seal),
            false => self.each(packets, requests, seal),
        }
    }

    fn seal_batches_rekeyed(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        match self.batches {
            true => self.processed_rekeyed(packets, keys, batch, requests, to_seal),
            false => self.each_rekeyed(packets, keys, requests, seal),
        }
    }

    fn open_batches(
        &mut self,
        packets: &mut [Packet<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        match self.batches {
            true => self.processed(packets, batch, requests, to_open),
            false => self.each(packets, requests, open),
        }
    }

    fn open_batches_rekeyed(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        match self.batches {
            true => self.processed_rekeyed(packets, keys, batch, requests, to_open),
            false => self.each_rekeyed(packets, keys, requests, open),
        }
    }

    /// By the outcome of each request; what `process` answers has to agree with them.
    fn opened(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: Option<&[&[u8]]>,
        batch: usize,
    ) -> Result<Vec<bool>, Failed> {
        let batch = good(batch)?;
        let keyed = |key: &&[u8]| opened(&self.engine, self.algorithm, key);
        let fresh: Option<Vec<Session>> =
            keys.map(|keys| keys.iter().map(keyed).collect()).transpose()?;
        let session = |(at, packet): (usize, &Packet<'_>)| match &fresh {
            Some(fresh) => fresh.get(at).ok_or(Failed),
            None => self.sessions.get(packet.session).ok_or(Failed),
        };
        let sessions: Vec<&Session> =
            packets.iter().enumerate().map(session).collect::<Result<_, _>>()?;
        if !self.batches {
            let each = sessions.into_iter().zip(packets);
            return Ok(each.map(|(session, packet)| open(session, packet).is_ok()).collect());
        }
        let mut all = Vec::new();
        for (sessions, packets) in sessions.chunks(batch).zip(packets.chunks_mut(batch)) {
            let requests = sessions.iter().zip(packets);
            let mut requests: Vec<Request<'_>> = requests
                .map(|(session, packet)| to_open(session, packet))
                .collect::<Result<_, _>>()?;
            let answer = self.engine.process(&mut requests);
            let outcomes = requests.iter().map(|request| request.outcome() == Some(Ok(())));
            let outcomes: Vec<bool> = outcomes.collect();
            let refused = outcomes.iter().filter(|&&opened| !opened).count();
            if answer.map_or_else(|error| error.failed, |()| 0) != refused {
                return Err(Failed);
            }
            all.extend(outcomes);
        }
        Ok(all)
    }
}

#[inline]
fn seal(session: &Session, packet: &mut Packet<'_>) -> Result<(), Failed> {
    answered(session.seal_detached(packet.nonce, packet.aad, &mut *packet.data, packet.tag))
}

#[inline]
fn open(session: &Session, packet: &mut Packet<'_>) -> Result<(), Failed> {
    let data = InOutBuf::new(packet.sealed, packet.data).or(Err(Failed))?;
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
    let data = InOutBuf::new(sealed, data).or(Err(Failed))?;
    Ok(Request::open_detached(session, nonce, aad, data, &tag[..]))
}
