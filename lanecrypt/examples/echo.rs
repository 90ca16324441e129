//! A UDP echo whose packets of many connections share batches.
//!
//! Each packet is opened and its answer is sealed by a task of its own. All tasks use one
//! `AsyncQueue`: while its worker serves a batch, the packets that come meanwhile form the next
//! one.
//!
//! ```text
//! packet:  connection (4 bytes) | counter (8 bytes) | message | tag (16 bytes)
//! nonce:   4 zero bytes | counter
//! ```
//!
//! The first two fields are authenticated. Each connection has one key for each direction, and
//! counts the packets of each direction for itself, so that no nonce comes twice under one key. (A
//! real protocol agrees on keys in a handshake, and remembers counters to refuse repeated packets.)
//!
//! Run it with `cargo run --release -p lanecrypt --example echo`.

use core::error::Error;
use core::net::SocketAddr;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use lanecrypt::queue::{AsyncQueue, Message, SessionHandle};
use lanecrypt::{Algorithm, Engine, Session};
use tokio::net::UdpSocket;

const HEADER: usize = 4 + 8;
const TAG: usize = 16;
const LONGEST: usize = 1500;
/// The most packets that are served at a time.
const DEPTH: usize = 256;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (clients, packets) = (64, 200);
    let begun = Instant::now();
    let answered = echo(clients, packets).await?;
    let took = begun.elapsed();
    println!("{answered} of {} packets came back in {took:.1?}", clients as usize * packets);
    Ok(())
}

/// Runs a server and its clients, and returns the number of right answers.
async fn echo(clients: u32, packets: usize) -> Result<usize, Box<dyn Error>> {
    let server = Arc::new(Server::new(clients).await?);
    let address = server.socket.local_addr()?;
    let serving = tokio::spawn(server.run());
    let each = (0..clients).map(|number| tokio::spawn(client(number, packets, address)));
    let mut answered = 0;
    for client in each.collect::<Vec<_>>() {
        answered += client.await??;
    }
    serving.abort();
    Ok(answered)
}

struct Server {
    socket: UdpSocket,
    queue: AsyncQueue<Vec<u8>>,
    connections: Vec<Connection>,
}

struct Connection {
    receives: SessionHandle,
    sends: SessionHandle,
    /// Relaxed everywhere: each packet takes a number of its own, and nothing else is published.
    sent: AtomicU64,
}

impl Server {
    async fn new(connections: u32) -> Result<Self, Box<dyn Error>> {
        let engine = Engine::new();
        let queue = AsyncQueue::new(&engine, DEPTH)?;
        let mut server = Vec::new();
        for number in 0..connections {
            let [client_key, server_key] = keys(number);
            let (receives, sends) = (
                attach(&queue, &engine, client_key).await?,
                attach(&queue, &engine, server_key).await?,
            );
            server.push(Connection { receives, sends, sent: AtomicU64::new(0) });
        }
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        Ok(Self { socket, queue, connections: server })
    }

    /// Receives packets; a task answers each.
    async fn run(self: Arc<Self>) {
        loop {
            let mut packet = vec![0; LONGEST];
            // While the queue is full, packets wait in the socket.
            if self.queue.ready().await.is_err() {
                return;
            }
            let Ok((length, from)) = self.socket.recv_from(&mut packet).await else { continue };
            packet.truncate(length);
            let server = self.clone();
            tokio::spawn(async move { server.answer(packet, from).await });
        }
    }

    /// Opens a packet and sends its message back; nothing if it is not authentic.
    async fn answer(&self, packet: Vec<u8>, to: SocketAddr) -> Option<()> {
        let (number, counter) = header(&packet)?;
        let connection = self.connections.get(number as usize)?;
        let message = Message::open(connection.receives, nonce(counter), packet);
        let opened = self.queue.serve(message.with_header(HEADER)).await.ok()?;
        opened.outcome.ok()?;

        let counter = connection.sent.fetch_add(1, Ordering::Relaxed);
        let mut packet = opened.buffer;
        put_header(&mut packet, number, counter);
        let message = Message::seal(connection.sends, nonce(counter), packet);
        let sealed = self.queue.serve(message.with_header(HEADER)).await.ok()?;
        sealed.outcome.ok()?;
        self.socket.send_to(&sealed.buffer, to).await.ok()?;
        Some(())
    }
}

