"""`lanecrypt.spark` in one process: both directions, Spark's own functions, SQL, and what is refused."""

from __future__ import annotations

import json
import os
import pickle

import pytest

pytest.importorskip("pyspark")

import pyarrow
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from lanecrypt import columns, envelope, spark
from lanecrypt.keys import Environment, Fetched, Files, KeyNotFound
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from spark_session import builder

KEY = bytes(range(32))
NAMES = {"ssn": "people", "note": "notes"}


@pytest.fixture(scope="module")
def session():
    made = builder("local[2]").getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture
def keys(tmp_path):
    for name in ("people", "notes"):
        file = tmp_path / name
        file.write_bytes(KEY if name == "people" else KEY[::-1])
        file.chmod(0o600)
    return Files(tmp_path)


@pytest.fixture
def people(session):
    rows = [(n, None if n % 7 == 3 else f"{n:09}", f"note {n}".encode() * (n % 5)) for n in range(200)]
    return session.createDataFrame(rows, "id long, ssn string, note binary").repartition(3)


def fetch(name):
    return KEY


def rows(frame):
    return sorted(map(tuple, frame.collect()))


@pytest.mark.parametrize("layout", columns.LAYOUTS)
def test_both_directions(people, keys, layout):
    options = {"keys": keys, "layout": layout, "context": {"ssn": "people.ssn"}, "rows": "id"}
    sealed = spark.encrypt(people, NAMES, **options)
    assert [field.dataType.simpleString() for field in sealed.schema] == ["bigint", "binary", "binary"]
    cells = rows(sealed)
    assert [cell[1] is None for cell in cells] == [n % 7 == 3 for n in range(200)]
    assert not any(cell[1] and b"%09d" % cell[0] in cell[1] for cell in cells)
    back = spark.decrypt(sealed, NAMES, text=["ssn"], **options)
    assert back.schema.simpleString() == people.schema.simpleString()
    assert rows(back) == rows(people)


def test_spark_reads_and_writes_the_same_cells(people, keys):
    ours = spark.encrypt(people, {"ssn": "people"}, keys=keys, layout="aes_gcm", context={"ssn": "c"})
    theirs = ours.withColumn(
        "ssn", F.expr(f"cast(aes_decrypt(ssn, X'{KEY.hex()}', 'GCM', 'DEFAULT', 'c') as string)")
    )
    assert rows(theirs) == rows(people)
    theirs = people.withColumn("ssn", F.expr(f"aes_encrypt(ssn, X'{KEY.hex()}', 'GCM')"))
    ours = spark.decrypt(theirs, {"ssn": "people"}, keys=keys, layout="aes_gcm", text=["ssn"])
    assert rows(ours) == rows(people)
    cell = theirs.where("id = 5").first()["ssn"]
    assert AESGCM(KEY).decrypt(bytes(cell[:12]), bytes(cell[12:]), b"") == b"000000005"


def test_sql(session, people, keys):
    spark.register(session, keys=keys)
    people.createOrReplaceTempView("people")
    key, context = "if(id < 100, 'people', 'notes')", "concat('c', id % 3)"
    sealed = session.sql(
        f"select id, ssn, lanecrypt_encrypt(ssn, {key}, {context}, id) as cell,"
        " lanecrypt_encrypt(note, 'people') as note from people"
    )
    sealed.persist().createOrReplaceTempView("sealed")
    back = session.sql(
        f"select id, ssn, lanecrypt_decrypt_text(cell, {key}, {context}, id) as same,"
        " lanecrypt_decrypt(note, 'people') as note from sealed"
    )
    for (n, ssn, same, note), expected in zip(rows(back), rows(people), strict=True):
        assert (n, ssn, note) == expected and same == ssn
    with pytest.raises(PySparkException, match="not authentic"):
        session.sql(f"select lanecrypt_decrypt(cell, {key}, 'c', id) from sealed").collect()
    with pytest.raises(PySparkException, match="a context is NULL"):
        session.sql("select lanecrypt_encrypt(ssn, 'people', null) from people").collect()
    for call, message in (
        ("lanecrypt_encrypt(ssn)", "the name of the key is missing"),
        ("lanecrypt_encrypt()", "the name of the key is missing"),
        ("lanecrypt_decrypt_text(cell)", "the name of the key is missing"),
        ("lanecrypt_encrypt(ssn, 'people', 'c', id, 1)", "too many arguments"),
        ("lanecrypt_encrypt(ssn, 5)", "the name of a key is a string, not int32"),
    ):
        with pytest.raises(PySparkException, match=message) as refused:
            session.sql(f"select {call} from sealed").collect()
        assert call.partition("(")[0] in str(refused.value)


