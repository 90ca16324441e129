"""The program `openssl`: what one end makes with the module, the other takes without, and the other way
round. Connections are in test_tls.
"""

import pathlib
import subprocess
import unittest

from harness import ENDS, MODULE, PSS, OpensslTest, each, environment, other, tool, valgrind

BITS = [2048, 3072, 4096]


class Module(unittest.TestCase):
    """The file itself."""

    def printed(self, *command):
        return subprocess.run([*command, MODULE], check=True, capture_output=True, text=True).stdout

    def test_exports_its_entry_point_and_nothing_else(self):
        self.assertEqual(self.printed("nm", "-D", "--defined-only").split()[2:], ["OSSL_provider_init"])

    def test_does_not_link_libcrypto(self):
        self.assertNotRegex(self.printed("readelf", "-d"), "NEEDED.*libcrypto")

    def test_stays_loaded(self):
        self.assertIn("NODELETE", self.printed("readelf", "-d"))


class Files(OpensslTest):
    @each([f"aes-{bits}-{mode}" for mode in ("ctr", "cbc") for bits in (128, 192, 256)], ENDS)
    def test_enc(self, cipher, one):
        command = f"enc -{cipher} -K {'07' * (int(cipher[4:7]) // 8)} -iv {'05' * 16}"
        sealed = self.openssl(one, command, "-in plain")
        opened = self.openssl(other(one), command, "-d", input=sealed)
        self.assertTrue(opened == self.plain and sealed[:99] != opened[:99])
        self.assert_counted("messages")


class RandomNumbers(OpensslTest):
    ARGUMENTS = ["--random"]

    def test_rand(self):
        one, two = (self.openssl("ours", "rand 32") for _ in range(2))
        self.assertEqual((len(one), len(two)), (32, 32))
        self.assertNotEqual(one, two)
        self.assert_counted("draws")

    def test_keys_are_made_from_them(self):
        key = self.openssl("ours", "genrsa 2048")
        self.assert_counted("draws")
        self.assertIn(b"RSA key ok", self.openssl("theirs", "rsa -check -noout", input=key))


class Rsa(OpensslTest):
    """Keys and certificates are made by one end, and used by the other."""

    ARGUMENTS = ["--rsa"]

    def made_by(self, one, bits):
        """The names of a key and its certificate, which are made once."""
        key, certificate = f"{one}-{bits}.key", f"{one}-{bits}.pem"
        if not (self.folder / key).exists():
            self.openssl(one, f"req -x509 -newkey rsa:{bits} -nodes -keyout {key} -out {certificate}",
                         "-subj /CN=localhost", PSS)
        self.count.write_bytes(b"")
        return key, certificate

    def assert_took_part(self, one, bits):
        """The module has signed or checked. With AVX-512, it leaves a signature of 2048 bits to OpenSSL."""
        leaves = (one, bits) == ("ours", 2048) and "avx512ifma" in pathlib.Path("/proc/cpuinfo").read_text()
        self.assert_counted("process" if leaves else "signatures|checks")

    @each(BITS)
    def test_key(self, bits):
        key, _ = self.made_by("ours", bits)
        self.assertIn(b"Key is valid", self.openssl("theirs", f"pkey -in {key} -check -noout"))

    @each(BITS, ["sha256", "sha384", "sha512"], ["", PSS], ENDS)
    def test_dgst(self, bits, hash, padding, one):
        key, _ = self.made_by("ours", bits)
        command = f"dgst -{hash} {padding}"
        self.openssl(one, command, f"-sign {key} -out signature plain")
        verify = f"-prverify {key} -signature signature"
        self.openssl(other(one), command, verify, "plain")
        self.openssl(other(one), command, verify, "short", status=1)
        self.assert_took_part(one, bits)

    @each(BITS, ENDS)
    def test_certificate(self, bits, one):
        key, certificate = self.made_by(one, bits)
        self.openssl(one, f"req -x509 -new -key {key} -out again -subj /CN=localhost", PSS)
        for made in (certificate, "again"):
            self.openssl(other(one), f"verify -check_ss_sig -CAfile {made} {made}")
        self.assert_took_part(one, bits)

    def assert_handed_on(self):
        """The module has been there and has not signed."""
        self.assert_counted("process")
        self.assertEqual(self.counted("signatures"), 0)

    @each(["sha1", "sha3-256", "md5"])
    def test_other_hash_functions_are_handed_on(self, hash):
        self.openssl("ours", f"dgst -{hash} -sign key.pem -out signature plain")
        self.openssl("theirs", f"dgst -{hash} -prverify key.pem -signature signature plain")
        self.assert_handed_on()

    def test_encryption_is_handed_on(self):
        command = "pkeyutl -inkey key.pem -pkeyopt rsa_padding_mode:oaep"
        sealed = self.openssl("ours", command, "-encrypt -in short")
        opened = self.openssl("theirs", command, "-decrypt", input=sealed)
        self.assertEqual(opened, self.short)
        self.assert_handed_on()

    def test_keys_are_written(self):
        key = self.openssl("ours", "rsa -in key.pem -aes256 -passout pass:x")
        checked = self.openssl("theirs", "rsa -passin pass:x -check -noout", input=key)
        self.assertIn(b"RSA key ok", checked)
        self.assert_handed_on()


