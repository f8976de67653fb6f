//! The path as a whole: its short form as elements, names of stages, and defaults that depend on all elements.

use super::{Delay, Element, Elements, Link, Loss, Path, Whole, delay, keys, needed, queue};
use crate::format::context::{Context, Place};
use crate::format::keys::At;
use crate::format::values::{AnyRate, Probability, twice};
use crate::source::Source;
use fullpipe_base::units::{Rate, Time};
use fullpipe_sim::config::{Direction, Unit};

/// Traffic of a path.
#[derive(Clone, Copy)]
pub struct Traffic<'a> {
    /// Names of the flows, and the directions of their data.
    pub flows: &'a [(String, Direction)],
    /// Whether any data, of flows or of datagrams, is backward.
    pub backward: bool,
}

/// Resolves the path of a scenario from `source` for the `traffic` that it carries.
pub fn path(
    path: &keys::Path,
    source: &Source,
    traffic: Traffic,
    cx: &mut Context,
) -> Option<Path> {
    let mtu = path.mtu.as_ref()?.value.0 as u32;
    let flows = traffic.flows;

    // The round trip is known only when all elements are.
    let mut whole = Whole { mtu, round_trip: Time::ZERO, forward: true, source, flows };
    let mut resolved = match (&path.forward, &path.back) {
        (None, None) => short(path, mtu, traffic.backward, cx)?,
        (forward, back) => {
            // Lists replace the short form: both together would be ambiguous.
            conflicts(path, cx);
            let forward = list(forward, &whole, cx);
            whole.forward = false;
            let back = list(back, &whole, cx);
            distinct(path, cx);
            Path { mtu, gso: false, forward: forward?, back: back? }
        }
    };
    resolved.gso = *needed(&path.gso)?;

    // Defaults that depend on the round trip follow in a second pass.
    whole.round_trip = resolved.round_trip();
    let Path { forward, back, .. } = &mut resolved;
    forward.iter_mut().chain(back).for_each(|element| element.complete(&whole));
    Some(resolved)
}

fn list(list: &Option<At<Elements>>, whole: &Whole, cx: &mut Context) -> Option<Vec<Element>> {
    let elements = list.iter().flat_map(|list| &list.value.0);
    let elements: Vec<_> = elements.map(|element| element.resolve(whole, cx)).collect();
    elements.into_iter().collect()
}

