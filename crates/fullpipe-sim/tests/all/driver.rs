//! The driver of a card that sends: when it learns what was sent, and when it stops its queue. By hand.

use crate::conversation::host;
use crate::transmit::acks;
use fullpipe_sim::config::{Discipline, Driver, Host, Qdisc, QueueLimit, ReceivePath};
use fullpipe_sim::host::receive::Receive;
use fullpipe_sim::host::transmit::{Stopped, Tag, Transmit};
use fullpipe_sim::packet::{Kind, Train};
use fullpipe_sim::stage::Samples;
use fullpipe_sim::units::{Rate, Time};

const US: u64 = 1000;

/// A host with a ring of four descriptors, on a wire that takes 1 ms for a packet of 1500 bytes.
fn slow() -> Host {
    Host { nic_rate: Rate(12_304_000), tx_ring: 4, qdisc_limit: 100, ..host() }
}

/// Skbs of so many segments are offered to a host at once.
struct Offered {
    way: Transmit,
    out: Vec<Train>,
    /// Time at which each skb enters the ring and time at which its memory is free, us.
    entries: Vec<u64>,
    free: Vec<u64>,
}

fn offer(host: &Host, skbs: &[u32]) -> Offered {
    let samples = Samples::every(Time::secs(1), Time::secs(3));
    let way = Transmit::new(host, "sender", &[], 1, 1500, samples);
    let mut offered = Offered { way, out: Vec::new(), entries: Vec::new(), free: Vec::new() };
    for &segments in skbs {
        let skb = Train { kind: Kind::Data, ip_len: 1500, ..acks(0, 0, segments) };
        let Offered { way, out, entries, free } = &mut offered;
        way.push(Time::ZERO, &[skb], Tag::default(), out);
        entries.push(way.last_entry().0 / US);
        free.push(way.last_leaves(Time::ZERO).0 / US);
    }
    offered
}

/// Packets are sent at 1, 2, 3 ... ms. The interrupt for the first comes at 3.5 ms and reports three. The fourth is
/// sent at 4 ms, so the next interrupt comes at 6.5 ms, and so on.
#[test]
fn an_interrupt_frees_what_was_sent_until_it_comes() {
    let host = Host { tx_coalesce: Time::us(2500), ..slow() };
    let entries = [0, 0, 0, 0, 3500, 3500, 3500, 6500, 6500, 6500];
    let free = [3500, 3500, 3500, 6500, 6500, 6500, 9500, 9500, 9500, 12_500];
    let mut known = offer(&host, &[1; 10]);
    assert_eq!((&known.entries[..], &known.free[..]), (&entries[..], &free[..]));
    let sent = known.out.iter().flat_map(|train| (0..train.count).map(|i| train.time(i)));
    assert!(sent.eq((1..=10).map(Time::ms)), "the wire has always something to send");
    let [qdisc, ring] = known.way.sample(Time::secs(1));
    assert_eq!((qdisc.requeues, ring.entered, ring.left, ring.peak), (0, 10, 10, 4));
    // The result is equal with a qdisc that decides at dequeue.
    let fifo = Qdisc::Of(Discipline::Fifo, QueueLimit::Packets(100));
    let mut late = offer(&Host { qdisc: fifo, ..host }, &[1; 10]);
    late.way.wake(Time::secs(1), &mut late.out);
    let gone: Vec<_> = late.way.gone().collect();
    let at = gone.iter().map(|gone| gone.entered.as_ref().expect("it enters").at.0 / US);
    assert!(at.eq(entries));
    assert!(gone.iter().map(|gone| gone.free_at.0 / US).eq(free));
}

/// Segments of which the driver does not know are in the ring, though they are on the wire.
#[test]
fn a_descriptor_is_in_use_until_the_driver_cleans_it() {
    let host = Host { tx_coalesce: Time::us(2500), ..slow() };
    let samples = Samples::every(Time::us(100), Time::secs(3));
    let mut way = Transmit::new(&host, "sender", &[], 1, 1500, samples);
    let skb = Train { kind: Kind::Data, ip_len: 1500, ..acks(0, 0, 2) };
    way.push(Time::ZERO, &[skb], Tag::default(), &mut Vec::new());
    let at = |way: &mut Transmit, us| way.sample(Time::us(us))[1];
    let waiting: Vec<_> = (0..50).map(|i| at(&mut way, 100 * i).waiting).collect();
    assert_eq!(waiting.iter().position(|&waiting| waiting == 0), Some(35));
    assert_eq!(at(&mut way, 5000).busy_ns, 2_000_000);
}

