"""A small scenario, and the command beside the library."""

import os
import shutil
import subprocess
import sys

import pytest

SCENARIO = """\
title = "Two variants, 50 Mb/s"
duration = "3s"

[path]
rate = "50Mbit"
mtu = 1500
delay = { forward = "10ms", back = "10ms" }
queue = { limit = "125kB" }

[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }

[[flow]]
name = "bulk"
congestion = "cubic"
duration = "3s"

[[variant]]
name = "reno"
set = { "flow.bulk.congestion" = "reno" }

[[variant]]
name = "cubic"
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def command(tmp_path):
    """The command of this environment."""
    beside = os.path.join(os.path.dirname(sys.executable), "fullpipe")
    program = beside if os.path.exists(beside) else shutil.which("fullpipe")

    def call(*arguments):
        return subprocess.run([program, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True)

    return call
