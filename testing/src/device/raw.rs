//! A client that writes what it likes into the shared memory, by its own mapping, which it has as
//! every client has.

use core::mem::MaybeUninit;
use std::io::{self, IoSliceMut};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, recv, recvmsg, send, socket_with,
};

use super::memory::Memory;

/// The number of places in a ring of [`Raw::new`].
pub const DEPTH: u32 = 16;
/// The length of the arena of [`Raw::new`] in bytes.
pub const ARENA: u32 = 1 << 13;
/// The place of the number of submitted requests in the shared memory.
pub const SUBMITTED: u64 = 0;
/// The place of the number of completed requests.
pub const COMPLETED: u64 = 128;
/// The place of the requests. Completions follow, and the arena on the next page.
pub const SUBMISSIONS: u64 = 4096;
/// The first bytes of a packet.
pub const MAGIC: [u8; 8] = *b"lanecryp";
/// The version of the protocol.
pub const PROTOCOL: u32 = 4;

const PAGE: u64 = 4096;

/// A connection with shared memory.
#[derive(Debug)]
pub struct Raw {
    pub socket: OwnedFd,
    pub memory: OwnedFd,
    /// The number of requests that it has submitted, modulo 2^32.
    pub submitted: u32,
    doorbell: OwnedFd,
    shared: Arc<Memory>,
    depth: u32,
    arena: u32,
}

/// Connects to a daemon, and says nothing.
///
/// # Panics
///
/// Nobody listens.
pub fn dial(path: &Path) -> OwnedFd {
    try_dial(path).expect("it listens")
}

/// Connects to a daemon, and says nothing.
///
/// # Errors
///
/// Those of the system.
pub fn try_dial(path: &Path) -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// Waits for a packet, and the descriptors with it.
///
/// # Errors
///
/// Those of the system.
pub fn receive(socket: &OwnedFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut bytes, mut space) = ([0; 1000], [MaybeUninit::uninit(); 64]);
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let length = recvmsg(socket, &mut slices, &mut control, flags)?.bytes;
    let came = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    Ok((bytes[..length].to_vec(), came.collect()))
}

impl Raw {
    /// Connects, with a ring of [`DEPTH`] places and an arena of [`ARENA`] bytes.
    ///
    /// # Panics
    ///
    /// The daemon refuses it.
    pub fn new(path: &Path) -> Self {
        Self::with(path, DEPTH, ARENA).expect("welcome")
    }

    /// Connects, with about so many places in a ring and bytes of arena.
    ///
    /// # Errors
    ///
    /// `ConnectionRefused` if the daemon refuses it; those of the system.
    pub fn with(path: &Path, depth: u32, arena: u32) -> io::Result<Self> {
        let socket = try_dial(path)?;
        send_packet(&socket, (0_u32, depth, arena, 0_u32));
        let (bytes, came) = receive(&socket)?;
        // The memory, and what rings.
        let [memory, doorbell] =
            <[OwnedFd; 2]>::try_from(came).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        let welcome = postcard::from_bytes(&bytes).expect("a packet of this protocol");
        let (_, _, (_, depth, arena, _)): ([u8; 8], [u32; 2], (u32, u32, u32, u32)) = welcome;
        let shared = Arc::new(Memory::map(&memory)?);
        // `Mapped`
        send_packet(&socket, 10_u32);
        Ok(Self { socket, memory, submitted: 0, doorbell, shared, depth, arena })
    }

    /// The number of places in a ring.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The length of the arena in bytes.
    pub fn arena(&self) -> u32 {
        self.arena
    }

    /// The place of the arena in the shared memory.
    pub fn arena_at(&self) -> u64 {
        SUBMISSIONS + (u64::from(self.depth) * (64 + 16)).next_multiple_of(PAGE)
    }

    /// The shared memory, which other threads may write to.
    pub fn shared(&self) -> Arc<Memory> {
        self.shared.clone()
    }

    /// Writes into the shared memory.
    pub fn write(&self, at: u64, bytes: &[u8]) {
        self.shared.write(place(at), bytes);
    }

    /// A word of the shared memory.
    pub fn word(&self, at: u64) -> u32 {
        let mut word = [0; 4];
        self.shared.read(place(at), &mut word);
        u32::from_le_bytes(word)
    }

