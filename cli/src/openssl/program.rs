//! Programs: where the configuration goes, and what each of them will use.

use clap::ValueEnum;

/// A program that uses OpenSSL.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Program {
    /// The web server
    Nginx,
    /// The web server of the Apache project
    Apache,
    /// The load balancer
    Haproxy,
    /// The server of OpenSSH; its client likewise
    Sshd,
    /// The database
    Postgres,
    /// CPython: its module `ssl`
    Python,
    /// Node.js
    Node,
    /// The client for URLs, and what uses its library
    Curl,
}

/// The file that the advice names.
const FILE: &str = "/etc/lanecrypt/openssl.cnf";

/// How a service of systemd gets the configuration.
fn service(unit: &str) -> Vec<String> {
    vec![
        format!("Save this file as {FILE}. Then"),
        format!("    systemctl edit {unit}"),
        "and add".to_owned(),
        "    [Service]".to_owned(),
        format!("    Environment=OPENSSL_CONF={FILE}"),
        format!("and restart: systemctl restart {unit}"),
    ]
}

/// How a program gets the configuration that is started by hand.
fn start(program: &str) -> Vec<String> {
    vec![
        format!("Save this file as {FILE}, and start"),
        format!("    OPENSSL_CONF={FILE} {program} ..."),
    ]
}

/// What most programs with TLS use.
const RECORDS: &str = "Used: records of TLS 1.2 and 1.3 with AES-GCM and ChaCha20-Poly1305.";
const NOT: &str = "Not used: handshakes, certificates, hashes; they stay with OpenSSL's own code.";

impl Program {
    fn uses(self) -> Vec<&'static str> {
        match self {
            Self::Nginx | Self::Apache | Self::Haproxy | Self::Curl | Self::Node => {
                vec![RECORDS, NOT]
            }
            Self::Python => vec![
                RECORDS,
                "Not used: handshakes, certificates, and the module hashlib; nor the package",
                "cryptography, whose wheels bring a library of their own.",
            ],
            Self::Sshd => vec![
                "Used: the ciphers aes128-gcm@openssh.com and aes256-gcm@openssh.com. Prefer them:",
                "    Ciphers aes128-gcm@openssh.com,aes256-gcm@openssh.com,...",
                "Not used: chacha20-poly1305@openssh.com and aes*-ctr, which OpenSSH brings itself;",
                "key exchange, signatures, hashes.",
            ],
            Self::Postgres => vec![
                RECORDS,
                "With --random: gen_random_uuid() and other random numbers of the server.",
                NOT,
            ],
        }
    }

    fn place(self) -> Vec<String> {
        match self {
            Self::Nginx => service("nginx"),
            Self::Apache => service("apache2"),
            Self::Haproxy => service("haproxy"),
            Self::Sshd => service("ssh"),
            Self::Postgres => vec![
                format!(
                    "Save this file as {FILE}, and in Debian's environment file of the cluster,"
                ),
                "/etc/postgresql/VERSION/CLUSTER/environment, add".to_owned(),
                format!("    OPENSSL_CONF = '{FILE}'"),
                "and restart it: pg_ctlcluster VERSION CLUSTER restart".to_owned(),
            ],
            Self::Node => vec![
                format!("Save this file as {FILE}, and start"),
                format!("    node --openssl-config={FILE} ..."),
                "Node built for the system's OpenSSL also reads OPENSSL_CONF.".to_owned(),
            ],
            Self::Curl => start("curl"),
            Self::Python => start("python3"),
        }
    }
}

/// The comment at the head of the configuration.
pub(super) fn advice(program: Option<Program>, random: bool, rsa: bool, curves: bool) -> String {
    let mut lines = vec!["OpenSSL with Lanecrypt's provider.".to_owned(), String::new()];
    match program {
        Some(program) => {
            lines.extend(program.place());
            lines.push(String::new());
            lines.extend(program.uses().into_iter().map(str::to_owned));
        }
        None => {
            lines.push(format!("Save this file as {FILE}, and start programs with"));
            lines.push(format!("    OPENSSL_CONF={FILE} PROGRAM ..."));
            lines.push(String::new());
            lines.push(RECORDS.to_owned());
            lines.push(NOT.to_owned());
        }
    }
    if random {
        lines.push(String::new());
        lines.push(
            "Random numbers come from the module. If its file is missing, programs have".into(),
        );
        lines.push("none, and fail: remove this configuration before the module.".into());
    }
    if rsa {
        lines.push(String::new());
        lines
            .push("RSA keys of 2048 to 8192 bits sign with SHA-256, SHA-384 and SHA-512 by".into());
        lines.push(
            "Lanecrypt. Servers with asynchronous jobs (HAProxy: ssl-mode-async) sign".into(),
        );
        lines.push("many at once.".into());
    }
    if curves {
        lines.push(String::new());
        lines.push("Keys of X25519 and P-256, their key exchange and ECDSA with P-256 are".into());
        lines.push("Lanecrypt's in the asynchronous jobs of such servers.".into());
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(format!("# {line}").trim_end());
        text.push('\n');
    }
    text.push('\n');
    text
}
