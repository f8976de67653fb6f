//! Figures of the reports (scenarios/field) beside the simulated ones, with what had to be chosen for them.

use crate::field::run_of;
use crate::marked;
use fullpipe::analysis::document::Run;
use fullpipe::numbers;
use std::fmt::Write;

/// Kind of a figure.
#[derive(Clone, Copy)]
enum Quantity {
    /// Rate of payload over the whole run.
    Rate,
    /// Most that a report has seen, of the same rate.
    MostRate,
    /// Rate of payload over the second half of the flows' lives.
    LateRate,
    /// Rate as a multiple of that of another variant.
    TimesOf(&'static str),
    /// Datagrams that the receiving program does not get.
    Lost,
    /// Their share of those sent.
    LostShare,
    /// Datagrams in the socket when it is full.
    Held,
    /// Segments sent again.
    Resent,
    /// Median time from a request to its answer.
    Answer,
    /// Median of the smoothed round-trip time, less a base of that many ms.
    Queue(f64),
    /// Round trips of that many ms until the rate is full.
    RoundTrips(f64),
}
use Quantity::*;

impl Quantity {
    fn name(self) -> &'static str {
        match self {
            Rate => "Mb/s",
            MostRate => "Mb/s at most",
            LateRate => "Mb/s once it has grown",
            TimesOf(_) => "times the rate",
            Lost => "datagrams lost, at most",
            LostShare => "% of the datagrams lost",
            Held => "datagrams in a full socket, at most",
            Resent => "segments sent again",
            Answer => "ms until an answer",
            Queue(_) => "ms of queue",
            RoundTrips(_) => "round trips to the full rate",
        }
    }

    /// The figure of a run.
    fn of(self, file: &str, run: &Run) -> f64 {
        let mean = |run: &Run| run.headline.as_ref().and_then(|own| own.rate_mbit).expect("a rate");
        let flow = || run.flows.first().expect("a flow");
        let datagrams = || run.datagrams.first().expect("datagrams");
        match self {
            Rate | MostRate => mean(run),
            LateRate => {
                let settled = run.flows.iter().filter_map(|flow| flow.settled);
                settled.map(|own| own.mbit).sum()
            }
            TimesOf(other) => mean(run) / mean(run_of(file, other)),
            Lost => datagrams().undelivered as f64,
            LostShare => 100.0 * datagrams().undelivered_share,
            Held => {
                let mut sockets = run.stages.iter().filter(|own| own.kind == "udp_socket");
                sockets.next().expect("a socket").peak as f64
            }
            Resent => run.flows.iter().map(|flow| flow.retransmitted_segments as f64).sum(),
            Answer => {
                let mut messages = run.flows.iter().filter_map(|flow| flow.messages.as_ref());
                messages.next().expect("messages").median_ms
            }
            Queue(base) => f64::from(flow().medians.expect("medians").srtt_us) / 1e3 - base,
            RoundTrips(ms) => flow().time_to_plateau_s.expect("a plateau") * 1e3 / ms,
        }
    }
}

/// A figure in a report.
struct Reported {
    file: &'static str,
    /// The variant that has it; none: no run has it.
    variant: Option<&'static str>,
    quantity: Quantity,
    value: f64,
    /// Fact that the report leaves open and the figure depends on, with the value that was chosen.
    chosen: &'static str,
    /// Whether the choice was made without the figure.
    is_predicted: bool,
}

const fn reported(
    file: &'static str,
    variant: &'static str,
    quantity: Quantity,
    value: f64,
    chosen: &'static str,
) -> Reported {
    Reported { file, variant: Some(variant), quantity, value, chosen, is_predicted: true }
}

/// A figure that a choice was made by, that nobody measured, or that the report gives as an input.
const fn given(
    file: &'static str,
    variant: &'static str,
    quantity: Quantity,
    value: f64,
    why: &'static str,
) -> Reported {
    Reported { is_predicted: false, ..reported(file, variant, quantity, value, why) }
}

const fn without_run(file: &'static str, value: f64, why: &'static str) -> Reported {
    Reported { file, variant: None, quantity: Rate, value, chosen: why, is_predicted: false }
}