def test_a_cell_in_another_row_is_refused(people, keys):
    sealed = spark.encrypt(people, {"note": "notes"}, keys=keys, rows="id").persist()
    moved = sealed.withColumn("id", F.expr("if(id = 4, 5, if(id = 5, 4, id))"))
    with pytest.raises(PySparkException, match="not authentic"):
        spark.decrypt(moved, {"note": "notes"}, keys=keys, rows="id").collect()
    nulls = spark.decrypt(moved, {"note": "notes"}, keys=keys, rows="id", on_error="null")
    assert [row[0] for row in rows(nulls.where("note is null"))] == [4, 5]


def test_a_task_has_no_key_in_it(people, keys):
    # It keeps what it has fetched in this process.
    keys = Fetched(keys)
    task = spark._Task({"ssn": "people"}, keys, "aes_gcm")
    batch = pyarrow.record_batch({"ssn": ["a", "b"]})
    # It has encrypted in this process, so the key is here.
    assert len(next(task(iter([batch])))) == 2
    assert KEY not in cloudpickle.dumps(task) and KEY in cloudpickle.dumps({"planted": KEY})
    sealed = spark.encrypt(people, {"ssn": "people"}, keys=keys)
    sealed.collect()
    plan = sealed._jdf.queryExecution().toString()
    assert "ssn" in plan and not any(form in plan for form in (KEY.hex(), repr(KEY)))


def test_deterministic_cells_can_be_joined(session, people, keys):
    spark.register(session, keys=keys, layout="deterministic", prefix="same_")
    people.createOrReplaceTempView("people")
    joined = session.sql(
        "select a.id, b.id from people a join people b"
        " on same_encrypt(a.ssn, 'people') = same_encrypt(b.ssn, 'people') where a.id < 20"
    )
    assert rows(joined) == [(n, n) for n in range(20) if n % 7 != 3]


@pytest.mark.parametrize("given", [{"people": KEY}, KEY, KEY.hex(), bytearray(KEY)])
def test_keys_instead_of_a_provider_are_refused(people, given):
    with pytest.raises(TypeError, match="not the keys") as refused:
        spark.encrypt(people, {"ssn": "people"}, keys=given)
    assert KEY.hex() not in str(refused.value)


def test_keys_instead_of_their_names_are_refused(people, keys):
    with pytest.raises(TypeError, match="not the keys") as refused:
        spark.encrypt(people, {"ssn": KEY}, keys=keys)
    assert repr(KEY) not in str(refused.value)


