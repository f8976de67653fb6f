//! From an observation to the values of a twin.
//!
//! Limits:
//! - The other host's settings are not seen. Its buffers are what its window shows, and its kernel is assumed.
//! - Data of other hosts on the path is not seen. The twin's path carries its own flows alone.

use super::known::{Known, Origin};
use super::seen::Seen;
use super::sketch::{Buffer, Sketch, Writer};
use crate::analysis::sockets::facts::{Cut, quantile};
use crate::analysis::sockets::rules::full_path::{BUNCHES, CUT, VARIES};
use crate::base::units::{Framing, Rate, Time};
use crate::numbers::short;

/// Kernel of a host that nothing is known about.
const KERNEL: &str = "6.12";
/// Congestion control of a flow that does not show it.
const CONGESTION: &str = "cubic";
/// Share of looks with a full cwnd from which on cwnd and the path decide.
const CWND: f64 = 0.5;
/// Share of time in which the window stops the sender, from which on it holds the flow.
const WINDOW_HOLDS: f64 = 0.3;
/// Part of the path's product below which a queue in front of it has nothing to overflow with.
const BELOW: f64 = 0.9;
/// Room of an assumed path over what the flow has used: enough that it does not hold the twin.
const ROOM: f64 = 2.0;
/// Least assumed queue, packets.
const LEAST_QUEUE: f64 = 100.0;
/// Longest life that a twin has before its first look.
const OLDEST: Time = Time::secs(60);
/// Part of the receive buffer's memory that the window is in the twin's kernels with full packets.
const WINDOW: f64 = 0.6;
/// Scale of a window of 64 KiB or twice that: only a buffer that its program asked for has so small a one.
const UNSCALED: u8 = 1;
/// Rate of a card that a capture does not show.
const CARD: Rate = Rate(25_000_000_000);
/// Rate of a card that holds nothing back.
const AT_ONCE: Rate = Rate(1_000_000_000_000);
/// Part of a window or a rate by which the twin's may differ and still count as the same.
const CLOSE: f64 = 0.03;

/// Group of the cause that holds the flow; each needs another twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The path, by its rate and its queue, or its losses.
    Path,
    /// The receiver's window.
    Window,
    /// The reading program.
    Reader,
    /// The sender's buffer.
    SendBuffer,
    /// The writing program.
    Writer,
}

/// Holder of the flow: the path, where a queue stands in front of it, else by the verdict.
pub fn holder(seen: &Seen) -> Holder {
    // A queue in front of a link that is never idle is the path's, whatever else looks alike.
    if has_queue(seen) && !["send buffer", "window"].contains(&&seen.group[..]) {
        return Holder::Path;
    }
    let is_held = seen.facts.main.rwnd >= WINDOW_HOLDS;
    match &seen.group[..] {
        "window" | "memory of all sockets" => Holder::Window,
        "reader" if is_held => Holder::Reader,
        "send buffer" => Holder::SendBuffer,
        "source" | "pauses" => Holder::Writer,
        _ => Holder::Path,
    }
}

/// Whether the rate of the path is seen: cwnd is full, and RTT shows a queue while the rate stays.
fn has_queue(seen: &Seen) -> bool {
    let facts = &seen.facts;
    let is_steady = seen.usual_mbit() >= VARIES * seen.peak_mbit();
    facts.main.cwnd_full >= CWND && facts.queue() >= BUNCHES && is_steady
}

/// The twin's values, on a path of that rate where the user knows it.
pub fn sketch(seen: &Seen, given: Option<Rate>) -> Sketch {
    let facts = &seen.facts;
    let holder = holder(seen);
    let mtu = facts.pmtu.max(68);
    let mut sketch = Sketch {
        connection: seen.connection.clone(),
        rate: rate(seen, given),
        queue: Known::assumed(0, ""),
        mtu: Known::measured(
            mtu,
            by(seen, ["MTU of the path, by its socket", "the largest segment"]),
        ),
        rtt: Known::measured(
            Time::us(facts.min_rtt_us.round() as u64),
            by(seen, ["least RTT of the socket", "least RTT of the packets"]),
        ),
        loss: None,
        kernels: kernels(seen),
        timestamps: Known::measured(seen.timestamps, "options of the connection"),
        options: options(seen),
        send: send(seen, holder),
        receive: receive(seen, holder),
        qdisc: qdisc(seen),
        card: card(seen),
        congestion: congestion(seen),
        pace: facts.max_pace_mbit.map(|mbit| {
            let bytes = (mbit * 1e6 / 8.0) as u64;
            Known::measured(bytes, "max_pacing_rate of the socket")
        }),
        writer: (holder == Holder::Writer).then(|| writer(seen)),
        reader: (holder == Holder::Reader).then(|| {
            let rate = whole(seen.figures.mbit / f64::from(seen.flows.max(1)));
            Known::derived(rate, "the receiving program holds the flow: its rate is the flow's")
        }),
        flows: match seen.flows {
            1 => Known::measured(
                1,
                by(
                    seen,
                    ["connections to this host at this time", "the captured connection alone"],
                ),
            ),
            n => Known::measured(n, "parallel connections to this host"),
        },
        lasts: lasts(seen),
    };
    (sketch.queue, sketch.loss) = queue_and_loss(seen, &sketch);
    sketch
}

