"""The program `openssl`: what one end makes with the module, the other takes without, and the other way
round. Connections are in test_tls.
"""

import pathlib
import subprocess
import unittest

from harness import ENDS, MODULE, OpensslTest, each, environment, tool, valgrind

PSS = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"]


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
        key = ["-K", "07" * (int(cipher[4:7]) // 8), "-iv", "05" * 16]
        sealed = self.openssl(one, "enc", f"-{cipher}", *key, "-in", self.plain)
        opened = self.openssl(self.other(one), "enc", "-d", f"-{cipher}", *key, input=sealed)
        self.assertTrue(opened == self.plain.read_bytes() and sealed[:99] != opened[:99])
        self.assertGreater(self.counted("messages"), 0)


class RandomNumbers(OpensslTest):
    ARGUMENTS = ["--random"]

    def test_rand(self):
        one, two = (self.openssl("ours", "rand", "-hex", "32").strip() for _ in range(2))
        self.assertEqual((len(one), len(two)), (64, 64))
        self.assertNotEqual(one, two)
        self.assertGreater(self.counted("draws"), 0)

    def test_keys_are_made_from_them(self):
        key = self.openssl("ours", "genrsa", "2048")
        self.assertGreater(self.counted("draws"), 0)
        self.assertIn(b"RSA key ok", self.openssl("theirs", "rsa", "-check", "-noout", input=key))


class Rsa(OpensslTest):
    """Keys and certificates are made by one end, and used by the other."""

    ARGUMENTS = ["--rsa"]

    def made_by(self, one, bits):
        """A key and its certificate, which are made once."""
        key, certificate = (self.folder / f"{one}-{bits}.{kind}" for kind in ("key", "pem"))
        if not key.exists():
            self.openssl(one, "req", "-x509", "-newkey", f"rsa:{bits}", "-nodes", "-keyout", key,
                         "-out", certificate, "-days", "2", "-subj", "/CN=localhost", *PSS)
        return key, certificate

    def assert_took_part(self, one, bits):
        """The module has signed or checked. With AVX-512, it leaves a signature of 2048 bits to OpenSSL."""
        leaves = (one, bits) == ("ours", 2048) and "avx512ifma" in pathlib.Path("/proc/cpuinfo").read_text()
        self.assertEqual(self.counted("signatures", "checks") > 0, not leaves)

    def assert_handed_on(self):
        """The module has been there and has not signed."""
        self.assertGreater(self.counted("process"), 0)
        self.assertEqual(self.counted("signatures"), 0)

    @each([2048, 3072, 4096])
    def test_key(self, bits):
        key, _ = self.made_by("ours", bits)
        self.assertIn(b"Key is valid", self.openssl("theirs", "pkey", "-in", key, "-check", "-noout"))

    @each([2048, 3072, 4096], ["sha256", "sha384", "sha512"], ["pkcs1", "pss"], ENDS)
    def test_dgst(self, bits, hash, padding, one):
        key, _ = self.made_by("ours", bits)
        self.count.write_bytes(b"")
        signature = self.folder / "signature"
        command = ["dgst", f"-{hash}", *(PSS if padding == "pss" else [])]
        self.openssl(one, *command, "-sign", key, "-out", signature, self.plain)
        verify = [*command, "-prverify", key, "-signature", signature]
        self.openssl(self.other(one), *verify, self.plain)
        self.openssl(self.other(one), *verify, self.short, status=1)
        self.assert_took_part(one, bits)

    @each([2048, 3072, 4096], ENDS)
    def test_certificate(self, bits, one):
        key, certificate = self.made_by(one, bits)
        self.count.write_bytes(b"")
        again = self.folder / "again.pem"
        self.openssl(one, "req", "-x509", "-new", "-key", key, "-out", again, "-subj", "/CN=localhost", *PSS)
        for made in (certificate, again):
            self.openssl(self.other(one), "verify", "-check_ss_sig", "-CAfile", made, made)
        self.assert_took_part(one, bits)

    @each(["sha1", "sha3-256", "md5"])
    def test_other_hash_functions_are_handed_on(self, hash):
        key, signature = self.key, self.folder / "signature"
        self.openssl("ours", "dgst", f"-{hash}", "-sign", key, "-out", signature, self.plain)
        self.openssl("theirs", "dgst", f"-{hash}", "-prverify", key, "-signature", signature, self.plain)
        self.assert_handed_on()

    def test_encryption_is_handed_on(self):
        command = ["pkeyutl", "-inkey", self.key, "-pkeyopt", "rsa_padding_mode:oaep"]
        sealed = self.openssl("ours", *command, "-encrypt", "-in", self.short)
        self.assertEqual(self.openssl("theirs", *command, "-decrypt", input=sealed), self.short.read_bytes())
        self.assert_handed_on()

    def test_keys_are_written(self):
        key = self.openssl("ours", "rsa", "-in", self.key, "-aes256", "-passout", "pass:x")
        checked = self.openssl("theirs", "rsa", "-passin", "pass:x", "-check", "-noout", input=key)
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
            command = [tool("openssl", "openssl"), "speed", "-elapsed", "-seconds", "1", "-bytes", "64"]
            process = subprocess.Popen(
                [*command, "-evp", cipher], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=environment(cls.configuration(more=f"count = {count}")))
            cls.running[cipher] = process, count

    @each(CIPHERS)
    def test_speed(self, cipher):
        process, self.count = self.running[cipher]
        self.assertEqual(process.wait(60), 0)
        self.assertGreater(self.counted("messages"), 0)


class Troubles(OpensslTest):
    """Without the module, and with settings that ask for more than there is."""

    def without(self, kind, *arguments, module="/nonexistent"):
        """An end whose module is not there, which the configuration expects or not."""
        path = self.configuration(*arguments)
        text = path.read_text().replace(str(MODULE), str(module))
        path.write_text(text if kind == "soft_load" else text.replace("soft_load = 1", ""))
        self.ends["without"] = path
        return "without"

    @each(["soft_load", "hard"])
    def test_what_does_not_ask_for_the_module_goes_on(self, kind):
        self.assertEqual(len(self.openssl(self.without(kind), "rand", "16")), 16)

    @each(["soft_load", "hard"])
    def test_its_generator_is_missed(self, kind):
        self.openssl(self.without(kind, "--random"), "rand", "16", status=1)

    @each(["soft_load", "hard"])
    def test_a_file_that_is_no_module_is_like_none(self, kind):
        expected = self.openssl("theirs", "dgst", "-sha256", self.plain)
        for module in ("/nonexistent", self.plain):
            end = self.without(kind, module=module)
            self.assertEqual(self.openssl(end, "dgst", "-sha256", self.plain), expected)

    def test_a_count_that_cannot_be_written_changes_nothing(self):
        path = self.folder / "not-there"
        self.ends["nowhere"] = self.configuration(more=f"count = {path}")
        self.openssl("nowhere", "enc", "-aes-128-ctr", "-K", "00", "-iv", "00", "-in", self.plain)
        self.assertFalse(path.exists())


class Memory(OpensslTest):
    ARGUMENTS = ["--rsa", "--random"]

    def watched(self, count, *arguments):
        self.openssl("ours", *arguments, before=valgrind())
        self.assertGreater(self.counted(count), 0)

    def test_enc(self):
        self.watched("messages", "enc", "-aes-128-ctr", "-K", "00112233445566778899aabbccddeeff", "-iv", "00",
                     "-in", self.plain)

    def test_sign(self):
        self.watched("signatures", "dgst", "-sha256", "-sign", self.key, self.plain)

    def test_verify(self):
        signature = self.folder / "signature"
        self.openssl("theirs", "dgst", "-sha256", "-sign", self.key, "-out", signature, self.plain)
        verify = ["-prverify", self.key, "-signature", signature]
        self.watched("checks", "dgst", "-sha256", *verify, self.plain)

    def test_a_connection(self):
        port = self.serve("theirs", "-rev")
        self.watched("messages", "s_client", "-connect", f"127.0.0.1:{port}")
