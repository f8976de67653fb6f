#!/usr/bin/env python3
"""Size and speed of a time-sequence graph, an acceptance measurement and no test.

    benches/time_sequence.py FULLPIPE [JITTER]

makes a run of nine seconds at 10 Gb/s whose packets are kept, opens its graph in headless Chromium (through chromedriver) and prints a
row: segments, megabytes of HTML, seconds until it is drawn first (the most of three times), and until it is drawn again for one of sixty
random spans, and for those of them that show single segments. With JITTER (as in 100us) packets come at odd moments and overtake
each other, which takes most room.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PORT = 9517
SCENARIO = """
title = "Segments at 10 Gb/s"
seed = 1
duration = "9s"

[path]
mtu = 1500
{path}

[hosts.sender]
kernel = "6.12"
sysctl."net.ipv4.tcp_wmem" = "4096 66560 268435456"

[hosts.receiver]
kernel = "6.12"
sysctl."net.ipv4.tcp_rmem" = "4096 89088 268435456"

[[flow]]
name = "bulk"
congestion = "cubic"
duration = "9s"
"""
SHORT = """rate = "10Gbit"
loss = 1e-6
delay = { forward = "10ms", back = "10ms" }"""
LONG = """back = [{{ kind = "delay", name = "back", delay = "10ms" }}]

[[path.forward]]
kind = "link"
name = "link"
rate = "10Gbit"
queue = {{ limit = "25MB" }}

[[path.forward]]
kind = "jitter"
name = "jitter"
delay = "10ms"
jitter = "{jitter}\""""
# Draws a span of time and of bytes, and tells when the next frame has it, and how fine it is (0: single segments).
SHOW = """const begun = performance.now(); fullpipe.show(...arguments);
return new Promise(done => requestAnimationFrame(() => setTimeout(() => done([performance.now() - begun, fullpipe.level()]), 0)))"""


class Browser:
    """A page in headless Chromium."""

    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", f"--port={PORT}"], stdout=subprocess.DEVNULL)
        self.session = None
        for _ in range(100):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        options = {"args": ["--headless", "--no-sandbox", "--window-size=1400,900"]}
        asked = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        self.session = self.call("POST", "/session", asked)["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", method=method, data=data)
        request.add_header("Content-Type", "application/json")
        return json.load(urllib.request.urlopen(request, timeout=120))["value"]

    def run(self, script, *arguments):
        body = {"script": script, "args": arguments}
        return self.call("POST", f"/session/{self.session}/execute/sync", body)

    def open(self, page):
        """Seconds until it is drawn."""
        begun = time.monotonic()
        self.call("POST", f"/session/{self.session}/url", {"url": page.as_uri()})
        while self.run("return window.fullpipe?.level() ?? null") is None:
            time.sleep(0.01)
        return time.monotonic() - begun

    def close(self):
        if self.session is not None:
            self.call("DELETE", f"/session/{self.session}")
        self.driver.terminate()


def made(fullpipe, place, jitter):
    """The page and how many segments it shows."""
    path = SHORT if jitter is None else LONG.format(jitter=jitter)
    scenario = Path(place, "segments.toml")
    scenario.write_text(SCENARIO.replace("{path}", path))
    out = Path(place, "out")
    subprocess.run([fullpipe, "run", scenario, "--packets", "--quiet", "--out", out], check=True, stdout=subprocess.DEVNULL)
    summary = json.loads(Path(out, "summary.json").read_text())
    return Path(out, "base", "time-sequence.html"), summary["runs"][0]["packets"]["segments"]


def spans(count):
    """Spans of time (ns) and of bytes, from a hundredth of a millisecond to all."""
    random.seed(1)
    for _ in range(count):
        length = 10 ** random.uniform(4, 9.9)
        begin = random.uniform(0, max(9e9 - length, 0))
        byte = random.uniform(0, 5.5e9)
        yield begin, begin + length, byte, byte + 1.2 * length


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as place:
        page, segments = made(sys.argv[1], place, (sys.argv[2:] or [None])[0])
        browser = Browser()
        try:
            first = max(browser.open(page) for _ in range(3))
            drawn = [browser.run(SHOW, *span) for span in spans(60)]
        finally:
            browser.close()
        size = page.stat().st_size / 1e6
        single = [ms for ms, level in drawn if level == 0]
        worst = max(ms for ms, _ in drawn)
        finest = f"{max(single) / 1000:.2f}" if single else "none of them"
        print("| segments | HTML, MB | first draw, s | a span, s | of single segments, s |")
        print(f"| {segments:,} | {size:.2f} | {first:.2f} | {worst / 1000:.2f} | {finest} |")


main()
