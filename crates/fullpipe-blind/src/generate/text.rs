//! Text of a draft: an ordinary scenario, without a hint of its cause.

use super::draft::{App, Draft, Host, Other};
use std::fmt::Write;

/// TOML of a draft. Writing to a string cannot fail, here and below.
pub fn text(draft: &Draft) -> String {
    let mut out = String::new();
    let _ = write!(out, "seed = {}\nduration = \"{}ms\"\n\n", draft.seed, draft.duration_ms);
    path(&mut out, draft);
    host(&mut out, "sender", &draft.sender);
    host(&mut out, "receiver", &draft.receiver);
    flow(&mut out, draft);
    for (index, other) in draft.others.iter().enumerate() {
        beside(&mut out, draft, index, other);
    }
    out
}

/// A value in whole units, so that equal drafts have equal texts.
fn whole(value: f64) -> u64 {
    value.round().max(1.0) as u64
}

/// A rate, whole kilobits per second.
fn rate(bits: f64) -> String {
    format!("\"{}kbit\"", whole(bits / 1e3))
}

fn path(out: &mut String, draft: &Draft) {
    let packet = f64::from(draft.mtu + 38);
    let queue = whole((draft.bdp() * draft.queue).max(2.0 * packet));
    let forward = whole(draft.rtt_us * draft.forward);
    let back = whole(draft.rtt_us * (1.0 - draft.forward));
    let _ = write!(out, "[path]\nmtu = {}\nforward = [\n", draft.mtu);

    // Elements on the way of data: losses and policers, then the link, then delays.
    if draft.loss > 0.0 {
        let probability = draft.loss;
        let _ = writeln!(
            out,
            "    {{ kind = \"loss\", name = \"line\", probability = {probability:e} }},"
        );
    }
    if let Some(own) = draft.policer {
        let (rate, burst) = (rate(own.rate), whole(own.burst.max(3.0 * packet)));
        let _ = writeln!(
            out,
            "    {{ kind = \"policer\", name = \"edge\", rate = {rate}, burst = \"{burst}B\" }},"
        );
    }
    let _ = writeln!(
        out,
        "    {{ kind = \"link\", name = \"link\", rate = {}, queue = {{ limit = \"{queue}B\" }} }},",
        rate(draft.rate)
    );
    if let Some(own) = draft.reorder {
        let (late, probability) = (whole(own.late_us), own.probability);
        let _ = writeln!(
            out,
            "    {{ kind = \"reorder\", name = \"lanes\", delay = \"0s\", chosen_delay = \"{late}us\", probability = {probability:.6} }},"
        );
    }
    if draft.jitter_us > 0.0 {
        let width = whole(draft.jitter_us);
        let _ = writeln!(
            out,
            "    {{ kind = \"jitter\", name = \"air\", delay = \"{width}us\", jitter = \"{width}us\", keep_order = true }},"
        );
    }
    let _ = writeln!(
        out,
        "    {{ kind = \"delay\", name = \"delay\", delay = \"{forward}us\" }},\n]\nback = ["
    );

    // Elements on the way of ACKs, in the same order.
    if draft.back_loss > 0.0 {
        let probability = draft.back_loss;
        let _ = writeln!(
            out,
            "    {{ kind = \"loss\", name = \"back-line\", probability = {probability:.6} }},"
        );
    }
    if let Some(own) = draft.back {
        let (rate, queue) = (rate(own), draft.back_queue);
        let _ = writeln!(
            out,
            "    {{ kind = \"link\", name = \"back-link\", rate = {rate}, queue = {{ limit = \"{queue} packets\" }} }},"
        );
    }
    let _ = writeln!(
        out,
        "    {{ kind = \"delay\", name = \"back-delay\", delay = \"{back}us\" }},\n]"
    );
}

