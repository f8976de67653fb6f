"""The package's types: they are whole, a program that keeps to them is accepted, and they say what the compiled part has."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="skipped: pip install mypy")
PROGRAM = pathlib.Path(__file__).with_name("typed_program.py")


def python(tmp_path, *arguments):
    """A child that finds the package where it is installed, not beside the tests."""
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True)


def mypy(tmp_path, *arguments):
    return python(tmp_path, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *arguments)


def test_the_package_and_a_program_are_strictly_typed(tmp_path):
    package = mypy(tmp_path, "-p", "fullpipe")
    assert package.returncode == 0, package.stdout + package.stderr
    program = mypy(tmp_path, PROGRAM)
    assert program.returncode == 0, program.stdout + program.stderr


def test_a_program_that_breaks_them_is_refused(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import fullpipe\nfullpipe.load("a", variant=3)\nn: int = fullpipe.load("a").run().json\n')
    told = mypy(tmp_path, wrong)
    assert told.returncode == 1 and told.stdout.count(": error: ") == 2, told.stdout


def test_the_stub_is_what_the_compiled_part_has(tmp_path):
    told = python(tmp_path, "-m", "mypy.stubtest", "fullpipe._fullpipe")
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_program_runs(tmp_path, scenario):
    told = python(tmp_path, PROGRAM, scenario)
    assert told.returncode == 0, told.stderr
    assert "{'reno': " in told.stdout and "4 True [1, 1, 1, 1] 1" in told.stdout
