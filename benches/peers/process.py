"""Runs a program to its end and says what it took of the machine."""

import os
import resource
import signal
import subprocess
import tempfile


class Measured:
    """Exit status, output, CPU seconds (user and system) and peak memory (ru_maxrss) of a process."""

    def __init__(self, status, stdout, stderr, usage):
        self.status, self.stdout, self.stderr = status, stdout, stderr
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_bytes = usage.ru_maxrss * 1024


def measure(command, cpu_limit):
    """Runs `command`; the kernel ends it for certain some time after `cpu_limit` CPU seconds.

    On an interruption the process is ended before the exception goes on.
    """

    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit + 60, cpu_limit + 60))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=bound)
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.send_signal(signal.SIGKILL)
            child.wait()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        return Measured(child.returncode, *texts, usage)
