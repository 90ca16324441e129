//! A client that writes what it likes into the shared memory, by its descriptor.

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
const SUBMITTED: u64 = 0;
const COMPLETED: u64 = 128;
const SUBMISSIONS: u64 = 4096;
const COMPLETIONS: u64 = SUBMISSIONS + 64 * DEPTH as u64;

pub(crate) struct Raw {
    socket: OwnedFd,
    memory: OwnedFd,
    doorbell: OwnedFd,
    submitted: u32,
}

impl Raw {
    pub(crate) fn new(path: &Path) -> Self {
        let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None).expect("descriptors");
        connect(&socket, &SocketAddrUnix::new(path).expect("it is short")).expect("it listens");
        ask(&socket, (0_u32, DEPTH, ARENA, 0_u32));
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

    /// Sends a packet of this protocol.
    pub(crate) fn ask(&self, asked: impl serde::Serialize) {
        ask(&self.socket, asked);
    }

    /// Waits for an answer, and drops it.
    pub(crate) fn hear(&self) {
        recv(&self.socket, &mut [0; 1000][..], RecvFlags::empty()).expect("it answers");
    }

    /// Submits requests of these words, all at once, and waits until all have been answered. Returns
    /// the statuses, as they came.
    pub(crate) fn submit(&mut self, requests: &[[u64; 8]]) -> Vec<u64> {
        let first = self.submitted;
        for words in requests {
            let at = SUBMISSIONS + u64::from(self.submitted % DEPTH) * 64;
            let bytes = words.map(u64::to_le_bytes);
            pwrite(&self.memory, bytes.as_flattened(), at).expect("it may be written");
            self.submitted = self.submitted.wrapping_add(1);
        }
        pwrite(&self.memory, &self.submitted.to_le_bytes(), SUBMITTED).expect("it may be written");
        let _ = rustix::io::write(&self.doorbell, &1_u64.to_ne_bytes());
        while self.completed() != self.submitted {
            thread::yield_now();
        }
        let status = |number: u32| {
            let at = COMPLETIONS + u64::from(number % DEPTH) * 16;
            let mut words = [[0; 8]; 2];
            pread(&self.memory, words.as_flattened_mut(), at).expect("it may be read");
            u64::from_le_bytes(words[1])
        };
        (first..self.submitted).map(status).collect()
    }

    fn completed(&self) -> u32 {
        let mut word = [0; 4];
        pread(&self.memory, &mut word, COMPLETED).expect("it may be read");
        u32::from_le_bytes(word)
    }

    /// Waits until the daemon has ended the connection.
    pub(crate) fn until_out(&self) {
        while recv(&self.socket, &mut [0; 1000][..], RecvFlags::empty())
            .is_ok_and(|(_, length)| length > 0)
        {}
    }
}

fn ask(socket: &OwnedFd, asked: impl serde::Serialize) {
    let mut bytes = [0; 4000];
    let packet = postcard::to_slice(&(*b"lanecryp", 1_u32, asked), &mut bytes).expect("room");
    // The daemon may be through with this client.
    let _ = send(socket, packet, SendFlags::NOSIGNAL);
}
