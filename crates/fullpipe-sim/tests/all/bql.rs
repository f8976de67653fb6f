//! Byte queue limits: the limit by itself, at a ring, and what hosts have of it.

use crate::conversation::host;
use crate::host_queues::slow_card;
use crate::random;
use crate::record::{Record, ToTheEnd};
use crate::scenarios;
use crate::scenarios::Size;
use crate::transmit::acks;
use fullpipe_sim::config::{App, Codel, Config, Discipline, Host, Qdisc, QueueLimit};
use fullpipe_sim::host::transmit::bql::Limit;
use fullpipe_sim::host::transmit::{Tag, Transmit};
use fullpipe_sim::packet::{Kind, Train};
use fullpipe_sim::sim;
use fullpipe_sim::stage::Samples;
use fullpipe_sim::trace::EventKind;
use fullpipe_sim::units::{Rate, Time};
use std::fmt::Write;

/// A ring and its limit talk. Skbs of one unit, of which one is sent per millisecond, a jiffy; many wait, and enter as soon as
/// they may. Columns: the jiffy, what is sent and what enters then; in the ring, limit and what is available afterwards.
/// Then the rule, of lib/dynamic_queue_limits.c `dql_completed` where nothing else is said, in Linux 6.12.
const CONVERSATION: &str = "
    0  0  1 | 1  0 -1 | dql_init: the limit begins at 0; netdev_tx_sent_queue: not below 0 is room for any skb
    1  1  2 | 2  1 -1 | beyond the limit, and all of it is sent: the ring ran dry; larger by what was sent meanwhile
    2  1  1 | 2  1 -1 | beyond the limit, but one is left: as it was
    3  1  2 | 3  2 -1 | was beyond the limit, and all that was there is sent: dry, perhaps; larger by what was beyond
    4  1  1 | 3  2 -1 | all that was there is sent, but the limit had just been changed: nothing was beyond it
    5  1  1 | 3  2 -1 | busy all the time: slack is 2 + 1 less twice what is sent
    6  1  1 | 3  2 -1 | the same; its least is 1
 1003  1  1 | 3  2 -1 | slack has to last for more than 1000 jiffies (netdev_init_one_queue: HZ) since 3
 1004  1  0 | 2  1 -1 | it did: smaller by the slack; netdev_tx_completed_queue: still stopped
 1005  1  1 | 2  1 -1 | busy; none of a limit of 1 is slack
 1006  1  2 | 3  2 -1 | was beyond the limit, and all that was there is sent: larger again
 1007  1  1 | 3  2 -1 | as at 4
";

