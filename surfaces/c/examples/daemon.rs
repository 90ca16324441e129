//! A daemon at the socket that the argument names, until standard input ends: what the tests of
//! `lc_device` connect to. It has one key, `backup`, which only seals.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn core::error::Error>> {
    use lanecrypt_device::{Key, Server};
    use lanecrypt_engine::{Algorithm, Operation};

    let path = std::env::args().nth(1).ok_or("the path of the socket")?;
    let key = Key::new("backup", Algorithm::AES_256_GCM, vec![7; 32].into());
    let server = Server::new().keys(vec![key.for_operations([Operation::Seal])]);
    let mut daemon = server.prepare()?.bind(path)?;
    println!("ready");
    let handle = daemon.handle();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        handle.stop();
    });
    daemon.run()?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