    /// Wakes the daemon.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.doorbell, &1_u64.to_ne_bytes());
    }

    /// Sends a packet of this protocol.
    pub fn ask(&self, asked: impl serde::Serialize) {
        send_packet(&self.socket, asked);
    }

    /// Waits for an answer, and drops it.
    ///
    /// # Panics
    ///
    /// There is none.
    pub fn hear(&self) {
        assert!(!self.reply().is_empty(), "it answers");
    }

    /// Waits for an answer, which is empty at the end of the connection.
    pub fn reply(&self) -> Vec<u8> {
        let mut bytes = [0; 1000];
        let length = recv(&self.socket, &mut bytes[..], RecvFlags::empty());
        length.map_or_else(|_| Vec::new(), |(_, length)| bytes[..length].to_vec())
    }

    /// Submits a request of these words.
    pub fn submit(&mut self, words: [u64; 8]) {
        self.put(words);
        self.publish();
    }

    /// Submits requests all at once.
    pub fn submit_each(&mut self, requests: &[[u64; 8]]) {
        requests.iter().for_each(|&words| self.put(words));
        self.publish();
    }

    /// Submits requests all at once, and waits until all have been answered. Returns the statuses,
    /// as they came.
    pub fn submit_all(&mut self, requests: &[[u64; 8]]) -> Vec<u64> {
        let first = self.submitted;
        self.submit_each(requests);
        self.wait();
        (first..self.submitted).map(|number| self.completion(number).1).collect()
    }

    /// Submits requests until the ring is full. Each is made of its number.
    pub fn fill_up(&mut self, request: impl FnMut(u32) -> [u64; 8]) {
        let left = self.depth - self.behind();
        if left > 0 {
            (self.submitted..).take(left as usize).map(request).for_each(|words| self.put(words));
            self.publish();
        }
    }

    /// The number of requests without an answer, as the daemon says.
    pub fn behind(&self) -> u32 {
        self.submitted.wrapping_sub(self.word(COMPLETED)).min(self.depth)
    }

    /// Waits for the completion of the request that was submitted last: its number and status.
    pub fn status(&self) -> (u64, u64) {
        self.wait();
        self.completion(self.submitted.wrapping_sub(1))
    }

    fn put(&mut self, words: [u64; 8]) {
        let at = SUBMISSIONS + u64::from(self.submitted % self.depth) * 64;
        self.write(at, words.map(u64::to_le_bytes).as_flattened());
        self.submitted = self.submitted.wrapping_add(1);
    }

    fn publish(&self) {
        self.write(SUBMITTED, &self.submitted.to_le_bytes());
        self.ring();
    }

    fn wait(&self) {
        let mut looks = 0_u32;
        while self.word(COMPLETED) != self.submitted {
            looks += 1;
            assert!(!looks.is_multiple_of(4096) || !self.has_ended(), "the connection has ended");
            thread::yield_now();
        }
    }

    /// The number and the status of a completion.
    pub fn completion(&self, number: u32) -> (u64, u64) {
        let completions = SUBMISSIONS + 64 * u64::from(self.depth);
        let at = completions + u64::from(number % self.depth) * 16;
        let mut words = [[0; 8]; 2];
        self.shared.read(place(at), words.as_flattened_mut());
        let [number, status] = words.map(u64::from_le_bytes);
        (number, status)
    }

    /// Whether the daemon has ended the connection, if nothing else came before. Nothing is read.
    fn has_ended(&self) -> bool {
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
        match recv(&self.socket, &mut [0; 1][..], flags) {
            Ok((_, length)) => length == 0,
            Err(error) => error != Errno::AGAIN,
        }
    }

    /// Whether the daemon has ended the connection. Answers that nobody has read are dropped.
    pub fn is_out(&self) -> bool {
        loop {
            match recv(&self.socket, &mut [0; 200][..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return true,
                Ok(_) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Waits until it has.
    pub fn until_out(&self) {
        while !self.is_out() {
            thread::yield_now();
        }
    }
}

fn place(at: u64) -> usize {
    usize::try_from(at).expect("an address")
}

/// Sends a packet of this protocol. It may be lost: the daemon may have ended the connection.
///
/// # Panics
///
/// It is too long.
pub fn send_packet(socket: &OwnedFd, asked: impl serde::Serialize) {
    let mut bytes = [0; 16 << 10];
    let packet =
        postcard::to_slice(&(MAGIC, [PROTOCOL; 2], asked), &mut bytes).expect("there is room");
    let _ = send(socket, packet, SendFlags::NOSIGNAL);
}
