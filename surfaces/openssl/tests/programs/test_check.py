"""`lanecrypt openssl --check` with the module that is there."""

import subprocess

from harness import MODULE, PROGRAM, ProgramTest, environment, tool


class Check(ProgramTest):
    def check(self, *arguments):
        tool("openssl", "openssl")
        done = subprocess.run(
            [PROGRAM, "openssl", "--module", MODULE, "--check", *arguments],
            capture_output=True, text=True, env=environment(),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        # Names go on in the lines below.
        lines = done.stdout.replace("\n" + " " * 14, " ").splitlines()
        return {line[:13].strip(): line[14:] for line in lines}

    def test_ciphers(self):
        said = self.check()
        self.assertEqual(said["providers"], "default, lanecrypt")
        self.assertEqual(said["random"], "default")
        for name in ("AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305", "AES-128-CBC", "AES-256-XTS"):
            self.assertIn(name, said["taken over"].split(", "))
        self.assertIn("AES-128-CCM (default)", said["not"].split(", "))

    def test_random_numbers(self):
        self.assertEqual(self.check("--random")["random"], "lanecrypt")

    def test_rsa(self):
        self.assertIn("RSA signatures (default)", self.check()["not"].split(", "))
        self.assertIn("RSA signatures", self.check("--rsa")["taken over"].split(", "))

    def test_curves(self):
        self.assertIn("X25519 and P-256 (default)", self.check()["not"].split(", "))
        self.assertIn("X25519 and P-256", self.check("--curves")["taken over"].split(", "))
