"""Sessions of Spark for tests."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession


# Tests are short: what takes long is to start Java, and to compile what runs only once.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def builder(master: str) -> SparkSession.Builder:
    """Of a session that uses the interpreter and the packages of this process."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    return (
        SparkSession.builder.master(master)
        .appName("lanecrypt tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", QUICK_START)
        .config("spark.executor.extraJavaOptions", QUICK_START)
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
