//! The path of a random scenario: a link with its queue and a delay each way, and uncommon elements.

use super::draw::{between, pick, rarely};
use super::frame::{Frame, Marks, whole};
use super::losses::Lists;
use super::programs::Program;
use super::tunnel::Tunnel;
use fullpipe_sim::rng::Rng;

/// Least rate of a narrow way back, bits per second.
const LEAST_BACK: f64 = 20_000.0;

/// The section `[path]`.
pub fn path(rng: &mut Rng, frame: &Frame, lists: &Lists) -> String {
    let Frame { rate, one_way_us, mtu, .. } = frame;
    let link = link("link", *rate, &queue(rng, frame));
    let reordering = reordering(rng);
    let way_back = way_back(rng, frame);
    let tunnel = frame.tunnel.map(Tunnel::element).unwrap_or_default();
    let Lists { ahead, back } = lists;
    format!(
        "[path]\nmtu = {mtu}\nforward = [\n{ahead}{link}{tunnel}{reordering}    \
         {{ kind = \"delay\", name = \"delay\", delay = \"{one_way_us}us\" }},\n]\nback = [\n{back}{way_back}    \
         {{ kind = \"delay\", name = \"back-delay\", delay = \"{one_way_us}us\" }},\n]\n"
    )
}

fn link(name: &str, rate: f64, queue: &str) -> String {
    format!(
        "    {{ kind = \"link\", name = \"{name}\", rate = \"{rate}bit\", framing = \"ethernet\", queue = {{ {queue} }} }},\n"
    )
}

/// Bytes of a queue: 0.1 to `most` bandwidth-delay products, at least three packets.
fn room(rng: &mut Rng, frame: &Frame, most: f64) -> f64 {
    (frame.bdp() * between(rng, 0.1, most)).max(f64::from(frame.mtu) * 3.0).round()
}

/// Queue of 0.1 to 4 bandwidth-delay products, at least three packets. Uncommonly it is a discipline with its own
/// limit, which marks packets where hosts have ECN and no list marks.
fn queue(rng: &mut Rng, frame: &Frame) -> String {
    let limit = room(rng, frame, 4.0);
    let discipline = pick(rng, &["codel", "fq_codel", "fq"]);
    match (frame.marks, rarely(rng)) {
        (Marks::Queue, _) => {
            format!("discipline = \"{}\", ecn = true", pick(rng, &["codel", "fq_codel"]))
        }
        (_, true) => format!("discipline = \"{discipline}\""),
        _ => format!("limit = \"{limit}B\""),
    }
}

/// Uncommonly: one packet in so many overtakes those that a delay holds.
fn reordering(rng: &mut Rng) -> String {
    if !rarely(rng) {
        return String::new();
    }
    let delay = pick(rng, &["50us", "200us", "1ms", "5ms"]);
    let gap = pick(rng, &[7, 20, 100, 333]);
    format!(
        "    {{ kind = \"reorder\", name = \"reorder\", delay = \"{delay}\", probability = 1, gap = {gap} }},\n"
    )
}

/// A link for ACKs: uncommonly a narrow one, and one of 0.1 to 1 of the rate where there are backward data or answers, too.
fn way_back(rng: &mut Rng, frame: &Frame) -> String {
    let data = frame.rate * between(rng, 0.1, 1.0);
    let room = room(rng, frame, 2.0);
    if frame.two_way || frame.program.as_ref().is_some_and(Program::goes_back) {
        return link("back-link", whole(data), &format!("limit = \"{room}B\""));
    }
    if !rarely(rng) {
        return String::new();
    }
    let narrow = (frame.rate / between(rng, 10.0, 80.0)).max(LEAST_BACK);
    let room = pick(rng, &[3_000, 30_000]).max(2 * (frame.mtu + 14));
    link("back-link", whole(narrow), &format!("limit = \"{room}B\""))
}