fn host(out: &mut String, name: &str, own: &Host) {
    let _ = write!(out, "\n[hosts.{name}]\nkernel = \"{}\"\n", own.kernel);
    let _ = writeln!(out, "nic_rate = {}", rate(own.nic));
    let limit = own.qdisc_limit.map_or(String::new(), |n| format!(", limit = \"{n} packets\""));
    let maxrate = own.maxrate.map_or(String::new(), |bits| format!(", maxrate = {}", rate(bits)));
    let _ = writeln!(out, "qdisc = {{ kind = \"{}\"{limit}{maxrate} }}", own.qdisc);
    let _ = writeln!(out, "tso = {}\ngro = {}\ntimestamps = {}", own.tso, own.gro, own.timestamps);
    let _ = writeln!(out, "tx_ring = \"{} descriptors\"", own.tx_ring);
    let _ = writeln!(out, "rx_ring = \"{} descriptors\"", own.rx_ring);
    let _ = writeln!(out, "tx_coalesce = \"{}us\"", own.tx_coalesce_us.round());
    let _ = writeln!(out, "rx_coalesce = \"{}us\"", own.rx_coalesce_us.round());

    let costs = [own.copy_ps, own.transmit_ns, own.receive_ns, own.ack_ns].map(f64::round);
    let [copy, transmit, receive, ack] = costs;
    let _ = writeln!(
        out,
        "cpu = {{ copy = \"{copy}ps/byte\", transmit = \"{transmit}ns/packet\", receive = \"{receive}ns/packet\", ack = \"{ack}ns/packet\" }}"
    );

    // The default of tcp_rmem must not be above its maximum.
    let (wmem, rmem, first) = (own.wmem, own.rmem, own.rmem.min(131_072));
    let _ = write!(
        out,
        "[hosts.{name}.sysctl]\n\"net.core.wmem_max\" = 1073741824\n\"net.core.rmem_max\" = 1073741824\n\
         \"net.ipv4.tcp_wmem\" = \"4096 16384 {wmem}\"\n\"net.ipv4.tcp_rmem\" = \"4096 {first} {rmem}\"\n\
         \"net.ipv4.tcp_sack\" = {}\n\"net.ipv4.tcp_window_scaling\" = {}\n",
        u8::from(own.sack),
        u8::from(own.scaling)
    );
}

fn flow(out: &mut String, draft: &Draft) {
    let _ = write!(out, "\n[[flow]]\nname = \"data\"\nstart = \"{}ms\"\n", draft.start_ms);
    match draft.bytes {
        Some(bytes) => {
            let _ = writeln!(out, "bytes = \"{bytes}B\"");
        }
        None => {
            let _ = writeln!(out, "duration = \"{}ms\"", draft.duration_ms - draft.start_ms);
        }
    }

    // reno has neither HyStart nor an initial ssthresh.
    let _ = match draft.congestion {
        "cubic" => writeln!(
            out,
            "congestion = {{ name = \"cubic\", hystart = {}, initial_ssthresh = {} }}",
            u8::from(draft.hystart),
            draft.ssthresh
        ),
        other => writeln!(out, "congestion = \"{other}\""),
    };
    let _ = match draft.app {
        App::Bulk => writeln!(out, "app = \"bulk\""),
        App::Rate(bits) => writeln!(out, "app = {{ kind = \"rate\", rate = {} }}", rate(bits)),
        App::OnOff { on, off } => writeln!(
            out,
            "app = {{ kind = \"on-off\", on = \"{}us\", off = \"{}us\" }}",
            whole(on),
            whole(off)
        ),
    };

    let _ = writeln!(out, "write = \"{}B\"", draft.write);
    if let Some(bits) = draft.reader {
        let _ = writeln!(out, "reader = {{ rate = {}, read = \"{}B\" }}", rate(bits), draft.read);
    }
    for (key, bytes) in [("sndbuf", draft.sndbuf), ("rcvbuf", draft.rcvbuf)] {
        if let Some(bytes) = bytes {
            let _ = writeln!(out, "{key} = \"{bytes}B\"");
        }
    }
    if let Some(bits) = draft.pacing {
        let _ = writeln!(out, "sockopt = {{ SO_MAX_PACING_RATE = {} }}", whole(bits / 8.0));
    }
}

/// A flow that is not judged, with its host.
fn beside(out: &mut String, draft: &Draft, index: usize, other: &Other) {
    let host = format!("host{index}");
    if other.own_host {
        let nic = rate(draft.rate * 10.0);
        let _ = write!(
            out,
            "\n[[host]]\nname = \"{host}\"\nbeside = \"sender\"\nset = {{ nic_rate = {nic}, tso = true, \
             tx_ring = \"4096 descriptors\", tx_coalesce = \"0us\", qdisc = {{ kind = \"fq_codel\" }}, cpu = {{}} }}\n\n\
             [[host]]\nname = \"to-{host}\"\nbeside = \"receiver\"\nset = {{ nic_rate = {nic}, \
             rx_ring = \"4096 descriptors\", rx_coalesce = \"0us\", cpu = {{}} }}\n"
        );
    }
    let _ = write!(
        out,
        "\n[[flow]]\nname = \"beside{index}\"\nstart = \"{}ms\"\nduration = \"{}ms\"\ncongestion = \"{}\"\n",
        other.start_ms, other.lasts_ms, other.congestion
    );
    if other.own_host {
        let _ = write!(out, "from = \"{host}\"\nto = \"to-{host}\"\n");
    }
    if let Some(bits) = other.rate {
        let _ = writeln!(out, "app = {{ kind = \"rate\", rate = {} }}", rate(bits));
    }
}