class Speed(OpensslTest):
    """Its own measurement. Each takes a second, so they run at the same time."""

    CIPHERS = ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305", "aes-128-ctr", "aes-256-cbc"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.running = {}
        for cipher in cls.CIPHERS:
            count = cls.folder / cipher
            count.touch()
            command = "speed -elapsed -seconds 1 -bytes 64 -evp".split()
            process = subprocess.Popen(
                [tool("openssl", "openssl"), *command, cipher], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env=environment(cls.configuration(more=f"count = {count}")))
            cls.running[cipher] = process, count

    @each(CIPHERS)
    def test_speed(self, cipher):
        process, self.count = self.running[cipher]
        self.assertEqual(process.wait(60), 0)
        self.assert_counted("messages")


class Troubles(OpensslTest):
    """Without the module, and with settings that ask for more than there is."""

    def without(self, soft, command, *arguments, module="/nonexistent", status=0):
        """What a program prints whose module is not there, which the configuration expects or not."""
        path = self.configuration(*arguments)
        text = path.read_text().replace(str(MODULE), str(module))
        path.write_text(text.replace("soft_load = 1", "soft_load = 1" if soft else ""))
        self.ends["without"] = path
        return self.openssl("without", command, status=status)

    @each([True, False])
    def test_what_does_not_ask_for_the_module_goes_on(self, soft):
        self.assertEqual(len(self.without(soft, "rand 16")), 16)

    @each([True, False])
    def test_its_generator_is_missed(self, soft):
        self.without(soft, "rand 16", "--random", status=1)

    @each([True, False])
    def test_a_file_that_is_no_module_is_like_none(self, soft):
        expected = self.openssl("theirs", "dgst -sha256 plain")
        for module in ("/nonexistent", self.folder / "plain"):
            self.assertEqual(self.without(soft, "dgst -sha256 plain", module=module), expected)

    def test_a_count_that_cannot_be_written_changes_nothing(self):
        path = self.folder / "not-there"
        self.ends["nowhere"] = self.configuration(more=f"count = {path}")
        self.openssl("nowhere", "enc -aes-128-ctr -K 00 -iv 00 -in plain")
        self.assertFalse(path.exists())


class Memory(OpensslTest):
    ARGUMENTS = ["--rsa", "--random"]

    def watched(self, count, command):
        self.openssl("ours", command, before=valgrind())
        self.assert_counted(count)

    def test_enc(self):
        self.watched("messages", "enc -aes-128-ctr -K 00112233445566778899aabbccddeeff -iv 00 -in plain")

    def test_sign(self):
        self.watched("signatures", "dgst -sha256 -sign key.pem plain")

    def test_verify(self):
        self.openssl("theirs", "dgst -sha256 -sign key.pem -out signature plain")
        self.watched("checks", "dgst -sha256 -prverify key.pem -signature signature plain")

    def test_a_connection(self):
        _, port = self.s_server("theirs", "-rev")
        self.watched("messages", f"s_client -connect 127.0.0.1:{port}")
