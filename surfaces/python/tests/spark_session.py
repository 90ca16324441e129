"""Sessions of Spark for tests."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession


def builder(master: str) -> SparkSession.Builder:
    """Of a session that uses the interpreter and the packages of this process."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    return (
        SparkSession.builder.master(master)
        .appName("lanecrypt tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