/// The fifth skb is refused as it comes, at 0. At 3.5 ms three enter, each as it becomes the first; the one behind them
/// is refused.
#[test]
fn a_driver_requeues_once_for_each_interrupt() {
    let host = Host { tx_coalesce: Time::us(2500), driver: Driver::Requeues, ..slow() };
    let mut offered = offer(&host, &[1; 10]);
    assert_eq!(offered.way.sample(Time::secs(1))[0].requeues, 2);
    // Where each packet is reported, each waiting one is refused.
    let mut offered = offer(&Host { tx_coalesce: Time::ZERO, ..host }, &[1; 10]);
    assert_eq!(offered.way.sample(Time::secs(1))[0].requeues, 6);
}

/// A queue stops with three in the ring, as fewer than two are free. It continues when two of them are sent.
#[test]
fn a_queue_stops_and_goes_on_by_thresholds() {
    let mut offered = offer(&Host { tx_stop: 2, tx_wake: 3, ..slow() }, &[1; 10]);
    let entries = offered.entries.iter().map(|us| us / 1000);
    assert!(entries.eq([0, 0, 0, 2, 2, 4, 4, 6, 6, 8]));
    assert_eq!(offered.way.stopped(Time::secs(1)), Stopped { stops: 4, restarts: 4 });
    // As soon as one is free, where no threshold is set: the ring is full seven times.
    let mut offered = offer(&slow(), &[1; 10]);
    let entries = offered.entries.iter().map(|us| us / 1000);
    assert!(entries.eq([0, 0, 0, 0, 1, 2, 3, 4, 5, 6]));
    assert_eq!(offered.way.stopped(Time::secs(1)), Stopped { stops: 7, restarts: 7 });
}

/// An skb of three segments finds one descriptor free, and stops the queue till all four are.
#[test]
fn an_skb_that_finds_no_room_stops_the_queue() {
    let mut offered = offer(&Host { tx_wake: 4, ..slow() }, &[3, 3]);
    assert_eq!(offered.entries, [0, 3000]);
    assert_eq!(offered.way.stopped(Time::secs(1)), Stopped { stops: 1, restarts: 1 });
    assert_eq!(offer(&slow(), &[3, 3]).entries, [0, 2000]);
}

/// Packets arrive at 10, 30, 50, 200 and 205 us. The interrupt comes 40 us after the first one, with all packets there
/// by then. The next one comes at least 300 us later, where the NIC counts from interrupt to interrupt, too.
#[test]
fn a_receive_interrupt_waits_for_the_packets_behind_the_first() {
    let taken = |host: &Host| {
        let mut way = Receive::new(host, Samples::every(Time::secs(1), Time::secs(3)));
        for at in [10, 30, 50, 200, 205] {
            way.arrive(Train {
                kind: Kind::Data,
                first: Time::us(at),
                ip_len: 1500,
                ..acks(0, 0, 1)
            });
        }
        let mut polls = Vec::new();
        loop {
            let (at, mut batch) = (way.ready_time(Time::ZERO), Vec::new());
            if at == Time::NEVER {
                return polls;
            }
            way.take(at, u32::MAX, &mut batch);
            polls.push((at.0 / US, batch.iter().map(|train| train.count).sum::<u32>()));
        }
    };
    assert_eq!(taken(&host()), [(10, 1), (30, 1), (50, 1), (200, 1), (205, 1)]);
    let waits = Host { rx_coalesce: Time::us(40), ..host() };
    assert_eq!(taken(&waits), [(50, 3), (240, 2)]);
    let netif_rx = Host { receive_path: ReceivePath::NetifRx, ..waits.clone() };
    assert_eq!(taken(&netif_rx), [(50, 3), (240, 2)]);
    let frames = |n| taken(&Host { rx_frames: n, ..waits.clone() });
    assert_eq!(frames(2), [(30, 2), (90, 1), (205, 2)]);
    assert_eq!(frames(1), [(10, 1), (30, 1), (50, 1), (200, 1), (205, 1)]);
    assert_eq!(frames(4), [(50, 3), (240, 2)]);
    assert_eq!(taken(&Host { interrupt_gap: Time::us(300), ..waits }), [(50, 3), (350, 2)]);
}