def test_wrong_columns_are_refused_before_anything_runs(people, keys):
    with pytest.raises(ValueError, match=r"no such columns: \['ssm'\]; there are \['id', 'ssn', 'note'\]"):
        spark.encrypt(people, {"ssm": "people"}, keys=keys)
    with pytest.raises(TypeError, match="column 'id' is bigint: cast it to string or binary"):
        spark.encrypt(people, {"id": "people"}, keys=keys)
    with pytest.raises(ValueError, match="unknown layout 'gcm'"):
        spark.encrypt(people, NAMES, keys=keys, layout="gcm")
    with pytest.raises(ValueError, match=r"context= names other columns: \['id'\]"):
        spark.encrypt(people, NAMES, keys=keys, context={"id": "x"})
    with pytest.raises(ValueError, match="text= names columns that are not decrypted"):
        spark.decrypt(people, {"ssn": "people"}, keys=keys, text=["note"])
    with pytest.raises(ValueError, match="on_error"):
        spark.decrypt(people, NAMES, keys=keys, on_error="ignore")
    with pytest.raises(TypeError, match="context= is a dict"):
        spark.encrypt(people, NAMES, keys=keys, context="people")
    with pytest.raises(TypeError, match="the columns are a dict"):
        spark.decrypt(people, ["ssn"], keys=keys)
    with pytest.raises(TypeError, match="text= is a list"):
        spark.decrypt(people, NAMES, keys=keys, text="ssn")
    with pytest.raises(ValueError, match="its own associated data"):
        spark.encrypt(people, NAMES, keys=keys, rows="ssn")


def test_as_a_table(people, keys):
    options = {"keys": keys, "rows": "id", "layout": "aes_gcm"}
    sealed = columns.encrypt_table(people, NAMES, **options)
    back = columns.decrypt_table(sealed, NAMES, types={"ssn": "string", "note": "binary"}, **options)
    assert rows(back) == rows(people) and back.schema.simpleString() == people.schema.simpleString()
    with pytest.raises(TypeError, match="keys= has a provider"):
        columns.encrypt_table(people, NAMES)
    with pytest.raises(ValueError, match="name the columns with their keys, and their types"):
        columns.decrypt_table(sealed, NAMES, **options)
    with pytest.raises(ValueError, match="columns of Spark are string or binary"):
        columns.decrypt_table(sealed, NAMES, types={"ssn": "int64", "note": "binary"}, **options)


def test_a_missing_key_is_named(people, keys):
    with pytest.raises(PySparkException, match="KeyNotFound: key 'other'"):
        spark.encrypt(people, {"ssn": "other"}, keys=keys).collect()


class TestProviders:
    def test_environment(self, monkeypatch):
        monkeypatch.setenv("LANECRYPT_KEY_PEOPLE_SSN_2", KEY.hex())
        assert Environment()("people.ssn-2") == KEY
        monkeypatch.setenv("MINE_K", "no hex digits: secret")
        with pytest.raises(KeyNotFound) as refused:
            Environment("MINE_")("k")
        assert "secret" not in str(refused.value) and refused.value.__context__ is None
        with pytest.raises(KeyNotFound, match="LANECRYPT_KEY_NONE is not set"):
            Environment()("none")

    def test_files(self, keys, tmp_path):
        assert keys("people") == KEY
        (tmp_path / "people").chmod(0o640)
        with pytest.raises(KeyNotFound, match="chmod 600"):
            keys("people")
        os.mkfifo(tmp_path / "pipe", 0o600)
        for name in ("none", "../people", "", "..", "pipe", "a\0b"):
            with pytest.raises(KeyNotFound):
                keys(name)

    def test_fetched_once(self):
        calls = []
        fetched = Fetched(lambda name: calls.append(name) or KEY, seconds=3600)
        again = Fetched(lambda name: calls.append(name) or KEY, seconds=0)
        assert [fetched("a"), fetched("a"), fetched("b"), again("a"), again("a")] == [KEY] * 5
        assert calls == ["a", "b", "a", "a"]
        travelling = Fetched(fetch)
        assert travelling("a") == KEY and KEY not in pickle.dumps(travelling)
        assert pickle.loads(pickle.dumps(travelling))("b") == KEY


