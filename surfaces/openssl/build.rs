//! How the module is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    // A thread that has drawn random numbers runs code of the module when it ends. OpenSSL unloads
    // modules when it cleans up, and that may be before. So the module stays.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Functions are bound before the first request, and the table of them is read-only after that.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,now");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,relro");
}
