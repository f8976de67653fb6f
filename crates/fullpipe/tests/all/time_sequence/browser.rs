//! The page in a browser: a segment that the table knows is found by zooming, and its words are the table's values.

use super::{KeptRun, kept, rows, singles};
use crate::report_chromium::{browser, page::Page};
use fullpipe::report::time_sequence::write;
use fullpipe::trace::packets::PacketTrain;
use serde_json::{Value, json};

/// The key's code (WebDriver).
const ESCAPE: char = '\u{E00C}';
/// The key's code (WebDriver).
const BACKSPACE: char = '\u{E003}';

fn open(made: &KeptRun) -> Option<Page> {
    let path = write(made.folder.path(), "Losses", &made.run).expect("a page");
    let page = browser::open(&std::fs::read_to_string(path).expect("a page"))?;
    page.wait_for("window.fullpipe?.level() !== undefined");
    page.run("return fullpipe.first", &[]);
    Some(page)
}

/// Shows the surroundings of a packet, points at it, and reads the text: the title, then names with values.
fn said(page: &Page, packet: &PacketTrain) -> (String, Vec<(String, String)>) {
    let (time, middle) = (packet.time.0 as f64, packet.seq as f64 + f64::from(packet.len) / 2.0);
    let middle = if packet.acks { packet.ack as f64 } else { middle };
    let view = [time - 20_000.0, time + 30_000.0, middle - 4000.0, middle + 4000.0];
    page.run("return fullpipe.show(...arguments)", &view.map(|side| json!(side)));
    assert_eq!(page.run("return fullpipe.level()", &[]), json!(0));
    let place = page.run("return fullpipe.locate(...arguments)", &[json!(time), json!(middle)]);
    let pixel = |value: &Value| value.as_f64().expect("pixels").round() as i64;
    page.point(pixel(&place["x"]), pixel(&place["y"]));
    page.wait_for("document.getElementById('values').classList.contains('shown')");
    let script = "const values = document.getElementById('values'); \
        const [names, said] = ['dt', 'dd'].map(tag => [...values.querySelectorAll(tag)].map(one => one.textContent)); \
        return [values.querySelector('b').textContent, names.map((name, i) => [name, said[i]])]";
    serde_json::from_value(page.run(script, &[])).expect("texts")
}

/// A number as it is written: thousands apart.
fn number(value: u64) -> String {
    let digits = value.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|three| std::str::from_utf8(three).expect("digits"))
        .collect();
    groups.join(",")
}

fn time(packet: &PacketTrain) -> String {
    format!("{}.{:09} s", packet.time.0 / 1_000_000_000, packet.time.0 % 1_000_000_000)
}

