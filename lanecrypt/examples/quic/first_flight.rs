//! The start of a connection: the client's Initial packet and the server's answers.

use core::error::Error;

use lanecrypt::{Engine, random};

use crate::batch::{self, Incoming};
use crate::header::VERSION;
use crate::keys::{Material, PacketKeys, Secret, Suite};
use crate::retry::Retry;

/// Minimum length in bytes of a client's first datagram: RFC 9000, section 14.1.
const DATAGRAM: usize = 1200;
/// The first bytes of an Initial packet with a packet number of one byte, and of a Retry packet.
const INITIAL: u8 = 0xc0;
const RETRY: u8 = 0xf0;

/// Sends a client's Initial packet and a forged one to a server, then makes and checks the server's
/// answers.
///
/// # Errors
///
/// If a result is not as expected.
pub(crate) fn show(engine: &Engine) -> Result<(), Box<dyn Error>> {
    let id: [u8; 8] = random::bytes();
    let (client, server) = Secret::initial(&id);
    let keys = |secret| PacketKeys::new(engine, &Material::new(Suite::Aes128Gcm, secret));
    let (client, server) = (keys(&client)?, keys(&server)?);

    let (mut first, header) = initial(&id, DATAGRAM);
    client.protect(0, header, &mut first)?;
    let mut forged = first.clone();
    forged[DATAGRAM / 2] ^= 1;
    let mut batch = [&mut first, &mut forged].map(|it| Incoming::new(&client, 0, None, it));
    batch::unprotect(&mut engine.batch_buffer(1), &mut batch)?;
    let [first, forged] = batch;
    let opened = first.outcome?;
    let Err(dropped) = forged.outcome else { return Err("a forged packet was opened".into()) };
    println!(
        "an Initial packet of {DATAGRAM} bytes: opened, number {}, {} bytes; a forged one: {dropped}",
        opened.number,
        opened.payload.len()
    );

    let (mut answer, header) = initial(&[], DATAGRAM);
    server.protect(0, header, &mut answer)?;
    server.unprotect(0, None, &mut answer)?;

    let retry = Retry::new(engine)?;
    let mut packet = [&[RETRY][..], &VERSION.to_be_bytes(), &[0, 0], b"token"].concat();
    let tag = retry.tag(&id, &packet)?;
    packet.extend(tag);
    retry.check(&id, &packet)?;
    Ok(())
}

/// Builds an Initial packet of this length, with zeros (PADDING frames) after its header, and
/// returns it with the header length. The packet number is 0 and has one byte.
fn initial(destination: &[u8], bytes: usize) -> (Vec<u8>, usize) {
    let id = u8::try_from(destination.len()).expect("a connection ID has at most 20 bytes");
    let before = [&[INITIAL][..], &VERSION.to_be_bytes(), &[id], destination, &[0, 0]].concat();
    let rest = u16::try_from(bytes - before.len() - 2).expect("a datagram has at most 64 KiB");
    // A varint of two bytes.
    let length = 0x4000 | rest;
    let mut packet = [&before[..], &length.to_be_bytes(), &[0]].concat();
    let header = packet.len();
    packet.resize(bytes, 0);
    (packet, header)
}
