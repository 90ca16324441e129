"""OpenSSH: sshd with the module and a client without, and the other way round."""

import os
import subprocess
import time

from harness import PATIENCE, ProgramTest, counts_of_family, environment, free_port, tool, wait_for

SIZE = 100 << 20


class OpenSsh(ProgramTest):
    def setUp(self):
        tool("sftp", "openssh-client")
        sshd = tool("sshd", "openssh-server")
        if os.geteuid() != 0:
            self.skipTest("openssl-login: run as root, as sshd has to")
        os.makedirs("/run/sshd", exist_ok=True)
        for name in ("host", "user"):
            key = self.folder / f"{self.id()}-{name}"
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True, env=environment()
            )
            setattr(self, name, key)
        (self.folder / "authorized").write_text((self.user.parent / f"{self.user.name}.pub").read_text())
        self.sshd = sshd
        self.big = self.folder / "big"
        if not self.big.exists():
            self.big.write_bytes(os.urandom(SIZE))

    def serve(self, configuration):
        port = free_port()
        settings = self.folder / f"sshd-{port}"
        settings.write_text(
            f"ListenAddress 127.0.0.1:{port}\nHostKey {self.host}\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {self.folder}/authorized\nStrictModes no\nPermitRootLogin yes\n"
            "Subsystem sftp internal-sftp\nCiphers +aes128-gcm@openssh.com,aes256-gcm@openssh.com\n"
        )
        server = self.start([self.sshd, "-D", "-e", "-f", settings], configuration)
        wait_for(port)
        return server, port

    def transfer(self, port, cipher, configuration=None, watch=None):
        """Sends the file and fetches it by parallel requests; the counts of a process meanwhile."""
        sent, got = self.folder / "sent", self.folder / "got"
        command = ["sftp", "-q", "-b", "-", "-R", "64", "-P", str(port), "-i", self.user]
        command += ["-c", cipher, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        command += ["-o", "BatchMode=yes", "root@127.0.0.1"]
        client = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment(configuration),
        )
        client.stdin.write(f"put {self.big} {sent}\nget {sent} {got}\n".encode())
        client.stdin.flush()
        most = 0
        deadline = time.monotonic() + PATIENCE
        # The end of the input would end the program before its counts are read.
        while not (got.exists() and got.stat().st_size == SIZE):
            self.assertLess(time.monotonic(), deadline, self.log())
            self.assertIsNone(client.poll(), self.log())
            most = max(most, counts_of_family(watch or client.pid)["messages"])
            time.sleep(0.02)
        output = client.communicate()[0]
        self.assertEqual(client.returncode, 0, f"{output}\n{self.log()}")
        for copy in (sent, got):
            self.assertEqual(copy.read_bytes(), self.big.read_bytes())
            copy.unlink()
        return most

    def test_server(self):
        server, port = self.serve(self.configuration("--for", "sshd"))
        for cipher in ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com"):
            used = self.transfer(port, cipher, watch=server.pid)
            # SFTP's packets have at most 32 KiB of data.
            self.assertGreater(used, 1000, f"{cipher}\n{self.log()}")

    def test_client(self):
        _, port = self.serve(None)
        for cipher in ("aes128-gcm@openssh.com", "aes128-ctr"):
            used = self.transfer(port, cipher, self.configuration("--for", "sshd"))
            if "gcm" in cipher:
                self.assertGreater(used, 1000, f"{cipher}\n{self.log()}")

    def test_random_numbers_without_the_module(self):
        """What the page says: without the module's file there are no random numbers, and sshd says so."""
        configuration = self.configuration("--for", "sshd", "--random")
        text = configuration.read_text().replace("module = ", "module = /nonexistent")
        configuration.write_text(text)
        settings = self.folder / "sshd-test"
        settings.write_text(f"HostKey {self.host}\nUsePAM no\n")
        done = subprocess.run(
            [self.sshd, "-t", "-f", settings], capture_output=True, env=environment(configuration)
        )
        self.assertNotEqual(done.returncode, 0)