class TestWrappedRings:
    """Only wrapped keys travel."""

    KEK = bytes.fromhex("c0ffee") + bytes(range(60, 89))

    @pytest.fixture
    def ring(self):
        ring = columns.Keyring()
        ring.set_primary(ring.add())
        return ring

    @pytest.fixture
    def provider(self, ring, tmp_path):
        (tmp_path / "kek").write_bytes(self.KEK)
        (tmp_path / "kek").chmod(0o600)
        folder = str(tmp_path)

        # Workers cannot import this file. A function inside of another goes to them whole.
        def kek():
            return envelope.Local(Files(folder)("kek"))

        return envelope.Wrapped({"people": envelope.wrap_ring(ring, envelope.Local(self.KEK))}, kek)

    def secrets(self, ring):
        keys = [bytes.fromhex(key["key"]) for key in json.loads(ring.to_json())["keys"]]
        keys.append(self.KEK)
        return [form for key in keys for form in (key, key.hex().encode(), repr(key)[2:-1].encode())]

    def test_both_directions_and_rotation(self, session, people, provider, ring):
        options = {"context": {"ssn": "people.ssn"}, "rows": "id"}
        sealed = spark.encrypt(people, {"ssn": "people"}, keys=provider, **options).persist()
        back = spark.decrypt(sealed, {"ssn": "people"}, keys=provider, text=["ssn"], **options)
        assert rows(back) == rows(people)
        cells = pyarrow.table({"id": [5], "ssn": [bytes(sealed.where("id = 5").first()["ssn"])]})
        plain = columns.decrypt(cells["ssn"], ring, context="people.ssn", rows=cells["id"], text=True)
        assert plain.to_pylist() == ["000000005"]
        spark.register(session, keys=provider, prefix="wrapped_")
        sealed.createOrReplaceTempView("wrapped")
        read = session.sql(
            "select id, wrapped_decrypt_text(ssn, 'people', 'people.ssn', id) as ssn, note from wrapped"
        )
        assert rows(read) == rows(people)
        with pytest.raises(PySparkException, match="key 'people' is a ring for aes_gcm_siv, not for aes_gcm"):
            spark.encrypt(people, {"ssn": "people"}, keys=provider, layout="aes_gcm").collect()

    def test_no_key_in_plans_closures_and_errors(self, people, provider, ring):
        # The keys are in this process.
        assert provider("people").keys == ring.keys
        task = spark._Task({"ssn": "people"}, provider, "aes_gcm_siv")
        assert len(next(task(iter([pyarrow.record_batch({"ssn": ["a", "b"]})])))) == 2
        sealed = spark.encrypt(people, {"ssn": "people"}, keys=provider)
        sealed.collect()
        with pytest.raises(PySparkException) as refused:
            spark.decrypt(sealed, {"ssn": "people"}, keys=provider, context={"ssn": "x"}).collect()
        travelled = cloudpickle.dumps(task) + sealed._jdf.queryExecution().toString().encode()
        travelled += str(refused.value).encode()
        assert not [form for form in self.secrets(ring) if form in travelled]
        assert b"lanecrypt wrapped ring 1" in travelled
        assert self.secrets(ring)[0] in cloudpickle.dumps({"planted": self.secrets(ring)[0]})

    def test_keks_do_not_travel(self, people, ring):
        kek = envelope.Local(self.KEK)
        text = envelope.wrap_ring(ring, kek)
        with pytest.raises(TypeError, match="a function that makes the key-encryption key"):
            envelope.Wrapped({"people": text}, kek)
        caught = envelope.Wrapped({"people": text}, lambda: kek)
        with pytest.raises(Exception, match="cannot pickle 'Local'") as refused:
            spark.encrypt(people, {"ssn": "people"}, keys=caught).collect()
        assert self.KEK.hex() not in str(refused.value) and repr(self.KEK) not in str(refused.value)

    def test_another_kek_is_named(self, people, ring):
        keys = envelope.Wrapped(
            {"people": envelope.wrap_ring(ring, envelope.Local(self.KEK))}, lambda: envelope.Local(bytes(32))
        )
        with pytest.raises(PySparkException, match="InvalidTag: wrapped with another key, or changed"):
            spark.encrypt(people, {"ssn": "people"}, keys=keys).collect()