/// Reports keys of the short form where there are lists, too.
fn conflicts(path: &keys::Path, cx: &mut Context) {
    // Defaults of these keys do not count as written.
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
fn distinct(path: &keys::Path, cx: &mut Context) {
    let lists = [&path.forward, &path.back];
    let elements = lists.into_iter().flatten().flat_map(|list| &list.value.0);
    let names: Vec<(&str, Place)> = elements
        .filter_map(|element| element.name())
        .map(|name| (name.value.0.as_str(), name.place))
        .collect();
    twice(&names, "elements of the path", cx);
}

/// The short form as elements. With `backward` data the way back has a link, too.
fn short(path: &keys::Path, mtu: u32, backward: bool, cx: &mut Context) -> Option<Path> {
    let Some(rate) = &path.rate else {
        if !path.wrong {
            cx.error("missing-key", path.place, "the path needs `rate`")
                .expected("rate = \"10Gbit\", or a list of elements `forward`");
        }
        return None;
    };
    let rates = &rate.value.0;
    let framing = *needed(&path.framing)?;
    let queue = queue::queue(needed(&path.queue)?, mtu + framing.overhead(), cx)?;
    let link = |name: &str, rate: AnyRate| {
        Element::Link(Link { name: name.into(), rate: Rate(rate.0), framing, queue: queue.clone() })
    };
    let there = *needed(&rates.forward)?;

    // The way back gets a link only if it has a rate, or data.
    let back = needed(&rates.back).copied().or(backward.then_some(there));

    let delay = needed(&path.delay)?;
    let [to, from] = [&delay.forward, &delay.back].map(|at| at.as_ref().map(|at| at.value.0));
    let loss = path.loss.as_ref().map(|loss| &loss.value.0);

    // Losses come before the queue, so that lost packets take no room.
    let forward = [
        loss.and_then(|loss| short_loss("loss", &loss.forward)),
        Some(link("link", there)),
        short_delay("delay", to?, delay, cx)?,
    ];
    let back = [
        loss.and_then(|loss| short_loss("back-loss", &loss.back)),
        back.map(|rate| link("back-link", rate)),
        short_delay("back-delay", from?, delay, cx)?,
    ];
    let forward = forward.into_iter().flatten().collect();
    Some(Path { mtu, gso: false, forward, back: back.into_iter().flatten().collect() })
}

/// The loss of one direction, if there is any.
fn short_loss(name: &str, probability: &Option<At<Probability>>) -> Option<Element> {
    let probability = probability.as_ref()?.value.0;
    (probability > 0.0)
        .then(|| Element::Loss(Loss { name: name.into(), probability, unit: Unit::Segment }))
}

/// The delay of one direction, if there is any. None outside: something is wrong.
fn short_delay(
    name: &str,
    time: u64,
    written: &keys::PathDelay,
    cx: &mut Context,
) -> Option<Option<Element>> {
    let limit = needed(&written.limit)?.0;
    let timer = delay::timer(&written.timer, cx)?;
    let element = Delay { name: name.into(), delay: Time::ns(time), limit, timer };
    Some((time > 0).then_some(Element::Delay(element)))
}

#[cfg(test)]
mod tests {
    use crate::{Element, SetOption, Source, load};
    use fullpipe_base::units::Rate;

    /// The rates of both ways of a short path with this `rate` and these tables.
    fn rates(rate: &str, tables: &str) -> [Vec<(String, Rate)>; 2] {
        let text = format!(
            "duration = \"2s\"\npath = {{ rate = {rate}, delay = {{ back = \"1ms\" }} }}\n\
             hosts = {{ sender = {{ kernel = \"6.12\" }}, receiver = {{ kernel = \"6.12\" }} }}\n{tables}"
        );
        let loaded =
            load(&Source::text("short", &text), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        let path = loaded.plans()[0].resolved.path.clone();
        [path.forward, path.back].map(|way| {
            way.iter()
                .filter_map(|element| Some((element.name().to_string(), element.rate()?.0)))
                .collect()
        })
    }

    const FORWARD: &str = "[[flow]]\nname = \"up\"\nduration = \"1s\"\n";
    const BACKWARD: &str =
        "[[flow]]\nname = \"down\"\nduration = \"1s\"\ndirection = \"backward\"\n";

    #[test]
    fn the_rate_bounds_each_way_in_which_data_flow() {
        let hundred = || ("link".to_string(), Rate::mbit(100));
        let back = |mbit| ("back-link".to_string(), Rate::mbit(mbit));
        let answers = format!("{FORWARD}[[flow]]\nname = \"replies\"\nreply_to = \"up\"\n");
        let udp = |kind: &str| {
            format!(
                "{FORWARD}[[datagrams]]\nname = \"d\"\ncount = 1\ndirection = \"backward\"\n{kind}"
            )
        };
        let table = [
            ("\"100Mbit\"", FORWARD.to_string(), vec![]),
            ("\"100Mbit\"", BACKWARD.to_string(), vec![back(100)]),
            ("\"100Mbit\"", answers, vec![back(100)]),
            (
                "\"100Mbit\"",
                udp("kind = \"udp\"\nsize = \"100B\"\nrate = \"1Mbit\"\n"),
                vec![back(100)],
            ),
            ("\"100Mbit\"", udp("kind = \"ping\"\n"), vec![]),
            ("{ forward = \"100Mbit\", back = \"20Mbit\" }", BACKWARD.to_string(), vec![back(20)]),
            ("{ forward = \"100Mbit\", back = \"20Mbit\" }", FORWARD.to_string(), vec![back(20)]),
        ];
        for (rate, tables, expected) in table {
            assert_eq!(rates(rate, &tables), [vec![hundred()], expected], "{rate}\n{tables}");
        }
    }

    #[test]
    fn an_option_changes_one_way_or_both() {
        let text = format!(
            "path = {{ rate = \"1Gbit\" }}\n\
             hosts = {{ sender = {{ kernel = \"6.12\" }}, receiver = {{ kernel = \"6.12\" }} }}\n{BACKWARD}"
        );
        for (option, forward, back) in
            [("path.rate=100Mbit", 100, 100), ("path.rate.back=20Mbit", 1000, 20)]
        {
            let sets = [SetOption(option.into())];
            let loaded = load(&Source::text("short", &text), &sets, &[]).unwrap();
            let path = &loaded.plans()[0].resolved.path;
            let rate = |way: &[Element]| way[0].rate().unwrap().0;
            assert_eq!(rate(&path.forward), Rate::mbit(forward), "{option}");
            assert_eq!(rate(&path.back), Rate::mbit(back), "{option}");
        }
    }
}
