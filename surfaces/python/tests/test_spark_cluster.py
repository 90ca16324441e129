"""A cluster of Spark: a master and two workers on the loopback address, one of which is killed in the
middle of a job."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pyspark = pytest.importorskip("pyspark")

import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet
from lanecrypt import columns, envelope, spark
from lanecrypt.keys import Files
from spark_session import QUICK_START, builder

ROWS = 2_000_000
TASKS = 80
KEY = bytes.fromhex("c0ffee") + bytes(range(200, 229))
KEK = bytes.fromhex("c0ffee") + bytes(range(100, 129))
RING = columns.Keyring("aes_gcm")
HOME = Path(pyspark.__file__).parent


class Cluster:
    """A master and two workers, each in a process group of its own with all that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.groups: list[subprocess.Popen[bytes]] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{self.port}"
        self.start("master.Master", "master", "--host", "127.0.0.1", "--port", str(self.port))
        for number in (1, 2):
            own = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g"]
            self.start("worker.Worker", f"worker{number}", *own, self.url)

    def start(self, name: str, log: str, *arguments: str) -> None:
        work = self.folder / log
        work.mkdir()
        environment = os.environ | {
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(work),
            "SPARK_LOCAL_DIRS": str(work),
            "SPARK_WORKER_WEBUI_PORT": "0",
            "SPARK_MASTER_WEBUI_PORT": "0",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK_START,
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments]
        with open(self.folder / f"{log}.log", "wb") as output:
            self.groups.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            )

    def kill(self, member: int) -> None:
        """SIGKILL to a member and to the executors that it has started."""
        group = self.groups[member]
        os.killpg(group.pid, signal.SIGKILL)
        group.wait()

    def stop(self) -> None:
        for group in self.groups:
            if group.poll() is None:
                os.killpg(group.pid, signal.SIGKILL)
                group.wait()


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    yield made
    made.stop()


def completed_tasks(session) -> int:
    tracker = session.sparkContext.statusTracker()
    stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
    return max((stage.numCompletedTasks for stage in stages if stage), default=0)


def test_a_worker_is_killed_in_the_middle(cluster, tmp_path):
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name, key in (("people", KEY), ("kek", KEK)):
        (secrets / name).write_bytes(key)
        (secrets / name).chmod(0o600)
    wrapped = {"ring": envelope.wrap_ring(RING, envelope.Local(KEK))}
    events = tmp_path / "events"
    events.mkdir()
    output = tmp_path / "output"
    session = (
        builder(cluster.url)
        .config("spark.executor.memory", "512m")
        .config("spark.speculation", "true")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.compress", "false")
        .config("spark.eventLog.dir", events.as_uri())
        .config("spark.local.dir", str(tmp_path / "driver"))
        .getOrCreate()
    )
    try:
        table = session.range(0, ROWS, 1, TASKS).selectExpr(
            "id", "lpad(id, 32, '0') as ssn", "if(id % 100 = 0, 'note', null) as note"
        )
        sealed = spark.encrypt(
            table,
            {"ssn": "people", "note": "ring"},
            keys=provider_of(str(secrets), wrapped),
            layout="aes_gcm",
            context={"ssn": "people.ssn"},
            rows="id",
        )
        drawn = tmp_path / "drawn"
        drawn.mkdir()
        watched = sealed.mapInArrow(noting_nonces(str(drawn)), sealed.schema)
        failures: list[BaseException] = []

        def write() -> None:
            try:
                watched.write.parquet(output.as_uri())
            except BaseException as error:
                failures.append(error)

        job = threading.Thread(target=write)
        job.start()
        deadline = time.monotonic() + 120
        while completed_tasks(session) < TASKS // 8 and job.is_alive():
            assert time.monotonic() < deadline, "the job does not run"
            time.sleep(0.01)
        done = completed_tasks(session)
        # Of the two workers the one that has an executor with the other half of the tasks.
        cluster.kill(2)
        assert job.is_alive() and 0 < done < TASKS, f"killed after {done} tasks, not in the middle"
        job.join(180)
        assert not job.is_alive() and not failures, failures
        plan = sealed._jdf.queryExecution().toString()
        # The temporary files of the driver go with it.
        found = with_key(tmp_path, secrets)
    finally:
        session.stop()

    written = parquet.read_table(output).combine_chunks().sort_by("id")
    ids, cells = written["id"], written["ssn"]
    assert len(written) == ROWS
    assert compute.all(compute.equal(ids, range_of(ROWS))).as_py(), "a row is missing or there twice"
    nonces = compute.binary_slice(cells, 0, 12)
    assert compute.count_distinct(nonces).as_py() == ROWS, "a nonce occurs twice"
    # Also of attempts that were killed, or that came second.
    attempts = sorted(drawn.iterdir())
    assert len(attempts) >= TASKS
    noted = pyarrow.concat_arrays([nonces_of(attempt) for attempt in attempts])
    assert compute.all(compute.is_in(nonces.combine_chunks().cast(noted.type), noted)).as_py()
    assert compute.count_distinct(noted).as_py() == len(noted), "attempts share a nonce"
    key = columns.Key(KEY, "aes_gcm")
    values = columns.decrypt(cells, key, context="people.ssn", rows=ids, text=True)
    expected = compute.utf8_lpad(ids.cast("string"), 32, "0")
    assert compute.all(compute.equal(values, expected)).as_py()
    notes = columns.decrypt(written["note"], RING, rows=ids, text=True)
    assert notes.to_pylist() == ["note" if n % 100 == 0 else None for n in range(ROWS)]

    assert not has_key(plan.encode())
    found += with_key(tmp_path, secrets)
    assert not found, f"the key is in {found}"
    # The search finds what is there: the key where it is kept, and in the events what was done.
    assert holds_key(secrets / "people") and holds_key(secrets / "kek")
    assert has_key(RING.to_json().encode())
    assert any(b"SparkListenerTaskEnd" in file.read_bytes() for file in everything(events))
    assert len([file for file in everything(tmp_path) if file.name == "stderr"]) >= 2
    logs = (tmp_path / "master.log").read_text()
    assert "Removing worker" in logs or "lost" in logs.lower(), "no worker was lost"


