//! A client that writes what it likes into the shared memory, by its descriptor, which it has as
//! every client has.

use core::mem::MaybeUninit;
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;

use rustix::io::{pread, pwrite};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, recv, recvmsg, send, socket_with,
};

pub(crate) const DEPTH: u32 = 16;
pub(crate) const ARENA: u32 = 1 << 13;
/// Where the parts of the shared memory are.
pub(crate) const SUBMITTED: u64 = 0;
pub(crate) const COMPLETED: u64 = 128;
pub(crate) const SUBMISSIONS: u64 = 4096;
const COMPLETIONS: u64 = SUBMISSIONS + 64 * DEPTH as u64;
/// What begins a packet.
pub(crate) const MAGIC: [u8; 8] = *b"lanecryp";

pub(crate) struct Raw {
    pub(crate) socket: OwnedFd,
    pub(crate) memory: OwnedFd,
    doorbell: OwnedFd,
    pub(crate) submitted: u32,
}

pub(crate) fn dial(path: &Path) -> OwnedFd {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None).expect("there are sockets");
    let address = SocketAddrUnix::new(path).expect("it is short");
    connect(&socket, &address).expect("it listens");
    socket
}

impl Raw {
    pub(crate) fn new(path: &Path) -> Self {
        let socket = dial(path);
        send_packet(&socket, (0_u32, DEPTH, ARENA, 0_u32));
        let (mut bytes, mut space) = ([0; 200], [MaybeUninit::uninit(); 64]);
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(&mut bytes)];
        recvmsg(&socket, &mut slices, &mut control, RecvFlags::CMSG_CLOEXEC).expect("welcome");
        let mut came = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        let memory = came.next().expect("the memory comes first");
        let doorbell = came.next().expect("what rings comes second");
        drop(came);
        Self { socket, memory, doorbell, submitted: 0 }
    }

    pub(crate) fn write(&self, at: u64, bytes: &[u8]) {
        pwrite(&self.memory, bytes, at).expect("it may be written");
    }

    pub(crate) fn word(&self, at: u64) -> u32 {
        let mut word = [0; 4];
        pread(&self.memory, &mut word, at).expect("it may be read");
        u32::from_le_bytes(word)
    }

    pub(crate) fn ring(&self) {
        let _ = rustix::io::write(&self.doorbell, &1_u64.to_ne_bytes());
    }

    /// Sends a packet of this protocol.
    pub(crate) fn ask(&self, asked: impl serde::Serialize) {
        send_packet(&self.socket, asked);
    }

    /// Waits for an answer, and drops it.
    pub(crate) fn hear(&self) {
        recv(&self.socket, &mut [0; 1000][..], RecvFlags::empty()).expect("it answers");
    }

    /// Submits a request of these words.
    pub(crate) fn submit(&mut self, words: [u64; 8]) {
        self.put(words);
        self.publish();
    }

    /// Submits requests all at once, and waits until all have been answered. Returns the statuses,
    /// as they came.
    #[cfg(feature = "rsa")]
    pub(crate) fn submit_all(&mut self, requests: &[[u64; 8]]) -> Vec<u64> {
        let first = self.submitted;
        requests.iter().for_each(|&words| self.put(words));
        self.publish();
        self.wait();
        (first..self.submitted).map(|number| self.completion(number).1).collect()
    }

    /// Waits for the completion of the request that was submitted last: its number and status.
    pub(crate) fn status(&self) -> (u64, u64) {
        self.wait();
        self.completion(self.submitted.wrapping_sub(1))
    }

    fn put(&mut self, words: [u64; 8]) {
        let at = SUBMISSIONS + u64::from(self.submitted % DEPTH) * 64;
        self.write(at, words.map(u64::to_le_bytes).as_flattened());
        self.submitted = self.submitted.wrapping_add(1);
    }

    fn publish(&self) {
        self.write(SUBMITTED, &self.submitted.to_le_bytes());
        self.ring();
    }

    fn wait(&self) {
        while self.word(COMPLETED) != self.submitted {
            thread::yield_now();
        }
    }

    fn completion(&self, number: u32) -> (u64, u64) {
        let at = COMPLETIONS + u64::from(number % DEPTH) * 16;
        let mut words = [[0; 8]; 2];
        pread(&self.memory, words.as_flattened_mut(), at).expect("it may be read");
        let [number, status] = words.map(u64::from_le_bytes);
        (number, status)
    }

    /// Whether the daemon has ended the connection.
    pub(crate) fn is_out(&self) -> bool {
        loop {
            match recv(&self.socket, &mut [0; 200][..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return true,
                // An answer that nobody has read.
                Ok(_) => {}
                Err(rustix::io::Errno::AGAIN) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Waits until it has.
    pub(crate) fn until_out(&self) {
        while !self.is_out() {
            thread::yield_now();
        }
    }
}

fn send_packet(socket: &OwnedFd, asked: impl serde::Serialize) {
    let mut bytes = [0; 16 << 10];
    let packet = postcard::to_slice(&(MAGIC, 2_u32, asked), &mut bytes).expect("there is room");
    // The daemon may be through with this client.
    let _ = send(socket, packet, SendFlags::NOSIGNAL);
}