/// Attaches a session. Many come at once, so that the worker must be given time.
async fn attach(
    queue: &AsyncQueue<Vec<u8>>,
    engine: &Engine,
    key: [u8; 32],
) -> Result<SessionHandle, Box<dyn Error>> {
    let mut session = engine.boxed_session(Algorithm::CHACHA20_POLY1305, &key)?;
    loop {
        match queue.attach(session) {
            Ok(attached) => return Ok(attached),
            Err(refused) => session = refused.value,
        }
        tokio::task::yield_now().await;
    }
}

/// Sends packets one after another and counts the right answers.
async fn client(number: u32, packets: usize, server: SocketAddr) -> Result<usize, std::io::Error> {
    let engine = Engine::new();
    let [own, other] = keys(number).map(|key| open(&engine, key));
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    socket.connect(server).await?;
    let mut answered = 0;
    for counter in 0..packets as u64 {
        let byte = counter.to_le_bytes()[0];
        let message = vec![byte; 20 + usize::from(byte)];
        let mut packet = [&[0; HEADER][..], &message, &[0; TAG]].concat();
        put_header(&mut packet, number, counter);
        let (aad, sealed) = packet.split_at_mut(HEADER);
        own.seal(&nonce(counter), aad, sealed).expect("a good length");
        socket.send(&packet).await?;

        let mut answer = [0; LONGEST];
        let received = tokio::time::timeout(Duration::from_secs(2), socket.recv(&mut answer));
        // Datagrams may be lost.
        let Ok(length) = received.await else { continue };
        let (aad, sealed) = answer[..length?].split_at_mut(HEADER);
        let counter = header(aad).map(|(_, counter)| counter).unwrap_or_default();
        let opened = other.open(&nonce(counter), aad, sealed);
        answered += usize::from(opened.is_ok_and(|opened| *opened == message));
    }
    Ok(answered)
}

fn open(engine: &Engine, key: [u8; 32]) -> Session {
    engine.session(Algorithm::CHACHA20_POLY1305, &key).expect("a key of the right length")
}

/// The keys of a connection, from the client and to it. A real protocol agrees on them.
fn keys(number: u32) -> [[u8; 32]; 2] {
    [1, 2].map(|direction| {
        let mut key = [direction; 32];
        key[..4].copy_from_slice(&number.to_be_bytes());
        key
    })
}

fn nonce(counter: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&counter.to_be_bytes());
    nonce
}

fn header(packet: &[u8]) -> Option<(u32, u64)> {
    let (number, rest) = packet.split_first_chunk()?;
    Some((u32::from_be_bytes(*number), u64::from_be_bytes(*rest.first_chunk()?)))
}

fn put_header(packet: &mut [u8], number: u32, counter: u64) {
    packet[..4].copy_from_slice(&number.to_be_bytes());
    packet[4..HEADER].copy_from_slice(&counter.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn packets_come_back() {
        let answered = echo(20, 30).await.expect("sockets can be made");
        // Some may be lost where the machine is busy.
        assert!(answered > 500, "{answered}");
    }

    #[tokio::test]
    async fn what_is_not_authentic_is_not_answered() {
        let server = Server::new(1).await.expect("sockets can be made");
        let to = server.socket.local_addr().expect("it is bound");
        let mut packet = vec![0; HEADER + 40 + TAG];
        assert_eq!(server.answer(packet.clone(), to).await, None);
        assert_eq!(server.answer(vec![0; 5], to).await, None);
        let (aad, sealed) = packet.split_at_mut(HEADER);
        open(&Engine::new(), keys(0)[0]).seal(&nonce(0), aad, sealed).expect("a good length");
        assert_eq!(server.answer(packet.clone(), to).await, Some(()));
        packet[HEADER] ^= 1;
        assert_eq!(server.answer(packet, to).await, None);
    }
}