/// The words for what sockets, or else packets, show.
fn by(seen: &Seen, [sockets, packets]: [&'static str; 2]) -> &'static str {
    if seen.captured_at.is_some() { packets } else { sockets }
}

/// A rate in whole kbit/s.
fn whole(mbit: f64) -> Rate {
    Rate(((mbit * 1e3).round() as u64).max(1) * 1000)
}

/// Rate of the wire for so much payload.
fn of_wire(seen: &Seen, mbit: f64) -> Rate {
    let packet = f64::from(seen.facts.pmtu.max(68) + Framing::EthernetWire.overhead());
    whole(mbit * packet / f64::from(seen.facts.mss.max(1)))
}

fn rate(seen: &Seen, given: Option<Rate>) -> Known<Rate> {
    if let Some(rate) = given {
        return Known::given(rate, "--rate");
    }
    if has_queue(seen) {
        return Known::derived(
            of_wire(seen, seen.usual_mbit()),
            "a queue stands in front of the path, so its rate is the flow's",
        );
    }
    let room = of_wire(seen, ROOM * seen.peak_mbit());

    // A burst comes out of the path at the rate of its narrowest link.
    let train = seen.facts.pasted.wire.and_then(|own| own.train_mbit);
    if let Some(train) = train.map(|mbit| of_wire(seen, mbit)).filter(|own| own.0 > room.0) {
        return Known::derived(train, "bursts arrive at that rate");
    }
    let why = format!(
        "nothing shows what the path carries; it is at least the {} Mb/s seen, and twice as much does not hold the \
         twin. --rate says the real one",
        short(seen.peak_mbit())
    );
    Known::assumed(room, why)
}

fn kernels(seen: &Seen) -> [Known<String>; 2] {
    let own = match &seen.settings.kernel[..] {
        "" => Known::assumed(KERNEL.to_string(), "the kernel is not known"),
        kernel => {
            Known::measured(kernel.to_string(), "uname -r; the nearest profile stands for it")
        }
    };
    let why = "the other host's kernel is not seen; the same as this one's";
    [own.clone(), Known::assumed(own.value, why)]
}

fn options(seen: &Seen) -> Vec<(&'static str, Known<bool>)> {
    let off = |name, is_on: bool| {
        (!is_on).then(|| (name, Known::measured(false, "options of the connection")))
    };
    let all = [
        off("net.ipv4.tcp_sack", seen.facts.sack),
        off("net.ipv4.tcp_window_scaling", seen.facts.wscale),
    ];
    all.into_iter().flatten().collect()
}

/// The algorithm of the socket, or the one that packets show.
fn congestion(seen: &Seen) -> Known<String> {
    match (&seen.facts.congestion[..], seen.control) {
        ("", Some(own)) => Known::derived(own.name.into(), "packets in flight behind losses"),
        ("", None) => Known::assumed(CONGESTION.into(), "not seen; Linux's default"),
        (own, _) => Known::measured(own.into(), "the socket"),
    }
}

/// The send buffer, by this host's sysctls and the program's request.
fn send(seen: &Seen, holder: Holder) -> Buffer {
    let own = &seen.settings;

    // A buffer that holds the flow is as large as its socket says.
    let most = own.tcp_wmem.map_or(u64::MAX, |own| own[2]);
    let limit = Some(seen.facts.buffer.limit as u64);
    let is_small = |limit: &u64| holder == Holder::SendBuffer && *limit > 0 && *limit < most;
    let asked = own.sndbuf.or(limit.filter(is_small).map(|limit| limit / 2));
    let tuned = match own.tcp_wmem {
        Some(three) if seen.captured_at.is_some() => {
            Known::derived(Some(three), "the buffer holds the flow: what is in flight at most")
        }
        Some(three) => Known::measured(Some(three), "sysctl of this host"),
        None => Known::assumed(None, "not seen; the kernel's default"),
    };
    let asked = asked.map(|bytes| {
        Known::derived(bytes, "SO_SNDBUF: the buffer holds the flow, and is smaller than tcp_wmem")
    });

    // A privileged program may ask for more than the sysctl allows.
    let most = own.wmem_max.map(|most| match &asked {
        Some(asked) if asked.value > most => {
            Known::derived(asked.value, "the program has more than wmem_max")
        }
        _ if seen.captured_at.is_some() => Known::derived(most, "no less than SO_SNDBUF"),
        _ => Known::measured(most, "sysctl of this host"),
    });
    Buffer { tuned, asked, most }
}

/// The receive buffer, as far as the window shows it.
fn receive(seen: &Seen, holder: Holder) -> Buffer {
    let window = seen.figures.window;
    let default = "not seen, and the window does not hold the flow; the kernel's default";
    let tuned = Known::assumed(None, default);
    let mut buffer = Buffer { tuned, asked: None, most: None };
    if ![Holder::Window, Holder::Reader].contains(&holder) {
        return buffer;
    }
    let memory = (window / WINDOW) as u64;
    let kb = short(window / 1e3);
    match seen.facts.wscale && seen.window_scale <= UNSCALED {
        true => {
            let why = format!(
                "SO_RCVBUF of the receiver: the window of {kb} kB has a scale of {}, which tcp_rmem would make larger",
                seen.window_scale
            );
            buffer.asked = Some(Known::derived((memory / 2).max(1), why));
        }
        false => {
            let why = format!("the receiver's window stays at {kb} kB");
            let three = match holder {
                // A slow reader keeps the kernel from tuning: the window is that of the buffer so far.
                Holder::Reader => [4096.min(memory), memory, memory],
                _ => [4096.min(memory), 131_072.min(memory), memory],
            };
            buffer.tuned = Known::derived(Some(three), why);
        }
    }
    buffer
}

fn qdisc(seen: &Seen) -> Known<Option<String>> {
    let own = &seen.facts.own;
    let measured = |text: String| Known::measured(Some(text), "qdisc of the device (tc qdisc)");
    match (&own.qdisc[..], own.maxrate_mbit) {
        ("fq", Some(mbit)) => {
            let rate = whole(mbit);
            measured(format!("{{ kind = \"fq\", maxrate = \"{rate}\" }}"))
        }
        ("fq" | "fq_codel" | "codel" | "pfifo_fast", _) => {
            measured(format!("{{ kind = \"{}\" }}", own.qdisc))
        }
        ("", _) => Known::assumed(None, "not seen; pfifo_fast"),
        (other, _) => Known::assumed(None, format!("pfifo_fast stands for {other}")),
    }
}

/// The card of this host. What has left a host at once holds nothing back there, so a socket may queue more than its buffer.
fn card(seen: &Seen) -> Known<Rate> {
    match seen.facts.own.card_mbit {
        Some(mbit) => Known::measured(whole(mbit), "speed of the device"),
        None if seen.captured_at.is_some() => Known::assumed(CARD, "not seen"),
        None => at_once(),
    }
}

fn at_once() -> Known<Rate> {
    Known::assumed(
        AT_ONCE,
        "the speed of the device is not seen; packets leave at once, as on virtual devices",
    )
}

/// Cards of this host that fit what was seen: a send buffer holds more in front of a virtual device than of a card.
pub fn cards(seen: &Seen) -> Vec<Known<Rate>> {
    let own = card(seen);
    let is_open = own.value == CARD && own.origin == Origin::Assumed;
    std::iter::once(own).chain(is_open.then(at_once)).collect()
}

/// The writing program: its rate, and what it writes at once.
fn writer(seen: &Seen) -> Known<Writer> {
    let flows = f64::from(seen.flows.max(1));
    let rate = whole(seen.figures.mbit / flows);
    let write = (seen.largest_held as u64).clamp(1, 4 << 20);
    let why = "the sending program holds the flow: its rate is the flow's, and a write is what the socket holds at most";
    Known::derived(Writer { rate, write }, why)
}

/// Life of the flows: the time before the first look, and the looks.
fn lasts(seen: &Seen) -> Known<Time> {
    let looked = seen.span[1];
    let before = before(seen);
    let why = match before < seen.age {
        true => "the connection is older; the flow has settled by then".to_string(),
        false => format!(
            "{} s with data before the first look, and {} s of looks",
            short(before.as_secs_f64()),
            short(looked.as_secs_f64())
        ),
    };
    Known::derived(before + looked + Time::secs(1), why)
}

/// Life of the twin before the first look.
pub fn before(seen: &Seen) -> Time {
    seen.age.min(OLDEST)
}

/// Factor on cwnd at a loss; none where it is not a constant of the algorithm.
fn reduction(congestion: &str) -> Option<f64> {
    match congestion {
        // CUBIC's beta (RFC 9438, section 4.6); Reno's (RFC 5681, section 3.1).
        "cubic" => Some(0.7),
        "reno" => Some(0.5),
        _ => None,
    }
}

/// Fits the receive buffer to the window seen; says whether it had to.
pub fn fit_window(seen: &Seen, buffer: &mut Buffer, window: f64) -> bool {
    let ratio = seen.figures.window / window.max(1.0);
    let bound = buffer.bound().filter(|_| (ratio - 1.0).abs() > CLOSE);
    if let Some(bound) = bound {
        let kb = short(seen.figures.window / 1e3);
        let why = format!("memory with which the twin offers the window seen, {kb} kB");
        buffer.set_bound((bound as f64 * ratio).round() as u64, why);
    }
    bound.is_some()
}

/// Fits the probability of chance losses to the rate that they leave; says whether it had to.
///
/// Rates fall with the square root of the probability, or less. A count of losses bounds it by twice its deviation.
pub fn fit_loss(seen: &Seen, sketch: &mut Sketch, mbit: f64) -> bool {
    let Some(loss) = &mut sketch.loss else { return false };
    let ratio = mbit / seen.figures.mbit;
    let lost = seen.facts.loss.retransmitted.max(1) as f64;
    let spread = 2.0 / lost.sqrt();
    let counted = seen.facts.loss.share;
    let bounds = [counted * (1.0 - spread).max(0.25), counted * (1.0 + spread)];
    let fitted = (loss.value * ratio.powi(2)).clamp(bounds[0], bounds[1]);
    let goes_on = (ratio - 1.0).abs() > CLOSE && (fitted / loss.value - 1.0).abs() > CLOSE;
    if goes_on {
        let why = format!(
            "{lost} segments were sent again while no queue stood; this probability leaves the rate seen"
        );
        *loss = Known::derived(fitted, why);
    }
    goes_on
}

/// Queue in front of the path, packets, and the losses that it does not explain.
fn queue_and_loss(seen: &Seen, sketch: &Sketch) -> (Known<u64>, Option<Known<f64>>) {
    let facts = &seen.facts;
    let (product, flows) = (sketch.product(), f64::from(seen.flows.max(1)));
    let packets = |own: f64| own.round().max(1.0) as u64;
    let is_known = sketch.rate.origin != Origin::Assumed;
    let usual = Known::assumed(
        packets(product.max(LEAST_QUEUE)),
        "not seen; rate x RTT, and no less than 100 packets",
    );
    let median = |of: fn(&Cut) -> f64| {
        let all: Vec<f64> = facts.loss.cuts.iter().map(of).collect();
        quantile(&all, 0.5)
    };
    let (cwnd, rtt) = (flows * median(|cut| cut.cwnd), median(|cut| cut.rtt));

    // Losses while a queue stands are its overflow. cwnd has grown since the drop, and srtt lags behind it.
    if is_known && !facts.loss.cuts.is_empty() && rtt >= CUT {
        let by_cwnd = cwnd - product;
        let by_rtt = (rtt - 1.0) * product;
        let why = format!(
            "at losses RTT is {} times the least, and {} packets are in flight",
            short(rtt),
            short(cwnd)
        );
        return (Known::derived(packets((by_cwnd + by_rtt) / 2.0), why), None);
    }
    let lost = facts.loss.retransmitted;
    if lost > 0 && !facts.loss.cuts.is_empty() {
        // A queue has nothing to overflow with below the product.
        let is_short = is_known && cwnd >= BELOW * product;
        if is_short {
            let why = format!("losses come with {} packets in flight", short(cwnd));
            return (Known::derived(packets((cwnd - product).max(10.0)), why), None);
        }
        let why = format!("{lost} segments were sent again, while no queue stood");
        return (usual, Some(Known::derived(facts.loss.share, why)));
    }
    if !has_queue(seen) {
        return (usual, None);
    }

    // A loss before the first look has left an ssthresh; slow start may have set it without one.
    let most = flows * facts.cwnd.largest;
    let kept = seen.first_ssthresh.filter(|_| seen.lost_before > 0);
    if let (Some(kept), Some(beta)) = (kept, reduction(&facts.congestion)) {
        let at_loss = flows * f64::from(kept) / beta;
        if at_loss >= most {
            let why = format!(
                "ssthresh of {kept} packets is what {} left of cwnd at its last loss",
                facts.congestion
            );
            return (Known::derived(packets(at_loss - product), why), None);
        }
    }
    let stood = (most - product).max(1.0);
    let why =
        format!("{} packets have stood in it without a loss; twice as many fit", short(stood));
    (Known::assumed(packets((ROOM * stood).max(product)), why), None)
}