#[test]
fn a_known_segment_says_what_the_table_says() {
    let made = kept(&[]);
    let Some(page) = open(&made) else { return };
    let packets = singles(&rows(made.folder.path()));
    let find = |wanted: fn(&&PacketTrain) -> bool| packets.iter().find(wanted).expect("one");
    let cases = [
        (
            "segment",
            packets.iter().filter(|p| p.len > 0 && !p.resent && !p.again).nth(700).expect("one"),
        ),
        ("segment", find(|p| p.dropped > 0 && !p.resent)),
        ("retransmission", find(|p| p.resent && !p.again)),
        ("hardware duplicate", find(|p| p.again && !p.resent)),
    ];
    for (title, packet) in cases {
        let (found, lines) = said(&page, packet);
        assert_eq!(found, title, "{packet:?}: {lines:?}");
        let last = packet.seq + u64::from(packet.len) - 1;
        let mut wanted = vec![
            ("time".to_string(), time(packet)),
            ("sequence".into(), format!("{} to {}", number(packet.seq), number(last))),
            ("data".into(), format!("{} bytes", number(packet.len.into()))),
        ];
        if packet.dropped > 0 {
            wanted.push(("dropped later".into(), format!("at {}", packet.dropped_at)));
        }
        assert_eq!(lines, wanted);
    }
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn an_ack_says_its_window_and_its_blocks() {
    let made = kept(&["report.packets.at=receiver"]);
    let Some(page) = open(&made) else { return };
    let packets = singles(&rows(made.folder.path()));
    let ack = packets.iter().find(|p| p.acks && p.sacks[0].1 > 0).expect("one");
    let (title, lines) = said(&page, ack);
    assert_eq!(title, "ACK");
    let edge = number(ack.ack + ack.window);
    let mut wanted = vec![
        ("time".to_string(), time(ack)),
        ("ACK".into(), number(ack.ack)),
        ("window".into(), format!("{} bytes, up to {edge}", number(ack.window))),
    ];
    let sacks = ack.sacks.iter().filter(|sack| sack.1 > 0);
    wanted.extend(
        sacks.map(|(from, to)| ("SACK".into(), format!("{} to {}", number(*from), number(to - 1)))),
    );
    assert_eq!(lines, wanted);
}

#[test]
fn the_whole_run_is_drawn_from_the_pyramid_and_nothing_is_fetched() {
    let made = kept(&["flow.bulk.bytes=200MB", "path.forward.list.segments=[400]"]);
    let Some(page) = open(&made) else { return };
    let painted = "const canvas = document.getElementById('canvas'); \
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
        const colours = new Set(); \
        for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] === 255) colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]); \
        return colours.size";
    assert!(page.run(painted, &[]).as_u64() > Some(3));
    let levels =
        "return JSON.parse(document.getElementById('index').textContent).flows[0].levels.length";
    assert!(page.run(levels, &[]).as_u64() > Some(0));
    page.key(ESCAPE);
    page.wait_for("fullpipe.level() > 0");
    // From the whole to a millisecond, and back by a key.
    page.run("return fullpipe.show(1e9, 1.001e9)", &[]);
    assert_eq!(page.run("return fullpipe.level()", &[]), json!(0));
    page.key(ESCAPE);
    page.wait_for("fullpipe.level() > 0");
    let own = page.requests().iter().all(|url| {
        url.starts_with("file://") || url.starts_with("data:") || url.starts_with("blob:")
    });
    assert!(own, "{:?}", page.requests());
    assert_eq!(page.complaints(), [""; 0]);
}

/// The first view ends with the sixth round of slow start, shows single packets, and fits them; the view before it is the
/// whole run.
#[test]
fn the_page_opens_on_slow_start() {
    let made = kept(&["flow.bulk.bytes=200MB", "path.forward.list.segments=[4000]"]);
    let Some(page) = open(&made) else { return };
    assert_eq!(page.run("return fullpipe.level()", &[]), json!(0));
    let view =
        || page.run("const { t0, t1, y0, y1 } = fullpipe.view(); return [t0, t1, y0, y1]", &[]);
    let sides = |view: &Value| -> Vec<f64> { serde_json::from_value(view.clone()).expect("sides") };
    let first = sides(&view());
    let rounds = made.run.flows[0].slow_start_rounds.as_deref().expect("rounds of slow start");
    let seventh = (rounds[6].start_s + made.run.flows[0].clock_start_s) * 1e9;
    assert!((first[1] / seventh - 1.0).abs() < 0.05, "{first:?}: {seventh}");

    // Data sent until then fills the height.
    let sent: u64 = rounds[..6].iter().map(|round| round.segments * 1448).sum();
    let height = first[3] - first[2];
    assert!((sent as f64..2.0 * sent as f64).contains(&height), "{height} of {sent} bytes");

    page.key(BACKSPACE);
    page.wait_for("fullpipe.level() > 0");
    assert!(sides(&view())[1] > 10.0 * seventh);
    page.key('s');
    page.wait_for("fullpipe.level() === 0");
    assert_eq!(sides(&view()), first);
    assert_eq!(page.complaints(), [""; 0]);
}