const NOTHING: &str = "nothing";
const KERNEL: &str = "the kernel: 6.1";
const SEPARATE: &str = "no limit that the server's streams share";
const LINE_03: &str = "the line's rate: 560 Mb/s";
const REORDERED: &str = "how packets overtake: 10 % by 200 us";
const LOSSES: &str = "what is lost: segments, not skbs";
const ANSWER: &str = "how an answer is written: twice 800 B";
const WMEM: &str = "net.ipv4.tcp_wmem: 67 MB";

/// Every figure of the reports that is in scenarios/field or in what was noted of them, in their order.
const REPORTED: &[Reported] = &[
    reported(
        "01-sndbuf-locked",
        "SO_SNDBUF 64 KiB",
        Rate,
        48.0,
        "SO_SNDBUF: 64 KiB; the kernel: 6.1",
    ),
    reported("01-sndbuf-locked", "left to the kernel", Rate, 790.0, "the line's rate: 1 Gb/s"),
    without_run("01-sndbuf-locked", 480.0, "on one host, without the path"),
    reported("03-parallel", "1 stream", LateRate, 206.0, KERNEL),
    given("03-parallel", "4 streams", LateRate, 513.0, "the line's rate: 560 Mb/s, by this rate"),
    reported("03-parallel", "8 streams", LateRate, 508.0, LINE_03),
    reported("03-parallel", "16 streams", LateRate, 457.0, LINE_03),
    reported("03-parallel", "SFTP, window of 480 KB", LateRate, 35.0, NOTHING),
    reported("03-parallel", "SFTP, 16 streams", LateRate, 352.0, SEPARATE),
    reported("03-parallel", "SFTP, 32 streams", LateRate, 392.0, LINE_03),
    reported("04-http2-window", "HTTP/1.1", Rate, 169.0, "the line's rate: 1 Gb/s"),
    reported("04-http2-window", "HTTP/2, window of 64 KB", Rate, 23.2, NOTHING),
    given("06-ipxe", "window 2 MB", TimesOf("window 256 KB"), 8.0, "a wish, not measured"),
    reported("07-netem-sender", "netem on the sender, limit 1000", Rate, 100.0, NOTHING),
    given("07-netem-sender", "no netem", Rate, 1100.0, "the line's rate: 1.1 Gb/s, by this rate"),
    reported("08-netem-udp", "base", Rate, 11.1, NOTHING),
    given("08-netem-udp", "base", LostShare, 98.4, "the same fact as the rate"),
    reported("11-tun-reorder", "threads reorder, 500 packets", Rate, 111.0, REORDERED),
    reported("11-tun-reorder", "threads reorder, 500 packets", Resent, 592.0, REORDERED),
    given(
        "11-tun-reorder",
        "one thread, 5000 packets",
        Rate,
        1150.0,
        "the line's rate: 1.2 Gb/s, by this rate",
    ),
    reported("16-nfs-timeo", "rsize 1 MiB", Rate, 21.6, "the size of the file: 128 MiB"),
    reported("16-nfs-timeo", "timeo 60 s", Rate, 92.8, NOTHING),
    given("17-notsent-lowat", "lowat 128 KiB", Rate, 10.0, "a claim, not measured"),
    reported("18-udp-rcvbuf", "208 KiB, as it is", Held, 100.0, NOTHING),
    given(
        "18-udp-rcvbuf",
        "208 KiB, as it is",
        Lost,
        1800.0,
        "the program's pause of 20 ms and its reads of 10 ms, which decide it",
    ),
    given(
        "19-write-size",
        "writes of 1500 bytes",
        Rate,
        7900.0,
        "the cost of a write: 1.4 us, by this rate",
    ),
    given(
        "19-write-size",
        "1500 bytes, 0.4 us per write",
        Rate,
        23_000.0,
        "the cost of a write: 0.4 us, by this rate",
    ),
    reported("20-nagle", "as it is", Answer, 40.0, ANSWER),
    reported("20-nagle", "TCP_NODELAY", Answer, 2.0, "the round trip: 1 ms"),
    reported("21-bbr-loss", "cubic", Rate, 3.27, LOSSES),
    reported("21-bbr-loss", "bbr", Rate, 9150.0, LOSSES),
    given(
        "23-bloat",
        "drop tail, 500 kB",
        Queue(40.0),
        400.0,
        "the queue: 500 kB at 10 Mb/s, by this time",
    ),
    reported(
        "24-ring-overrun",
        "ring of 64",
        Rate,
        0.502,
        "Linux, not gVisor; the ring: 64, not 256",
    ),
    without_run("24-ring-overrun", 800.0, "elsewhere, on a host without that fault"),
    given("25-xrdp", "SO_SNDBUF 32768", Rate, 1.05, "a formula, not measured"),
    reported("26-no-window-scaling", "no scaling", MostRate, 0.8, "the round trip: 80 ms"),
    given("27-autotune-2017", "4 MB", Rate, 120.0, "downloads: 2 at a time, by this rate"),
    given("27-autotune-2017", "60 s", Rate, 500.0, "the line's rate, which the report gives"),
    reported("28-defaults-150ms", "defaults, 20 s", Rate, 128.0, NOTHING),
    reported("29-autotune-2025", "6.18", RoundTrips(50.0), 12.0, WMEM),
    reported("29-autotune-2025", "6.16", RoundTrips(50.0), 23.0, WMEM),
    // 43.8 MB in each round trip of 50 ms.
    given(
        "29-autotune-2025",
        "6.18",
        LateRate,
        7008.0,
        "net.ipv4.tcp_wmem: 67 MB, which decides it",
    ),
    given(
        "31-nfs-one-connection",
        "one connection",
        Rate,
        2000.0,
        "the round trip: 12 ms, by this rate",
    ),
    given(
        "31-nfs-one-connection",
        "nconnect 8",
        Rate,
        6400.0,
        "the program: the figure is of netcat with 8 streams",
    ),
];

