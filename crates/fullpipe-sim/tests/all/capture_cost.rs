//! Cost of a capture for the CPU of the host in which it listens.

use crate::host_queues::slow_card;
use crate::record::{Record, ToTheEnd};
use fullpipe_sim::config::{Config, Cpu, Qdisc};
use fullpipe_sim::sim;
use fullpipe_sim::trace::{
    Counter, Event, EventKind, FlowSample, Point, Sink, StageInfo, StageSample,
};
use fullpipe_sim::units::{Rate, Time};

/// Record of a run with a capture.
struct Watched(Record, Point);

impl Sink for Watched {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.0.stages(stages);
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.0.flow(sample);
    }
    fn stage(&mut self, sample: &StageSample) {
        self.0.stage(sample);
    }
    fn event(&mut self, event: &Event) {
        self.0.event(event);
    }
    fn counter(&mut self, counter: &Counter) {
        self.0.counter(counter);
    }
    fn point(&self) -> Option<Point> {
        Some(self.1)
    }
}

fn plain(config: &Config) -> Record {
    let mut record = Record::default();
    sim::run(config, &mut record, &mut ToTheEnd).expect("a valid configuration");
    record
}

fn watched(config: &Config, point: Point) -> Record {
    let mut watched = Watched(Record::default(), point);
    sim::run(config, &mut watched, &mut ToTheEnd).expect("a valid configuration");
    watched.0
}

/// Mean rate of 30 MB, Mb/s.
fn rate(record: &Record) -> f64 {
    let finished = record.events().find(|event| event.kind == EventKind::Finished);
    let Event { time, value, .. } = *finished.expect("the run is long enough");
    8e3 * value as f64 / time.0 as f64
}

/// Hosts with a NIC of 1 Gb/s. A segment takes 4 us to send and 2 us to receive, an ACK 2 us.
fn hosts(capture: Time) -> Config {
    let mut config = slow_card(Qdisc::PfifoFast);
    for host in [&mut config.sender, &mut config.receiver] {
        (host.kernel, host.gro, host.timestamps) = ("2.6.20".into(), false, false);
        (host.nic_rate, host.tx_ring, host.qdisc_limit) = (Rate::gbit(1), 512, 1000);
        let (transmit, receive, ack) = (Time::us(4), Time::us(2), Time::us(2));
        host.cpu = Cpu { transmit, receive, ack, capture, ..Cpu::default() };
    }
    config.flows[0].bytes = Some(30_000_000);
    config
}

/// A segment of 1460 bytes takes 4 us and a capture, and half an ACK. The flow gets the rate that this share of the CPU
/// allows.
#[test]
fn a_flow_has_what_a_capture_leaves_of_the_cpu() {
    let config = hosts(Time::us(10));
    let alone = rate(&plain(&config));
    assert!((900.0..950.0).contains(&alone), "{alone}: the card's 1 Gb/s");
    let near = |found: f64, us: f64| (found * us / 1460.0 / 8.0 - 1.0).abs() < 0.04;
    let sender = rate(&watched(&config, Point::Qdisc(0)));
    assert!(near(sender, 4.0 + 10.0 + (2.0 + 10.0) / 2.0), "{sender}");
}

/// A busy receiver acknowledges as its reader reads, so its ACKs are counted. Each costs a capture, except the SYN-ACK.
/// Each arriving packet costs a capture, too, besides 2 us.
#[test]
fn a_receiver_pays_for_segments_and_for_its_acks() {
    let config = hosts(Time::us(10));
    let config = Config { counters: Some(config.end), ..config };
    let record = watched(&config, Point::Qdisc(1));
    let counted = |name: &str| {
        let found = record.counters().find(|c| &*c.host == "receiver" && &*c.name == name);
        found.expect("it is counted").value
    };
    let cpu = record.announced().iter().position(|stage| stage.name == "receiver.cpu");
    let cpu = record.samples().filter(|sample| Some(usize::from(sample.stage)) == cpu).last();
    let busy_us = cpu.expect("samples").busy_ns / 1000;
    let (segments, acks) = (counted("Tcp.InSegs"), counted("Tcp.OutSegs") - 1);
    assert!(acks > 500, "{acks}");
    // The costs of the last ones are owed, as no work follows.
    let unpaid = (segments * 12 + acks * 10).checked_sub(busy_us);
    assert!(unpaid.is_some_and(|us| us <= 20), "{segments} {acks} {busy_us}: {unpaid:?}");
}

/// Neither what listens on a cable, nor what costs nothing; and where nothing listens nothing is paid.
#[test]
fn only_what_a_host_itself_captures_costs() {
    let (free, dear) = (hosts(Time::ZERO), hosts(Time::us(10)));
    let expected = plain(&free);
    for point in [Point::Wire(0), Point::Wire(1), Point::Qdisc(0), Point::Qdisc(1)] {
        assert!(watched(&free, point) == expected, "{point:?} costs nothing");
    }
    assert!(plain(&dear) == expected, "no capture");
    assert!(watched(&dear, Point::Wire(0)) == expected, "a cable is no CPU");
}
