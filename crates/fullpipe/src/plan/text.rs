//! A plan as text of at most 80 columns.

use crate::numbers;
use crate::sizing::Plan;
use crate::sizing::growth::{Recovery, SlowStart};
use crate::sizing::loss::Tolerance;
use crate::sizing::window::{Bound, Buffers, Window};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The whole plan.
pub fn render(plan: &Plan) -> String {
    let mut out = String::new();
    path(&mut out, plan);
    window(&mut out, &plan.window);
    buffers(&mut out, &plan.buffers);
    growth(&mut out, &plan.slow_start, &plan.recovery);
    loss(&mut out, &plan.loss);
    out
}

/// The path in two lines, and where the rest is.
pub fn brief(plan: &Plan) -> String {
    let mut out = String::new();
    let path = &plan.path;
    first_line(&mut out, path);
    line(&mut out, "window that fills it", &bytes(plan.window.needed_bytes));
    out.push_str("Window, slow start, recovery and tolerated loss: --full\n");
    out
}

/// A line of a section: label, value. Writing to a string cannot fail.
fn line(out: &mut String, label: &str, value: &str) {
    let _ = writeln!(out, "  {label:<26} {value}");
}

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n{text}");
}

fn path(out: &mut String, plan: &Plan) {
    let path = &plan.path;
    first_line(out, path);
    line(out, "bandwidth-delay product", &bytes(path.bdp_bytes));
    line(out, "", &format!("{:.1} packets", path.bdp_packets));
    line(out, "segment", &format!("{} bytes of payload", path.mss_bytes));
    line(out, "highest payload rate", &format!("{:.1} Mb/s", path.payload_mbit));
}

/// "Path: 10Gbit (ethernet-wire) x 80 ms, MTU 1500, Linux 6.12".
fn first_line(out: &mut String, path: &crate::sizing::PathFacts) {
    let rate = fullpipe_base::units::Rate(path.rate_bit_per_s);
    let (rtt, mtu) = (path.rtt_s * 1e3, path.mtu_bytes);
    let kernel = format!("{}{}", path.kernel, if path.unvalidated { " (unvalidated)" } else { "" });
    let _ = writeln!(out, "Path: {rate} ({}) x {rtt} ms, MTU {mtu}, Linux {kernel}", path.framing);
}

fn window(out: &mut String, window: &Window) {
    heading(out, "Window");
    line(out, "needed", &bytes(window.needed_bytes));
    if let Some(bound) = &window.bound {
        self::bound(out, window, bound);
    }
    line(out, "in segments", &window.packets.to_string());
    line(out, "window scale", &window.scale.to_string());
}

fn bound(out: &mut String, window: &Window, bound: &Bound) {
    line(out, "one connection has", &bytes(window.bytes));
    let _ = writeln!(out, "  limited by {}:", bound.reason);
    let rate =
        format!("{:.1} Mb/s; {} connections fill the path", bound.mbit_per_flow, bound.flows);
    line(out, "at most per connection", &rate);
}

fn buffers(out: &mut String, b: &Buffers) {
    heading(out, "Socket buffers (setsockopt doubles what is requested)");
    line(out, "share that is window", &format!("{:.3}: {}", b.window_share, b.window_share_rule));
    if b.window_share_measured {
        line(out, "", "autotuned: payload / truesize of the driver");
    }
    line(out, "request SO_RCVBUF", &bytes(b.receive_request_bytes));
    line(out, "  as the kernel counts", &bytes(b.receive_bytes));
    line(out, "request SO_SNDBUF", &bytes(b.send_request_bytes));
    line(out, "  as the kernel counts", &bytes(b.send_bytes));
    line(out, "  truesize of a segment", &format!("{} bytes", b.send_truesize_bytes));
    if !b.sysctl_request.is_empty() {
        sysctls(out, "sysctls, only for programs that request buffers", &b.sysctl_request);
    }
}

