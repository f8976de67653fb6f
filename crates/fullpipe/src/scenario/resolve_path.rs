//! The path: short form into elements, defaults of queues, names of stages.

use super::format::context::{Context, Place};
use super::format::elements::{Element as Written, Elements};
use super::format::keys::At;
use super::format::values::{Probability, twice};
use super::format::written;
use super::resolved::*;
use fullpipe_sim::config::QueueLimit;
use fullpipe_sim::units::{Framing, Rate, Time};

/// Least length of a queue by default, in packets of the MTU.
const LEAST_QUEUE: u64 = 100;

/// Resolves the path.
pub fn path(path: &written::Path, cx: &mut Context) -> Option<Path> {
    let mtu = path.mtu.as_ref()?.value.0 as u32;
    let mut resolved = match (&path.forward, &path.back) {
        (None, None) => short(path, mtu, cx)?,
        (forward, back) => {
            conflicts(path, cx);
            let mut list = |list: &Option<At<Elements>>| {
                let elements = list.iter().flat_map(|list| &list.value.0);
                elements.map(|element| self::element(element, mtu, cx)).collect::<Option<Vec<_>>>()
            };
            let (forward, back) = (list(forward), list(back));
            distinct(path, cx);
            Path { mtu, forward: forward?, back: back? }
        }
    };
    fill_queues(&mut resolved);
    Some(resolved)
}

/// Reports keys of the short form beside lists.
fn conflicts(path: &written::Path, cx: &mut Context) {
    let place = |at: Option<(Place, bool)>| at.filter(|(_, written)| *written);
    let short = [
        ("rate", place(path.rate.as_ref().map(|at| (at.place, at.written)))),
        ("framing", place(path.framing.as_ref().map(|at| (at.place, at.written)))),
        ("delay", place(path.delay.as_ref().map(|at| (at.place, at.written)))),
        ("queue", place(path.queue.as_ref().map(|at| (at.place, at.written)))),
        ("loss", place(path.loss.as_ref().map(|at| (at.place, at.written)))),
    ];
    for (key, place) in short {
        if let Some((place, _)) = place {
            let message = format!("`path.{key}` stands beside a list of elements");
            cx.error("conflict", place, message)
                .expected("either one bottleneck, or the lists `forward` and `back`");
        }
    }
}

/// Reports elements of one name.
fn distinct(path: &written::Path, cx: &mut Context) {
    let lists = [&path.forward, &path.back];
    let elements = lists.into_iter().flatten().flat_map(|list| &list.value.0);
    let names: Vec<(&str, Place)> = elements
        .filter_map(|element| match element {
            Written::Link(e) => e.name.as_ref(),
            Written::Delay(e) => e.name.as_ref(),
            Written::Loss(e) => e.name.as_ref(),
        })
        .map(|name| (name.value.0.as_str(), name.place))
        .collect();
    twice(&names, "elements of the path", cx);
}

/// The short form as elements.
fn short(path: &written::Path, mtu: u32, cx: &mut Context) -> Option<Path> {
    let Some(rate) = &path.rate else {
        if !path.wrong {
            cx.error("missing-key", path.place, "the path needs `rate`")
                .expected("rate = \"10Gbit\", or a list of elements `forward`");
        }
        return None;
    };
    let (queue, framing) = (&path.queue.as_ref()?.value, path.framing.as_ref()?.value);
    holds_a_packet(queue, mtu + framing.overhead(), cx)?;
    let link = link("link", Rate(rate.value.0), framing, queue)?;
    let delay = &path.delay.as_ref()?.value;
    let [to, from] = [&delay.forward, &delay.back].map(|at| at.as_ref().map(|at| at.value.0));
    let loss = path.loss.as_ref().map(|loss| &loss.value.0);
    let forward = [
        loss.and_then(|loss| short_loss("loss", &loss.forward)),
        Some(Element::Link(link)),
        short_delay("delay", to?, delay, cx)?,
    ];
    let back = [
        loss.and_then(|loss| short_loss("back-loss", &loss.back)),
        short_delay("back-delay", from?, delay, cx)?,
    ];
    let forward = forward.into_iter().flatten().collect();
    Some(Path { mtu, forward, back: back.into_iter().flatten().collect() })
}

/// The loss of one direction, if there is any.
fn short_loss(name: &str, probability: &Option<At<Probability>>) -> Option<Element> {
    let probability = probability.as_ref()?.value.0;
    (probability > 0.0).then(|| Element::Loss(Loss { name: name.into(), probability }))
}

