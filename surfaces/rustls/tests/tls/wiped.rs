//! What keys leave in the memory that they give back: nothing of themselves.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::hint::black_box;
use core::ptr;
use std::alloc::System;

use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::ring;
use rustls::{CipherSuite, SupportedCipherSuite};

const KEY: [u8; 32] = *b"thirty-two bytes of a secret key";
const IV: [u8; 12] = *b"secret nonce";

/// The system's allocator, which looks into what it gets back.
struct Looking;

#[global_allocator]
static ALLOCATOR: Looking = Looking;

thread_local! {
    /// Whether it looks at what this thread gives back.
    static LOOKS: Cell<bool> = const { Cell::new(false) };
    /// The blocks in which it has found a part of a secret.
    static FOUND: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same for the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if LOOKS.get() && holds_a_secret(at, layout.size()) {
            FOUND.set(FOUND.get() + 1);
            // Another block in its place need not write all of itself.
            // SAFETY: the block is still allocated.
            unsafe { at.write_bytes(0, layout.size()) };
        }
        // SAFETY: the caller keeps the contract, which is the same for the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Whether a block has eight bytes in a row of the key or of the nonces' part.
fn holds_a_secret(at: *const u8, length: usize) -> bool {
    let is_at = |offset: usize, part: &[u8]| {
        part.iter().enumerate().all(|(i, &byte)| {
            // SAFETY: the address is within the block, which is still allocated.
            byte == unsafe { ptr::read_volatile(at.wrapping_add(offset + i)) }
        })
    };
    let mut places = 0..(length + 1).saturating_sub(8);
    places.any(|at| KEY.windows(8).chain(IV.windows(8)).any(|part| is_at(at, part)))
}

/// The blocks with a secret in them that were given back during `done`.
fn found(done: impl FnOnce()) -> usize {
    FOUND.set(0);
    LOOKS.set(true);
    done();
    LOOKS.set(false);
    FOUND.get()
}

/// Makes something and drops it, after clearing the stack: a block with padding would take along
/// what rustls has left there.
fn drop_made<T>(made: impl FnOnce() -> T) {
    #[inline(never)]
    fn clear_stack() {
        black_box([0_u8; 16 << 10]);
    }
    clear_stack();
    drop(made());
}

#[test]
fn keys_are_wiped() {
    // It finds what is there.
    assert_eq!(found(|| drop(black_box(Box::new(KEY)))), 1);
    assert_eq!(found(|| drop(black_box(Box::new(IV)))), 1);

    let (key, iv) = (|| AeadKey::from(KEY), || Iv::new(IV));
    let mut seen = 0;
    for suite in rustls_lanecrypt::over(ring::default_provider()).cipher_suites {
        let left = found(|| match suite {
            SupportedCipherSuite::Tls13(suite) => {
                drop_made(|| suite.aead_alg.encrypter(key(), iv()));
                drop_made(|| suite.aead_alg.decrypter(key(), iv()));
                if let Some(quic) = suite.quic {
                    drop_made(|| quic.packet_key(key(), iv()));
                    drop_made(|| quic.header_protection_key(key()));
                }
            }
            SupportedCipherSuite::Tls12(suite) => {
                let (fixed, explicit) = IV.split_at(suite.aead_alg.key_block_shape().fixed_iv_len);
                drop_made(|| suite.aead_alg.encrypter(key(), fixed, explicit));
                drop_made(|| suite.aead_alg.decrypter(key(), fixed));
            }
        });
        assert_eq!(left, 0, "{suite:?}");
        seen += usize::from(suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    }
    assert_eq!(seen, 8);
}
