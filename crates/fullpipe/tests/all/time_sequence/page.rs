//! Contents of the page: chunks that give back the table, read here by a second reader.

use super::{KeptRun, kept, rows};
use fullpipe::report::time_sequence::write;
use fullpipe::trace::packets::PacketTrain;
use serde_json::Value;

/// The text of an element.
fn element<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page.find(&format!("id=\"{id}\">")).expect("an element") + id.len() + 6;
    &page[start..start + page[start..].find("</script>").expect("its end")]
}

fn bytes(letters: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("{other}"),
    };
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for letter in letters.bytes().filter(|letter| *letter != b'=') {
        (bits, held) = (bits << 6 | u32::from(value(letter)), held + 6);
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    miniz_oxide::inflate::decompress_to_vec(&out).expect("deflated")
}

struct Numbers<'a>(std::slice::Iter<'a, u8>);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = *self.0.next().expect("a byte");
            value |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return value;
            }
        }
    }

    /// A column: differences from the values that the previous train predicts.
    fn column(&mut self, count: usize) -> Vec<i64> {
        let zigzag = |value: u64| (value >> 1) as i64 ^ -((value & 1) as i64);
        (0..count).map(|_| zigzag(self.next())).collect()
    }
}

/// The trains of a chunk of a flow.
fn trains(
    chunk: &Value,
    letters: &str,
    flow: u16,
    acks: bool,
    places: &[String],
) -> Vec<PacketTrain> {
    let number = |key: &str| chunk[key].as_u64().expect("a number") as usize;
    let raw = bytes(&letters[number("at")..number("at") + number("letters")]);
    let (mut numbers, count) = (Numbers(raw.iter()), number("count"));
    let columns: Vec<Vec<i64>> = (0..14).map(|_| numbers.column(count)).collect();
    let place: Vec<u64> = (0..count).map(|_| numbers.next()).collect();
    let sacks: Vec<Vec<i64>> = (0..8).map(|_| numbers.column(count)).collect();
    let mut before: Option<PacketTrain> = None;
    let train = |row: usize| {
        let last = before.as_ref().map(|b| b.packet(b.count - 1));
        let earlier = |of: fn(&PacketTrain) -> u64| before.as_ref().map_or(0, of) as i64;
        let ended = |of: fn(&PacketTrain) -> u64| last.as_ref().map_or(0, of) as i64;
        let c = |column: usize, expected: i64| (columns[column][row] + expected) as u64;
        let mut train = PacketTrain {
            time: fullpipe_sim::units::Time(c(0, ended(|p| p.time.0))),
            flow,
            acks,
            count: c(1, earlier(|b| b.count.into())) as u32,
            spacing: c(2, earlier(|b| b.spacing)),
            segments: c(3, earlier(|b| b.segments.into())) as u32,
            seq: c(4, ended(|p| p.seq + u64::from(p.len))),
            len: c(5, earlier(|b| b.len.into())) as u32,
            ack: c(6, ended(|p| p.ack)),
            ack_step: c(7, earlier(|b| b.ack_step)),
            window: c(8, earlier(|b| b.window)),
            flags: c(9, earlier(|b| b.flags.into())) as u8,
            ecn: c(10, earlier(|b| b.ecn.into())) as u8,
            resent: c(11, 0) & 1 == 1,
            again: c(11, 0) & 2 == 2,
            dropped: c(12, earlier(|b| b.dropped.into())) as u32,
            dropped_at: if place[row] == 0 {
                "".into()
            } else {
                places[place[row] as usize - 1].as_str().into()
            },
            sacks: [(0, 0); 4],
            sack_step: c(13, earlier(|b| b.sack_step)),
        };
        for (block, pair) in sacks.chunks(2).enumerate() {
            let (start, end) = last.as_ref().map_or((0, 0), |p| p.sacks[block]);
            train.sacks[block] =
                ((pair[0][row] + start as i64) as u64, (pair[1][row] + end as i64) as u64);
        }
        before = Some(train.clone());
        train
    };
    (0..count).map(train).collect()
}

fn page_of(made: &KeptRun) -> String {
    let path = write(made.folder.path(), "Losses", &made.run).expect("a page");
    std::fs::read_to_string(path).expect("a page")
}

#[test]
fn chunks_give_back_every_train() {
    for sets in [
        vec![],
        vec!["flow.bulk.count=3", "path.forward.list.flow=bulk-1", "report.packets.at=receiver"],
    ] {
        let made = kept(&sets);
        let page = page_of(&made);
        let index: Value = serde_json::from_str(element(&page, "index")).expect("an index");
        let places: Vec<String> = serde_json::from_value(index["places"].clone()).expect("names");
        let mut found = Vec::new();
        for (number, flow) in index["flows"].as_array().expect("flows").iter().enumerate() {
            for (way, chunks) in flow["trains"].as_array().expect("ways").iter().enumerate() {
                for chunk in chunks.as_array().expect("chunks") {
                    found.extend(trains(
                        chunk,
                        element(&page, "chunks"),
                        number as u16,
                        way == 1,
                        &places,
                    ));
                }
            }
        }
        let rows = rows(made.folder.path());
        assert_eq!(found.len(), rows.len());
        assert!(found == rows);
    }
}

#[test]
fn equal_tables_give_equal_pages_without_addresses() {
    let made = kept(&[]);
    let page = page_of(&made);
    assert!(page == page_of(&made) && page == page_of(&kept(&[])));
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn a_page_is_small_beside_its_packets() {
    let of = |bytes: &str| {
        page_of(&kept(&[&format!("flow.bulk.bytes={bytes}"), "report.packets.at=sender-wire"]))
            .len()
    };
    let (small, large) = (of("4MB"), of("40MB"));
    // 25,000 segments more.
    assert!(large - small < 25_000 * 7, "{small} and {large} bytes");
}

#[test]
fn rounds_of_slow_start_are_known_at_every_point() {
    let index = |at: &str| {
        let page = page_of(&kept(&[
            &format!("report.packets.at={at}"),
            "path.forward.list.segments=[2000]",
        ]));
        let mut index: Value = serde_json::from_str(element(&page, "index")).expect("an index");
        index["flows"][0].take()
    };
    let seen = index("sender-wire");
    let numbers = |what: &str| {
        let rounds = seen["rounds"].as_array().expect("rounds").clone();
        rounds.iter().map(|round| round[what].as_u64().expect("a number")).collect::<Vec<_>>()
    };
    let (begins, segments) = (numbers("begins"), numbers("segments"));
    // Each ACK lets as many segments go as it acknowledges, and one more: with ACKs of two, one and a half times as many.
    assert!(segments.len() >= 4, "{segments:?}");
    assert!(
        segments.windows(2).take(3).all(|pair| pair[1] > pair[0] && pair[1] <= 2 * pair[0]),
        "{segments:?}"
    );
    assert!(begins.is_sorted() && seen["slow_start_end"].as_u64() > begins.last().copied());
    let far = index("receiver");
    assert_eq!(
        (&far["rounds"], &far["slow_start_end"]),
        (&seen["rounds"], &seen["slow_start_end"])
    );
}
