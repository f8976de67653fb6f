"""What a scenario of this directory means to a peer: from fullpipe's resolved scenario to key=value arguments.

The peers get the same path, window, times and congestion control. What they have no word for (kernel, rings,
sysctls, TSO) stays fullpipe's alone.
"""

import json
import re
import subprocess
from decimal import Decimal

UNITS = {
    "bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9,
    "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
    "ns": Decimal("1e-9"), "us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": 1,
}  # fmt: skip

# Linux 2.6.20, tcp_init_cwnd: packets by the segment size (RFC 3390).
LARGE_SEGMENT, MEDIUM_SEGMENT = 1460, 1095
HEADERS = 52
# The largest window that TCP can advertise (RFC 7323, section 2.3).
LARGEST_WINDOW = 65535 << 14


def quantity(text):
    """A quantity of a resolved scenario in bit/s, bytes or seconds."""
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", text).groups()
    return Decimal(number) * UNITS[unit]


def resolve(fullpipe, path):
    """The resolved scenario of the only run in `path`."""
    answer = subprocess.run(
        [fullpipe, "run", path, "--dry-run", "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout)["runs"][0]["resolved"]


def element(path, kind):
    """The only element of this kind on data's way, or None."""
    found = [e for e in path["forward"] if e["kind"] == kind]
    return found[0] if found else None


def initial_cwnd(mss):
    return 2 if mss > LARGE_SEGMENT else 3 if mss > MEDIUM_SEGMENT else 4


def arguments(resolved, cpu_limit):
    """The peers' arguments."""
    path, flows = resolved["path"], resolved["flow"]
    link, loss = element(path, "link"), element(path, "loss")
    delays = [e for e in path["forward"] + path["back"] if e["kind"] == "delay"]
    given = {
        "rate": int(quantity(link["rate"])),
        "rtt": sum(quantity(e["delay"]) for e in delays),
        "mtu": path["mtu"],
        "queue": int(quantity(link["queue"]["limit"])),
        "loss": loss["probability"] if loss else 0,
        "congestion": flows[0]["congestion"]["name"],
        "window": min(int(quantity(flows[0]["rcvbuf"])), LARGEST_WINDOW),
        "initial_cwnd": initial_cwnd(path["mtu"] - HEADERS),
        "end": quantity(resolved["duration"]),
        "cpu_limit": cpu_limit,
    }
    words = [f"{key}={value}" for key, value in given.items()]
    for flow in flows:
        start = quantity(flow["start"])
        words.append(f"flow={start},{start + quantity(flow['duration'])}")
    return words
