//! A small example by hand: packets, and the trains that they must make.

use super::{LOSSY, rows};
use fullpipe::capture::Trains;
use fullpipe::scenario::{Source, load};
use fullpipe::trace::packets::{FILE, PacketTrain};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::{Dropped, Offers, Packet, Sink, StageInfo};
use fullpipe_sim::units::Time;

fn data(us: u64, seq: u64) -> Packet {
    let forward = true;
    Packet {
        time: Time::us(us),
        forward,
        segments: 1,
        seq,
        len: 1000,
        ack: Some(1),
        window: 46,
        ..Packet::default()
    }
}

fn ack(us: u64, ack: u64, sacks: &[(u64, u64)]) -> Packet {
    let sacks = sacks.to_vec();
    Packet {
        time: Time::us(us),
        segments: 1,
        seq: 1,
        ack: Some(ack),
        window: 100,
        sacks,
        ..Packet::default()
    }
}

fn syn(us: u64, forward: bool, window_scale: u8) -> Packet {
    let offers = Some(Offers { mss: 1460, window_scale: Some(window_scale), sack: true });
    let ack = (!forward).then_some(1);
    Packet {
        time: Time::us(us),
        forward,
        segments: 1,
        syn: true,
        ack,
        window: 5840,
        offers,
        ..Packet::default()
    }
}

/// Handshake; four segments 10 us apart, the third of them dropped; ACKs of the first two, then one with a SACK block
/// that grows; the third again, seen twice.
fn packets() -> Vec<Packet> {
    let dropped = vec![Dropped { stage: 7, segments: 1 }];
    vec![
        syn(0, true, 2),
        syn(100, false, 3),
        data(200, 1),
        data(210, 1001),
        Packet { dropped, ..data(220, 2001) },
        data(230, 3001),
        data(240, 4001),
        ack(300, 1001, &[]),
        ack(310, 2001, &[]),
        ack(330, 2001, &[(3001, 4001)]),
        ack(340, 2001, &[(3001, 5001)]),
        Packet { resent: true, ..data(400, 2001) },
        Packet { resent: true, again: true, ..data(405, 2001) },
    ]
}

/// Compared values: time in us, from the receiver, count, spacing in us, seq, ack, its step, window.
type Row = (u64, bool, u32, u64, u64, u64, u64, u64);

#[test]
fn trains_by_hand() {
    let text = LOSSY.replace("[[flow]]", "[[flow]]\nduration = \"1s\"");
    let scenario =
        load(&Source::text("lossy.toml", &text), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let folder = tempfile::tempdir().expect("a directory");
    let made = Trains::create(&folder.path().join(FILE), &scenario.plans()[0].resolved);
    let (mut trains, mut recording) =
        (made.expect("a table").expect("asked for"), Recording::default());
    let stage = StageInfo {
        index: 7,
        name: "list".into(),
        kind: "drop",
        direction: "forward",
        unit: "segment",
        capacity: None,
        timed: false,
    };
    {
        let mut sink = trains.before(&mut recording);
        sink.stages(&[stage]);
        packets().iter().for_each(|packet| sink.packet(packet));
    }
    assert_eq!(trains.finish().expect("a table").packets, 13);
    let rows = rows(folder.path());
    let row = |row: &PacketTrain| -> Row {
        (
            row.time.as_us(),
            row.acks,
            row.count,
            row.spacing / 1000,
            row.seq,
            row.ack,
            row.ack_step,
            row.window,
        )
    };
    // The end that sends data has offered a scale of 2: 46 << 2; the other one of 3: 100 << 3. A SYN's window is not
    // scaled.
    assert_eq!(
        rows.iter().map(row).collect::<Vec<Row>>(),
        [
            (0, false, 1, 0, 0, 0, 0, 5840),
            (200, false, 2, 10, 1, 1, 0, 184),
            (220, false, 1, 0, 2001, 1, 0, 184),
            (230, false, 2, 10, 3001, 1, 0, 184),
            (400, false, 1, 0, 2001, 1, 0, 184),
            (405, false, 1, 0, 2001, 1, 0, 184),
            (100, true, 1, 0, 0, 1, 0, 5840),
            (300, true, 2, 10, 1, 1001, 1000, 800),
            (330, true, 2, 10, 1, 2001, 0, 800),
        ]
    );
    let places: Vec<&str> = rows.iter().map(|row| &*row.dropped_at).collect();
    assert_eq!(places, ["", "", "list", "", "", "", "", "", ""]);
    assert_eq!(
        (rows[4].resent, rows[4].again, rows[5].resent, rows[5].again),
        (true, false, true, true)
    );
    assert_eq!((rows[8].sacks[0], rows[8].sack_step), ((3001, 4001), 1000));
    assert_eq!(rows[8].packet(1).sacks[0], (3001, 5001));
}