/// The first columns of a row: jiffy, sent, enters.
fn script(row: &str) -> Option<[u64; 3]> {
    let columns = row.split_once('|')?.0.split_whitespace();
    columns.map(|n| n.parse().ok()).collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Text of the limit's answers for the first columns. Jiffies that are left out have the answer of the one before.
fn answers(table: &str) -> String {
    let (mut limit, mut in_ring, mut next) = (Limit::new(1000), 0, 0);
    let mut text = String::from("\n");
    for row in table.lines().skip(1) {
        let [jiffy, sent, enters] = script(row).expect("three numbers");
        for at in next..jiffy {
            limit.complete(at, 1);
            limit.enter(1);
        }
        next = jiffy + 1;
        if sent > 0 {
            limit.complete(jiffy, sent);
        }
        (0..enters).for_each(|_| limit.enter(1));
        in_ring = in_ring + enters - sent;
        let (bytes, fits) = (limit.bytes(), limit.available());
        let rule = row.rsplit_once('|').expect("a rule").1;
        let columns = format!(" {jiffy:>4} {sent:>2} {enters:>2} | {in_ring} {bytes:>2} {fits:>2}");
        writeln!(text, "{columns} |{rule}").expect("text");
    }
    text
}

#[test]
fn a_limit_grows_when_the_ring_ran_dry_and_shrinks_by_what_lies_there_for_a_second() {
    assert_eq!(answers(CONVERSATION), CONVERSATION);
}

/// Skbs that enter a ring, by jiffy, as the conversation shows them.
fn entries(until: u64) -> Vec<u64> {
    let rows: Vec<_> = CONVERSATION.lines().filter_map(script).collect();
    let enter = |at| rows.iter().find(|row| row[0] == at).map_or(1, |row| row[2]);
    (0..=until).flat_map(|at| vec![at; enter(at) as usize]).collect()
}

/// Output side of a host with limits, on a wire that takes 1 ms for a packet of 1500 bytes.
fn way_out(qdisc: Qdisc) -> Transmit {
    let (nic_rate, bql) = (Rate(12_304_000), true);
    let host = Host { nic_rate, tx_ring: 4000, qdisc_limit: 4000, qdisc, bql, ..host() };
    Transmit::new(&host, "sender", &[], 1, 1500, Samples::every(Time::ms(10), Time::secs(3)))
}

#[test]
fn skbs_enter_a_ring_as_its_limit_says() {
    let expected = entries(1007);
    let packet = Train { kind: Kind::Data, ip_len: 1500, ..acks(0, 0, 1) };
    let push = |way: &mut Transmit, out: &mut Vec<Train>| {
        way.push(Time::ZERO, &[packet], Tag::default(), out);
        way.last_entry()
    };
    let ms = |at: Time| at.0 / 1_000_000;
    let (mut way, mut out) = (way_out(Qdisc::PfifoFast), Vec::new());
    let known = expected.iter().map(|_| ms(push(&mut way, &mut out)));
    assert_eq!(known.collect::<Vec<_>>(), expected);
    let late = Qdisc::Of(Discipline::Fifo, QueueLimit::Packets(4000));
    let (mut way, mut out) = (way_out(late), Vec::new());
    for _ in &expected {
        push(&mut way, &mut out);
    }
    way.wake(Time::secs(2), &mut out);
    let entered = way.gone().filter_map(|gone| Some(ms(gone.entered?.at)));
    assert_eq!(entered.collect::<Vec<_>>(), expected);
}

/// The kernel's own code, compiled by itself, was asked the same.
#[test]
fn it_is_the_limit_of_linux() {
    let table = include_str!("../golden/bql/linux-6.12.csv");
    let mut limit = Limit::new(1000);
    let rows = table.lines().filter(|row| !row.starts_with('#'));
    for (number, row) in rows.clone().enumerate() {
        let [jiffy, skbs, completed, ..] = row.split(',').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let bytes = |text: &str| text.parse::<u64>().expect("bytes");
        skbs.split('+').filter(|skb| !skb.is_empty()).for_each(|skb| limit.enter(bytes(skb)));
        if completed != "0" {
            limit.complete(bytes(jiffy), bytes(completed));
        }
        let found = format!("{jiffy},{skbs},{completed},{},{}", limit.bytes(), limit.available());
        assert_eq!(found, row, "row {number}");
    }
    assert_eq!(rows.count(), 400);
}

/// The wire is never idle for them: while skbs wait in a queue that refuses none, all goes as without. But with small queues (TSQ)
/// a flow may wait longer for its skbs, which give their memory back only in the ring.
fn they_cost_nothing(config: &Config) -> Result<(), String> {
    if [&config.sender, &config.receiver].iter().any(|host| host.kernel.starts_with('6')) {
        return Ok(());
    }
    let run = |bql: bool| -> Result<_, String> {
        let mut config = config.clone();
        for host in [&mut config.sender, &mut config.receiver] {
            (host.qdisc, host.qdisc_limit, host.bql) = (Qdisc::PfifoFast, 1 << 30, bql);
            // Where the driver notices transmissions late, they do leave gaps.
            host.tx_coalesce = Time::ZERO;
        }
        let mut record = Record::default();
        sim::run(&config, &mut record, &mut ToTheEnd)?;
        // An skb that the NIC does not take yet has its memory in the queue, where it counts with fewer heads.
        let flows = record.flows().cloned().map(|mut sample| {
            sample.sender.wmem_alloc = 0;
            sample
        });
        let events = record.events().cloned();
        Ok((flows.collect::<Vec<_>>(), events.collect::<Vec<_>>()))
    };
    if run(false)? == run(true)? { Ok(()) } else { Err("something else goes on".into()) }
}

#[test]
fn limits_leave_no_gap_on_the_wire() {
    let size = Size { packets: 1000, samples: 100 };
    random::check(500, scenarios::config(size), they_cost_nothing);
}

/// A bulk flow of 3 MB through a NIC of 50 Mb/s behind this qdisc. The NIC's ring has room for all of it.
fn through_slow_card(qdisc: Qdisc, bql: bool) -> Config {
    let mut config = slow_card(qdisc);
    let (kernel, rx_ring, nic_rate) = ("3.14".to_string(), 100_000, Rate::mbit(50));
    let behaviour = vec![("small_queues".to_string(), "false".to_string())];
    config.receiver = Host { kernel, behaviour, rx_ring, ..host() };
    (config.sender, config.sample) = (config.receiver.clone(), Time::ms(1));
    let sender = &mut config.sender;
    (sender.nic_rate, sender.qdisc, sender.bql) = (nic_rate, qdisc, bql);
    (sender.qdisc_limit, sender.tx_ring) = (4000, 4000);
    let flow = &mut config.flows[0];
    (flow.app, flow.reader, flow.slow_start) = (App::Bulk, None, None);
    config
}

/// Average skbs in the qdisc and segments in the ring while the flow runs at full rate, and the end of the flow, ms.
fn waits(qdisc: Qdisc, bql: bool) -> [u64; 3] {
    let config = through_slow_card(qdisc, bql);
    let mut record = Record::default();
    sim::run(&config, &mut record, &mut ToTheEnd).expect("valid");
    let finished =
        record.events().find(|event| event.kind == EventKind::Finished).expect("it ends");
    let mean = |name: &str| {
        let stage = record.announced().iter().find(|stage| stage.name == name).expect("a stage");
        let within = |time: Time| time > Time::ms(100) && time < Time::ms(400);
        let of = record.samples().filter(|s| s.stage == stage.index && within(s.time));
        let waiting: Vec<u64> = of.map(|sample| sample.waiting).collect();
        waiting.iter().sum::<u64>() / waiting.len() as u64
    };
    [mean("sender.qdisc"), mean("sender.tx_ring"), finished.time.0 / 1_000_000]
}

/// Packets wait in the ring without limits, where no discipline sees them; with limits they wait in the qdisc. The wire
/// is as busy.
#[test]
fn what_waited_in_the_ring_waits_in_the_qdisc() {
    let codel = Codel { target: Time::ms(5), interval: Time::ms(100), ecn: false, mtu: 1514 };
    let fq_codel = Qdisc::Of(Discipline::FqCodel(codel), QueueLimit::Packets(10_240));
    let mut table = String::from("\n");
    for (name, qdisc) in [("pfifo_fast", Qdisc::PfifoFast), ("fq_codel", fq_codel)] {
        for bql in [false, true] {
            let [queued, in_ring, ms] = waits(qdisc, bql);
            writeln!(table, "{name:<10} {bql:<5} {queued:>4} {in_ring:>4} {ms:>4}").expect("text");
        }
    }
    let expected = "
pfifo_fast false    0  651  505
pfifo_fast true   648    3  505
fq_codel   false    0  651  505
fq_codel   true   232    3  505
";
    assert_eq!(table, expected);
}