fn sysctls(out: &mut String, title: &str, values: &BTreeMap<String, String>) {
    heading(out, title);
    for (name, value) in values {
        let _ = writeln!(out, "  sysctl -w {name}=\"{value}\"");
    }
}

fn growth(out: &mut String, start: &SlowStart, back: &Recovery) {
    heading(out, "Slow start (until the window is full)");
    line(out, "initial cwnd", &format!("{} packets", start.initial_cwnd_packets));
    let round = |rounds: u32, s: f64| format!("{rounds} round trips, {s:.3} s");
    line(out, "every packet acknowledged", &round(start.rounds, start.seconds));
    let delayed = round(start.rounds_delayed_ack, start.seconds_delayed_ack);
    line(out, "every second one", &delayed);
    heading(out, "From one loss back to the full window (no queue)");
    line(out, "reno", &format!("{:.1} s", back.reno_seconds));
    line(out, "reno, delayed ACKs", &format!("{:.1} s", back.reno_seconds_delayed_ack));
    line(out, "cubic (RFC 9438)", &format!("{:.1} s", back.cubic_seconds));
}

fn loss(out: &mut String, table: &[Tolerance]) {
    heading(out, "Loss tolerated with the path full");
    let (p, packets, seconds) = ("probability", "packets between", "seconds between");
    let _ = writeln!(out, "  {:<20} {p:>11} {packets:>17} {seconds:>17}", "algorithm");
    for t in table {
        let between = format!("{:>17.3e} {:>17.1}", t.packets_between, t.seconds_between);
        let _ = writeln!(out, "  {:<20} {:>11.1e} {between}", t.algorithm, t.probability);
    }
    for t in table {
        let _ = writeln!(out, "  {}: {}", t.algorithm, t.source);
    }
}

/// Bytes exactly, grouped, and as MiB.
fn bytes(n: u64) -> String {
    let mib = n as f64 / (1 << 20) as f64;
    format!("{} bytes = {} MiB", numbers::count(n), numbers::fixed(mib, 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Version;
    use crate::sizing::{Question, plan};
    use fullpipe_base::units::{Framing, Rate, Time};

    fn text(rate: Rate, kernel: Version) -> String {
        let question = Question {
            rate,
            rtt: Time::ms(80),
            mtu: 9000,
            framing: Framing::Ip,
            kernel,
            timestamps: false,
        };
        render(&plan(&question).unwrap())
    }

    #[test]
    fn bytes_are_grouped_by_thousands() {
        assert_eq!(bytes(0), "0 bytes = 0.00 MiB");
        assert_eq!(bytes(1_048_576), "1,048,576 bytes = 1.00 MiB");
        assert_eq!(bytes(999), "999 bytes = 0.00 MiB");
    }

    #[test]
    fn every_part_is_shown_within_80_columns() {
        for rate in [Rate(1), Rate::gbit(10), Rate::gbit(1_000_000)] {
            for kernel in [Version::new(2, 6, 20), Version::new(6, 6, 0), Version::new(6, 12, 0)] {
                let text = text(rate, kernel);
                for line in text.lines() {
                    assert!(line.chars().count() <= 80, "{line}");
                }
                for part in ["Path:", "window scale", "SO_SNDBUF", "initial cwnd", "RFC 9438"] {
                    assert!(text.contains(part), "{part}");
                }
            }
        }
    }

    /// A sysctl that would lower the kernel's default is not printed.
    #[test]
    fn no_sysctl_is_below_its_default() {
        assert!(!text(Rate::mbit(1), Version::new(6, 12, 0)).contains("rmem_max"));
        assert!(text(Rate::gbit(10), Version::new(6, 12, 0)).contains("rmem_max=\"9957"));
    }

    #[test]
    fn a_bound_is_stated_where_there_is_one() {
        let old = Version::new(2, 6, 20);
        assert!(text(Rate::gbit(400), old).contains("TCP's largest window"));
        assert!(!text(Rate::gbit(10), old).contains("limited by"));
    }
}
