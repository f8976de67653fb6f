//! The part of the reference page about captures.

use super::{LEAST_SNAP, POINTS, SNAP};
use std::fmt::Write;

/// Markdown.
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    for (name, meaning) in POINTS {
        let meaning = meaning[..1].to_uppercase() + &meaning[1..];
        let _ = writeln!(page, "| `{name}` | {meaning} |");
    }
    let _ = write!(
        page,
        "\n{REST}\n`--snap BYTES` keeps so much of each packet (default {SNAP}; 0: all; at least \
         {LEAST_SNAP},\nwhich the longest headers take). {TAIL}"
    );
    page
}

const HEAD: &str = "
## Captures

`fullpipe run X --pcap FILE --at POINT` writes the packets that pass one point, in both directions and in order
of time, for Wireshark, tshark or tcptrace:

```sh
fullpipe run my.toml --pcap my.pcapng --at receiver
tshark -r my.pcapng -Y 'tcp.analysis.retransmission || tcp.analysis.out_of_order'   # a guess
tcptrace -l my.pcapng                                                               # what was sent again
tshark -r my.pcapng -Y frame.comment -T fields -e frame.time_epoch -e frame.comment   # what was dropped
```

With many packets in flight tshark's own analysis of sequence numbers is slow; where you need none of it,
`-o tcp.analyze_sequence_numbers:FALSE` leaves it out.

The file is pcapng; if its name ends in `.pcap` it is classic pcap, which has no comments. Times are nanoseconds
since the run's start. Of several runs each has its own file, with the run's name before the extension:
`my-reno.pcapng`. The file grows under a hidden name and gets its own at the end; one that exists is never
overwritten, and a run that is interrupted leaves whole blocks and says so in its last one. `--pcap -` writes pcapng to
standard output, of one run, and the text to standard error: `fullpipe run my.toml --pcap - | tshark -r -`.

| point | what is seen there |
|---|---|
";

const REST: &str = "\
A packet of which something was dropped at the point or after it has a comment: `dropped: link, queue full`, or
for a TSO skb `2 of 7 segments dropped: ...`. The simulator knows what comes later; no real capture could.
A packet without comment was taken by TCP at its end, or was under way when the run ended.

The headers are Ethernet, IPv4 and TCP as the simulated hosts agreed, with right checksums; all data is zeros. Flow n
(from 0) goes from 10.0.0.1, port 40000 + n, to 10.0.0.2, port 5001 (20000 flows to a port, then 5002 ...); further
hosts are 10.0.0.3 and so on, in the scenario's order. Both
streams begin with sequence number 0: byte n of a flow has the number n + 1, modulo 2^32. Timestamps are jiffies,
echoed as RFC 7323 says. The last data segment carries a FIN if the application closed before it was sent; if not, the
FIN is a packet of its own.

What the simulator does not have is not in a capture: PSH, the receiver's FIN (which keeps its side open), a changed
TTL, padding of short frames. The window in the sender's packets stays as it was at first. Options are written in full,
but the path's rates count a SYN without its options and an ACK without its SACK blocks.
";

const TAIL: &str = "`frame.len` is the length on the wire in any case.
";