def provider_of(folder: str, wrapped: dict[str, str]):
    """Keys in files, and rings that the executors unwrap."""

    # As below.
    def kek():
        from lanecrypt.envelope import Local
        from lanecrypt.keys import Files

        return Local(Files(folder)("kek"))

    files, rings = Files(folder), envelope.Wrapped(wrapped, kek)
    return lambda name: rings(name) if name in wrapped else files(name)


def noting_nonces(folder: str):
    """A task that leaves all as it is, and writes down the nonces of each attempt as they come."""

    # Workers cannot import this file. A function inside of another goes to them whole.
    def task(batches):
        import pyarrow.compute as compute
        from pyspark import TaskContext

        attempt = TaskContext.get().taskAttemptId()
        with open(f"{folder}/{attempt}", "wb", buffering=0) as notes:
            for batch in batches:
                nonces = compute.binary_slice(batch["ssn"].cast("binary"), 0, 12)
                notes.write(nonces.buffers()[2][: 12 * len(nonces)])
                yield batch

    return task


def nonces_of(attempt: Path) -> pyarrow.Array:
    notes = attempt.read_bytes()
    whole = len(notes) // 12
    return pyarrow.Array.from_buffers(pyarrow.binary(12), whole, [None, pyarrow.py_buffer(notes)])


def range_of(rows: int) -> pyarrow.Array:
    return pyarrow.array(range(rows), "int64")


def everything(folder: Path):
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def with_key(folder: Path, secrets: Path) -> list[Path]:
    return [file for file in everything(folder) if file.parent != secrets and holds_key(file)]


def holds_key(file: Path) -> bool:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return False
    return has_key(content)


def has_key(content: bytes) -> bool:
    """Whether one of the keys is there, as bytes, or as hexadecimal digits, Python and base64 write them,
    wherever it begins."""
    ring = [bytes.fromhex(key["key"]) for key in json.loads(RING.to_json())["keys"]]
    forms = [form for key in (KEY, KEK, *ring) for form in written_forms(key)]
    return any(form in content for form in forms)


def written_forms(key: bytes) -> list[bytes]:
    forms = [key, key.hex().encode(), key.hex().upper().encode(), repr(key)[2:-1].encode()]
    return forms + [base64.b64encode(bytes(before) + key)[4:40] for before in range(3)]