/// Part of a reported figure by which the simulated one may differ.
const WITHIN: f64 = 0.25;

/// Figures that the simulator misses, although nothing was chosen. The page says why.
const MISSED: &[(&str, &str)] = &[("04-http2-window", "HTTP/2, window of 64 KB")];

impl Reported {
    /// Whether a simulated figure `apart` from the reported one is as it says: within [`WITHIN`], and no more where the report
    /// has a bound. Of a bound on a rate or on losses only that side is known.
    fn agrees(&self, apart: f64) -> bool {
        match self.quantity {
            MostRate | Lost => apart <= 0.0,
            Held => (-WITHIN..=0.0).contains(&apart),
            _ => apart.abs() <= WITHIN,
        }
    }

    /// A simulated figure, and its difference from the reported one as a part of that.
    fn simulated(&self) -> Option<(f64, f64)> {
        let value = self.quantity.of(self.file, run_of(self.file, self.variant?));
        Some((value, value / self.value - 1.0))
    }

    /// Row of the table.
    fn row(&self) -> String {
        let (file, variant) = (self.file, self.variant.unwrap_or("–"));
        let start = format!("| `{file}` | {variant} | {} |", self.quantity.name());
        let value = numbers::short(self.value);
        match self.simulated() {
            Some((own, apart)) => {
                let own = numbers::short(own);
                let judged = match self.agrees(apart) {
                    _ if !self.is_predicted => "no prediction",
                    true => "near",
                    false => "missed",
                };
                // A difference of zero has no sign of its own.
                let apart = (100.0 * apart).round() + 0.0;
                format!("{start} {value} | {own} | {apart:+.0} % | {judged} | {} |", self.chosen)
            }
            None => format!("{start} {value} | – | – | no run | {} |", self.chosen),
        }
    }
}

#[test]
fn figures_are_those_of_the_reports() {
    let mut table = String::from(
        "| scenario | variant | figure | reported | simulated | apart | | chosen |\n|---|---|---|--:|--:|--:|---|---|\n",
    );
    for own in REPORTED {
        writeln!(table, "{}", own.row()).expect("a string");
    }

    let (mut free, mut missed_freely) = (0, Vec::new());
    for own in REPORTED.iter().filter(|own| own.chosen == NOTHING) {
        let (_, apart) = own.simulated().expect("a run");
        free += 1;
        if !own.agrees(apart) {
            missed_freely.push((own.file, own.variant.expect("a variant")));
        }
    }
    assert_eq!(missed_freely, MISSED);

    let count = |judged: &str| table.matches(&format!("| {judged} |")).count();
    let (near, missed) = (count("near"), count("missed"));
    let summary = format!(
        "\nWhere nothing was chosen, {} of {free} figures are within {:.0} % of the reported ones, and of all predicted ones {near} of {}. \
         The other {} rows are no predictions or have no run.\n",
        free - missed_freely.len(),
        100.0 * WITHIN,
        near + missed,
        REPORTED.len() - near - missed,
    );
    marked::committed("docs/field.md", "reported figures", &(table + &summary));
}
