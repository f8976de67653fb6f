//! Every transfer of finitely many bytes comes to its end, and one that loses nothing never waits
//! for a retransmission timer.

use crate::random;
use crate::record::Record;
use crate::scenarios;
use crate::scenarios::Size;
use fullpipe_sim::config::{Config, Discipline, Element, QueueLimit};
use fullpipe_sim::sim;
use fullpipe_sim::trace::{Control, Event, EventKind, FlowSample, Sink, StageInfo, StageSample};
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;
use std::cell::RefCell;

/// A record that both the sink and the control of a run see.
struct Shared<'a>(&'a RefCell<Record>);

impl Sink for Shared<'_> {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.0.borrow_mut().stages(stages);
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.0.borrow_mut().flow(sample);
    }
    fn stage(&mut self, sample: &StageSample) {
        self.0.borrow_mut().stage(sample);
    }
    fn event(&mut self, event: &Event) {
        self.0.borrow_mut().event(event);
    }
}

/// Ends a run when so many flows have finished.
struct UntilFinished<'a>(&'a RefCell<Record>, usize);

impl Control for UntilFinished<'_> {
    fn go_on(&mut self, _: Time) -> bool {
        finished(&self.0.borrow()) < self.1
    }
}

fn finished(record: &Record) -> usize {
    record.events().filter(|e| e.kind == EventKind::Finished).count()
}

/// Runs until all flows have finished, or to the end.
fn run(config: &Config) -> Result<Record, String> {
    let record = RefCell::new(Record::default());
    let mut control = UntilFinished(&record, config.flows.len());
    sim::run(config, &mut Shared(&record), &mut control)?;
    Ok(record.into_inner())
}

fn everything_arrives(config: &Config) -> Result<(), String> {
    let record = run(config)?;
    let end = record.flows().last().expect("a sample").time;
    for sample in record.flows().filter(|f| f.time == end) {
        let flow = &config.flows[usize::from(sample.flow)];
        if Some(sample.bytes_delivered) != flow.bytes {
            return Err(format!("{} has not finished at {end}: {sample:#?}", flow.name));
        }
    }
    Ok(())
}

fn nothing_is_lost_nor_late(config: &Config) -> Result<(), String> {
    everything_arrives(config)?;
    let record = run(config)?;
    if let Some(stage) = record.samples().find(|s| s.dropped > 0) {
        return Err(format!("the scenario is not lossless: {stage:?}"));
    }
    let late = |e: &&Event| matches!(e.kind, EventKind::Timeout | EventKind::Retransmit);
    record.events().find(late).map_or(Ok(()), |event| Err(format!("{event:?}")))
}

/// Flows of some hundred thousand bytes, and an hour for them. Successive losses double the timeout up to two minutes,
/// and a burst may take ten retransmissions. If a queue holds hardly one packet, or a receive buffer less than two, a
/// transfer may take long.
fn finite(mut config: Config) -> Config {
    for flow in &mut config.flows {
        flow.bytes = Some(flow.bytes.unwrap_or(100_000).min(300_000));
        flow.duration = None;
        flow.write = flow.write.max(20);
    }
    let least = 8 * u64::from(config.mtu);
    for flow in &mut config.flows {
        flow.rcvbuf = flow.rcvbuf.map(|bytes| bytes.max(least));
    }
    for host in [&mut config.sender, &mut config.receiver] {
        let sysctl = &mut host.sysctl;
        sysctl.rmem_max = sysctl.rmem_max.max(least);
        sysctl.tcp_rmem = sysctl.tcp_rmem.map(|bytes| bytes.max(least));
    }
    at_least(&mut config, 8);
    config.end = Time::secs(3600);
    config.sample = Time::secs(10);
    config
}

fn more(limit: &mut QueueLimit, packets: u32) {
    match limit {
        QueueLimit::Packets(limit) => *limit = packets.max(*limit),
        QueueLimit::Bytes(limit) => *limit = (10_000 * u64::from(packets)).max(*limit),
    }
}

/// Makes every place hold `packets`.
fn at_least(config: &mut Config, packets: u32) {
    for element in config.forward.iter_mut().chain(&mut config.back) {
        match element {
            Element::Link(link) => more(&mut link.limit, packets),
            Element::Delay(delay) => delay.limit = packets.max(delay.limit),
            Element::VaryingLink(link) => more(&mut link.limit, packets),
            Element::Shaper(shaper) => more(&mut shaper.limit, packets),
            Element::TraceLink(link) => more(&mut link.limit, packets),
            Element::Mtu(narrow) => narrow.mtu = 65_535,
            Element::Policer(policer) => policer.rate = policer.rate.max(Rate::mbit(100)),
            _ => {}
        }
    }
    for host in [&mut config.sender, &mut config.receiver] {
        host.sysctl.netdev_max_backlog = packets.max(host.sysctl.netdev_max_backlog);
        host.rx_ring = packets.max(host.rx_ring);
        host.qdisc_limit = packets.max(host.qdisc_limit);
    }
}

/// A configuration without loss anywhere, and without reasons for a timer to fire. A window without memory for the
/// headers of small segments also causes losses.
///
/// Reasons for timers are long queues, a send buffer of one segment that waits for a delayed ACK, and a slow reader
/// that closes its window (ACKs that cannot offer more are delayed). Tail loss probes, which wait for less, are a
/// reason too.
fn lossless(config: Config) -> Config {
    let mut config = finite(config);
    config.forward.retain(|e| matches!(e, Element::Link(_) | Element::Delay(_)));
    config.back.retain(|e| matches!(e, Element::Link(_) | Element::Delay(_)));
    for element in config.forward.iter_mut().chain(&mut config.back) {
        if let Element::Link(link) = element {
            link.discipline = Discipline::Fifo;
        }
    }
    at_least(&mut config, 1_000_000);
    for element in config.forward.iter_mut().chain(&mut config.back) {
        if let Element::Link(link) = element {
            link.rate = link.rate.max(Rate::gbit(1));
        }
    }
    let least = 8 * u64::from(config.mtu);
    for host in [&mut config.sender, &mut config.receiver] {
        host.sysctl.wmem_max = host.sysctl.wmem_max.max(least);
        host.sysctl.tcp_wmem = host.sysctl.tcp_wmem.map(|bytes| bytes.max(least));
        host.nic_rate = host.nic_rate.max(Rate::gbit(1));
        host.sysctl.tcp_adv_win_scale = 1;
        host.sysctl.tcp_early_retrans = 0;
    }
    for flow in &mut config.flows {
        flow.write = flow.write.max(config.mtu);
        flow.reader = None;
        flow.sndbuf = flow.sndbuf.map(|bytes| bytes.max(least));
    }
    config
}

const SIZE: Size = Size { packets: 3000, samples: 100 };

#[test]
fn every_transfer_ends() {
    random::check(2000, scenarios::config(SIZE).prop_map(finite), everything_arrives);
}

#[test]
fn without_loss_no_timer_fires() {
    random::check(1000, scenarios::config(SIZE).prop_map(lossless), nothing_is_lost_nor_late);
}
