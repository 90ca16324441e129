"""Every example of the documentation runs, and the stubs say what is there."""

import doctest
import pathlib
import subprocess
import sys

import pytest

import lanecrypt
import lanecrypt.columns
import lanecrypt.envelope
import lanecrypt.file
import lanecrypt.keys
import lanecrypt.signatures
import lanecrypt.spark

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = str(HERE.parent / "pyproject.toml")


def documented():
    """Modules, and their public functions, classes and methods, with their examples."""
    for module in [
        lanecrypt, lanecrypt.columns, lanecrypt.envelope, lanecrypt.file, lanecrypt.keys,
        lanecrypt.signatures, lanecrypt.spark,
    ]:
        yield module.__name__, module
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{module.__name__}.{name}", thing
            if isinstance(thing, type):
                for method, value in vars(thing).items():
                    if not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", getattr(thing, method)


@pytest.mark.parametrize(("name", "thing"), list(documented()), ids=lambda value: str(value)[:60])
def test_examples_and_that_all_is_documented(name, thing):
    if isinstance(thing, (str, tuple)):
        return
    assert thing.__doc__, f"{name} has no documentation"
    names = {**vars(lanecrypt), **vars(lanecrypt.columns), **vars(lanecrypt.keys)}
    if name.startswith(("lanecrypt.envelope.", "lanecrypt.file.")):
        names |= vars(sys.modules[".".join(name.split(".")[:2])])
    test = doctest.DocTestParser().get_doctest(thing.__doc__, names, name, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(HERE.parent / "README.md"), module_relative=False)
    assert failed == 0 and tried > 5


def run(*arguments):
    outcome = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_stubs_agree_with_the_package():
    # What is written in Python has its types with it.
    run("mypy.stubtest", "--mypy-config-file", SETTINGS, "lanecrypt._lanecrypt")


def test_types_are_whole_and_of_use(tmp_path):
    run("mypy", "--config-file", SETTINGS, "-p", "lanecrypt")
    run("mypy", "--config-file", SETTINGS, str(HERE.parent / "bench.py"))
    user = tmp_path / "user.py"
    user.write_text(
        "from uuid import UUID\n"
        "import lanecrypt\n"
        "cipher = lanecrypt.AESGCM(bytearray(16))\n"
        "packet: bytes = cipher.encrypt(bytes(12), memoryview(b'x'), None)\n"
        "name: UUID = lanecrypt.uuid4()\n"
        "letter: str = lanecrypt.choice('abc')\n"
        "number: int = lanecrypt.Random().randint(1, 6)\n"
        "from lanecrypt import columns, envelope, file, signatures\n"
        "signer = signatures.SigningKey(bytes(32), 'EdDSA')\n"
        "key: signatures.VerifyingKey = signer.verifying_key()\n"
        "verdicts: list[bool] = signatures.verify_many([key], [b'x'], (bytearray(64),))\n"
        "with file.open('a', 'wb', key=bytes(32)) as writer, file.open('b', passphrase='x') as reader:\n"
        "    number = writer.write(reader.read(5))\n"
        "kek: envelope.Kek = envelope.Cached(envelope.Local(bytes(32)))\n"
        "ring: columns.Keyring = envelope.unwrap_ring(envelope.wrap_ring(columns.Keyring(), kek), kek)\n"
    )
    run("mypy", "--strict", str(user))
    user.write_text("import lanecrypt\nlanecrypt.AESGCM('text')\n")
    with pytest.raises(AssertionError, match="incompatible type"):
        run("mypy", "--strict", str(user))