/// The delay of one direction, if there is any. None outside: something is wrong.
fn short_delay(
    name: &str,
    time: u64,
    delay: &written::PathDelay,
    cx: &mut Context,
) -> Option<Option<Element>> {
    let limit = delay.limit.as_ref()?.value.0;
    let timer = optional_timer(&delay.timer, cx)?;
    let element = Delay { name: name.into(), delay: Time::ns(time), limit, timer };
    Some((time > 0).then_some(Element::Delay(element)))
}

/// Stands for a queue's limit until the whole path is known.
const UNSET: QueueLimit = QueueLimit::Bytes(0);

/// A queue that takes no full packet is reported: nothing could be sent through it that has to wait.
fn holds_a_packet(queue: &written::PathQueue, packet: u32, cx: &mut Context) -> Option<()> {
    let Some(limit) = &queue.limit else { return Some(()) };
    match limit.value.0 {
        QueueLimit::Bytes(bytes) if bytes < u64::from(packet) => {
            cx.error("out-of-range", limit.place, "the queue holds less than one packet")
                .expected(format!("at least {packet}B, a packet of the MTU as the link counts it"));
            None
        }
        _ => Some(()),
    }
}

fn link(name: &str, rate: Rate, framing: Framing, queue: &written::PathQueue) -> Option<Link> {
    queue.discipline.as_ref()?;
    let limit = queue.limit.as_ref().map_or(UNSET, |limit| limit.value.0);
    let queue = Queue { limit, discipline: "droptail".into() };
    Some(Link { name: name.into(), rate, framing, queue })
}

/// The timer, if one is written. None outside: something is wrong.
fn optional_timer(at: &Option<At<written::Timer>>, cx: &mut Context) -> Option<Option<Timer>> {
    let Some(At { value: timer, .. }) = at else { return Some(None) };
    let hz = timer.hz.as_ref()?.value.0 as u32;
    let phase = timer.phase.as_ref()?;
    let period = Time::ns(1_000_000_000 / u64::from(hz));
    if phase.value.0 >= period.as_ns() {
        cx.error("out-of-range", phase.place, format!("`phase` is {}", Time::ns(phase.value.0)))
            .expected(format!("less than a period, {period}"));
        return None;
    }
    Some(Some(Timer { hz, phase: Time::ns(phase.value.0) }))
}

fn element(element: &Written, mtu: u32, cx: &mut Context) -> Option<Element> {
    Some(match element {
        Written::Link(e) => {
            let rate = Rate(e.rate.as_ref()?.value.0);
            let framing = e.framing.as_ref()?.value;
            let (name, queue) = (&e.name.as_ref()?.value.0, &e.queue.as_ref()?.value);
            holds_a_packet(queue, mtu + framing.overhead(), cx)?;
            Element::Link(link(name, rate, framing, queue)?)
        }
        Written::Delay(e) => Element::Delay(Delay {
            name: e.name.as_ref()?.value.0.clone(),
            delay: Time::ns(e.delay.as_ref()?.value.0),
            limit: e.limit.as_ref()?.value.0,
            timer: optional_timer(&e.timer, cx)?,
        }),
        Written::Loss(e) => Element::Loss(Loss {
            name: e.name.as_ref()?.value.0.clone(),
            probability: e.probability.as_ref()?.value.0,
        }),
    })
}

/// Gives queues without a limit one of the bandwidth-delay product.
fn fill_queues(path: &mut Path) {
    let trip = round_trip(path);
    let mtu = path.mtu;
    for element in path.forward.iter_mut().chain(&mut path.back) {
        if let Element::Link(link) = element
            && link.queue.limit == UNSET
        {
            let product = u128::from(link.rate.0) * u128::from(trip.as_ns()) / 8_000_000_000;
            let least = LEAST_QUEUE * u64::from(mtu + link.framing.overhead());
            let bytes = u64::try_from(product).unwrap_or(u64::MAX).clamp(least, 1 << 50);
            link.queue.limit = QueueLimit::Bytes(bytes);
        }
    }
}

/// The delay of both directions.
pub fn round_trip(path: &Path) -> Time {
    let elements = path.forward.iter().chain(&path.back);
    elements.fold(Time::ZERO, |sum, element| match element {
        Element::Delay(delay) => sum + delay.delay,
        _ => sum,
    })
}

/// The rate of the fastest link.
pub fn fastest(path: &Path) -> Option<Rate> {
    let elements = path.forward.iter().chain(&path.back);
    let rates = elements.filter_map(|element| match element {
        Element::Link(link) => Some(link.rate),
        _ => None,
    });
    rates.max()
}
