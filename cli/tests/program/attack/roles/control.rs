//! Hostile clients that act by their sockets.

use core::mem::MaybeUninit;
use core::time::Duration;
use std::io::{ErrorKind, IoSlice, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;

use lanecrypt_testing::device::{Raw, try_dial};
use lanecrypt_testing::numbers::Numbers;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, send, sendmsg, sockopt};

use super::{LONGEST, PAUSE, enter, is_gone, open};
use crate::attack::children::{Cell, Post};

/// Sends descriptors that take long to close, before and after it has shared memory. Kernels from
/// 6.16 on refuse them.
pub(super) fn linger(post: &Post) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    while let Some(raw) = enter(post, 2, 4096) {
        let Ok(early) = try_dial(&post.socket) else { return };
        for socket in [&early, &raw.socket] {
            let mut slow = TcpStream::connect(address).expect("it listens");
            let (_deaf, _) = listener.accept().expect("it has connected");
            sockopt::set_socket_linger(&slow, Some(Duration::from_secs(2))).expect("a socket");
            slow.set_nonblocking(true).expect("a socket");
            while slow.write(&[0; 1 << 16]).is_ok() {}
            let mut space = [MaybeUninit::uninit(); 64];
            let mut control = SendAncillaryBuffer::new(&mut space);
            let descriptors = [slow.as_fd()];
            assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)), "there is room");
            let packet = [IoSlice::new(b"take this")];
            match sendmsg(socket, &packet, &mut control, SendFlags::NOSIGNAL) {
                Ok(_) => post.board.add(Cell::Done, 1),
                Err(_) => post.board.add(Cell::Refused, 1),
            }
        }
        post.is_ready();
        thread::sleep(PAUSE);
    }
}

/// So many clients open sessions until that is refused, and then connect again.
pub(super) fn sessions(post: &Post) {
    while !post.stops() {
        let mut clients = Vec::new();
        for _ in 0..post.number {
            let Some(raw) = enter(post, 2, 4096) else { return };
            while !post.stops() {
                raw.ask((2_u32, "aes-128-gcm", &[1_u8; 16][..]));
                // `Session` is 2.
                match raw.reply().get(10) {
                    Some(2) => post.board.add(Cell::Done, 1),
                    Some(_) => break,
                    None => return,
                }
                post.is_ready();
            }
            post.board.add(Cell::Refused, 1);
            clients.push(raw);
        }
    }
}

/// So many clients with the longest arena that there is, which disconnect and connect again.
pub(super) fn arenas(post: &Post) {
    while !post.stops() {
        let mut clients = Vec::new();
        for _ in 0..post.number {
            let Some(raw) = enter(post, 4096, 4 * LONGEST) else { return };
            post.board.add(Cell::Done, 1);
            post.is_ready();
            clients.push(raw);
        }
    }
}

/// Connects and disconnects as fast as it can: every second time with shared memory.
pub(super) fn connections(post: &Post) {
    while !post.stops() {
        match try_dial(&post.socket) {
            Err(error) if is_gone(&error) => return,
            _ => {}
        }
        let _ = Raw::with(&post.socket, 2, 4096);
        post.board.add(Cell::Done, 2);
        post.is_ready();
    }
}

/// So many connections that say nothing. One that the daemon ends is replaced.
pub(super) fn silent(post: &Post) {
    let number = usize::try_from(post.number).expect("small");
    let mut silent = std::collections::VecDeque::<OwnedFd>::new();
    while !post.stops() {
        match try_dial(&post.socket) {
            Ok(socket) => silent.push_back(socket),
            Err(error) if is_gone(&error) => return,
            Err(_) => {}
        }
        post.board.add(Cell::Done, 1);
        if silent.len() > number {
            silent.pop_front();
            post.is_ready();
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// So many clients that have shared memory, and then say nothing.
pub(super) fn greeted(post: &Post) {
    let mut clients = Vec::new();
    for _ in 0..post.number {
        let Some(raw) = enter(post, 2, 4096) else { return };
        post.board.add(Cell::Done, 1);
        clients.push(raw);
    }
    post.is_ready();
    while !post.stops() && !clients.iter().any(Raw::is_out) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Packets as fast as the daemon takes them: its statistics, sessions that are opened and closed,
/// and some that mean nothing, on connections of their own.
pub(super) fn packets(post: &Post) {
    let mut numbers = Numbers(23);
    while let Some(raw) = enter(post, 2, 4096) {
        open(&raw, "aes-128-gcm", 16);
        let mut is_out = false;
        while !is_out && !post.stops() {
            (0..4).for_each(|_| raw.ask(1_u32));
            (0..4).for_each(|_| raw.ask((2_u32, "aes-128-gcm", &[1_u8; 16][..])));
            (1..5).for_each(|session| raw.ask((5_u32, session)));
            is_out = (0..12).any(|_| raw.reply().is_empty());
            post.board.add(Cell::Done, 12);
            post.is_ready();
            match try_dial(&post.socket) {
                Ok(socket) => {
                    let length = 1 + numbers.below(100);
                    let _ = send(&socket, &numbers.bytes(length), SendFlags::NOSIGNAL);
                }
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => return,
                Err(_) => {}
            }
        }
    }
}
