//! Bounds of a configuration, stated once. Within them a run does not panic: sums of its times and sizes fit into 64
//! bits.

mod rpc;

use super::{
    App, Config, DatagramKind, Datagrams, Direction, Driver, Element, Flow, Host, Neighbour, Qdisc,
    Sysctl, System,
};
use crate::bounds::{LONGEST, demand};
use crate::packet::DATAGRAM_HEADERS;
use crate::units::{Rate, Time};
use alloc::format;
use alloc::string::String;

/// Longest time of one piece of a host's work.
const SLOWEST: Time = Time::secs(1);
/// Slowest copy: 1 us per byte, in picoseconds.
const SLOWEST_COPY_PS: u64 = 1_000_000;
/// Largest first cwnd of a route, packets.
const LARGEST_INITCWND: u32 = 65_535;
/// Largest buffer, bytes: Linux keeps these numbers in an `int`.
const LARGEST: u64 = i32::MAX as u64;

impl Config {
    /// Checks the bounds of a run's configuration.
    ///
    /// # Errors
    /// The first violated bound, naming the field.
    pub fn check(&self) -> Result<(), String> {
        demand(!self.flows.is_empty(), "flows: at least one is needed")?;
        demand((68..=65535).contains(&self.mtu), "mtu: 68 to 65535 bytes")?;
        demand(
            self.hosts().iter().all(|own| own.host.mtu.is_none_or(|mtu| mtu >= self.mtu)),
            "mtu of a host: that of the path at least",
        )?;
        demand(self.sample >= Time::us(1), "sample: at least 1 us")?;
        demand(self.end <= LONGEST, format!("end: at most {LONGEST}"))?;
        self.forward.iter().chain(&self.back).try_for_each(Element::check)?;
        host(&self.sender, "sender")?;
        host(&self.receiver, "receiver")?;
        self.neighbours.iter().try_for_each(|beside| host(&beside.host, &beside.name))?;
        self.stations()?;
        self.flows.iter().try_for_each(flow)?;
        self.datagrams.iter().try_for_each(|own| datagrams(own, self.mtu))?;
        let numbers = self.flows.len() + self.datagrams.len();
        demand(numbers < usize::from(u16::MAX), "flows and datagrams: at most 65534")?;

        // Each answer marks its flow, so a second answer is found.
        let mut answered = alloc::vec![false; self.flows.len()];
        self.flows.iter().try_for_each(|flow| self.answer(flow, &mut answered))?;
        self.loops()?;
        self.check_rpc()
    }

    /// Checks further hosts, and flows between hosts.
    fn stations(&self) -> Result<(), String> {
        let hosts = self.hosts();
        for (at, own) in hosts.iter().enumerate() {
            let twice = hosts[..at].iter().any(|other| other.name == own.name);
            demand(!twice, format!("{}: two hosts have that name", own.name))?;
        }
        for Neighbour { name, direction, host } in &self.neighbours {
            let (way, next) = match direction {
                Direction::Forward => (&self.forward, &self.sender),
                Direction::Backward => (&self.back, &self.receiver),
            };

            // A run has one set of options for each end of the path.
            let options = |host: &Host| {
                (host.timestamps, host.sysctl.tcp_sack, host.sysctl.tcp_window_scaling)
            };
            demand(
                options(host) == options(next),
                format!(
                    "{name}: timestamps, SACK and window scaling as the host beside it has them"
                ),
            )?;

            // The delay is the lookahead by which hosts work ahead of each other.
            demand(
                way.iter().any(|e| match e {
                    Element::Delay(delay) => delay.delay > Time::ZERO && delay.timer.is_none(),
                    _ => false,
                }),
                format!("{name}: a way from several hosts needs a delay without a timer"),
            )?;
        }
        let of_flows = self.flows.iter().map(|own| (&own.name, own.direction, &own.from, &own.to));
        let others = self.datagrams.iter();
        let others = others.map(|own| (&own.name, own.direction, &own.from, &own.to));
        for (flow, there, from, to) in of_flows.chain(others) {
            for (name, direction) in [(from, there), (to, there.turned())] {
                let Some(name) = name else { continue };
                let what = format!("flow {flow}: no host {name} at that end");
                demand(
                    hosts.iter().any(|host| host.name == name && host.direction == direction),
                    what,
                )?;
            }
        }
        Ok(())
    }

    /// Checks loops: each connection follows one with a lower index, from the same host.
    fn loops(&self) -> Result<(), String> {
        let mut followed = alloc::vec![false; self.flows.len()];
        for (at, flow) in self.flows.iter().enumerate() {
            let Some(after) = flow.after else { continue };
            let demand = |holds, what: &str| demand(holds, format!("flow {}: {what}", flow.name));

            // Only earlier flows can be followed, so no circle closes.
            let before = self.flows[..at].get(after.flow);
            demand(before.is_some(), "follows a flow that stands before it")?;
            let is_first = !core::mem::replace(&mut followed[after.flow], true);
            demand(is_first, "is the only one that follows its flow")?;
            let from = |own| self.hosts_of(own)[0].name;
            let alike =
                before.is_some_and(|before| before.answers.is_none() && from(before) == from(flow));
            demand(alike && flow.answers.is_none(), "follows a flow that the same host begins")?;
            demand(after.pause <= LONGEST, "pauses for three years at most")?;
        }
        Ok(())
    }

    /// Checks a flow that answers another one: that flow goes the other way, is not `answered` yet, and neither has a
    /// pace.
    fn answer(&self, flow: &Flow, answered: &mut [bool]) -> Result<(), String> {
        let Some(of) = flow.answers else { return Ok(()) };
        let demand = |holds, what: &str| demand(holds, format!("flow {}: {what}", flow.name));
        let other = self.flows.get(of).filter(|other| other.answers.is_none());
        demand(other.is_some(), "answers a flow that is no answer itself")?;
        demand(!core::mem::replace(&mut answered[of], true), "is the only answer to its flow")?;
        let plain = |flow: &Flow| {
            matches!(flow.app, App::Bulk | App::Messages { .. }) && flow.reader.is_none()
        };
        let ends = |flow| self.hosts_of(flow).map(|host| host.name);
        let same = other.is_some_and(|other| {
            let [from, to] = ends(other);
            ends(flow) == [to, from]
        });
        demand(same, "a flow and its answer are between the same hosts")?;
        demand(
            other.is_some_and(|other| other.direction != flow.direction && plain(other))
                && plain(flow),
            "a flow and its answer go opposite ways, bulk or in messages, without a reader's rate",
        )?;
        demand(flow.duration.is_none(), "an answer ends with its flow")
    }
}

/// Checks datagrams: no fragments, and a pace.
fn datagrams(own: &Datagrams, mtu: u32) -> Result<(), String> {
    let demand = |holds, what: &str| demand(holds, format!("datagrams {}: {what}", own.name));
    let most = mtu.saturating_sub(DATAGRAM_HEADERS);
    demand((1..=most).contains(&own.size), "size: 1 byte to the MTU less 28")?;
    demand(own.start <= LONGEST, "start: at most three years")?;
    demand(own.duration.is_none_or(|lasts| lasts <= LONGEST), "duration: at most three years")?;
    match own.kind {
        DatagramKind::Udp { rate, rcvbuf, reader } => {
            demand(rate > Rate(0), "rate above 0")?;
            demand(rcvbuf.is_none_or(|bytes| bytes <= LARGEST), "rcvbuf: below 2 GiB")?;
            let Some(reader) = reader else { return Ok(()) };
            demand(reader.rate != Some(Rate(0)), "a reader's rate above 0")?;
            let fits = |time: Time| time > Time::ZERO && time <= LONGEST;
            let pauses = reader.pauses;
            demand(
                pauses.is_none_or(|own| fits(own.on) && fits(own.off)),
                "a reader's `on` and `off` above 0 and at most three years",
            )
        }
        DatagramKind::Echo { interval } => {
            demand(interval >= Time::us(1) && interval <= LONGEST, "interval: at least 1 us")
        }
    }
}

fn host(host: &Host, name: &str) -> Result<(), String> {
    let is_open = host.system != System::FixedWindow(0);
    demand(is_open, format!("{name}: a window of 1 byte at least"))?;
    let demand = |holds, what| demand(holds, format!("{name}: {what}"));
    demand((1..=1000).contains(&host.hz), "hz: 1 to 1000")?;
    demand(host.nic_rate > Rate(0), "nic_rate: above 0")?;
    let initcwnd = host.initcwnd.is_none_or(|packets| (1..=LARGEST_INITCWND).contains(&packets));
    demand(initcwnd, "initcwnd: 1 to 65535 packets")?;
    demand(host.mtu.is_none_or(|bytes| bytes <= 65_535), "mtu: 65535 bytes at most")?;
    if let Qdisc::Of(discipline, _) = &host.qdisc {
        discipline.check(&format!("{name}.qdisc"))?;
    }
    way_out(host).map_err(|what| format!("{name}: {what}"))?;
    demand(
        host_times(host).iter().all(|&t| t <= SLOWEST),
        "coalesce, rx_coalesce, tx_coalesce, gro_flush_timeout and cpu: at most 1 s",
    )?;
    demand(host.cpu.copy_ps_per_byte <= SLOWEST_COPY_PS, "cpu.copy: at most 1 us per byte")?;
    sysctls(&host.sysctl).map_err(|what| format!("{name}: sysctl: {what}"))
}

/// Checks the queues of a host, and the driver's rule for a full ring.
fn way_out(host: &Host) -> Result<(), String> {
    let plain = host.qdisc == Qdisc::PfifoFast && !host.bql && !host.tso;
    demand(
        host.driver == Driver::Stops || plain,
        "driver: one that requeues needs pfifo_fast, and neither bql nor tso",
    )?;
    let places = [host.qdisc_limit, host.tx_ring, host.rx_ring];
    demand(!places.contains(&0), "qdisc, tx_ring and rx_ring hold at least one packet")?;
    let in_order =
        1 <= host.tx_stop && host.tx_stop <= host.tx_wake && host.tx_wake <= host.tx_ring;
    demand(in_order, "tx_stop, tx_wake, tx_ring: each no more than the next one, at least 1")?;
    let plain = (host.tx_stop, host.tx_wake) == (1, 1);
    demand(
        host.driver == Driver::Stops || plain,
        "driver: one that requeues stops no queue, so tx_stop and tx_wake are 1",
    )
}

/// Interrupt moderation times of a host, and its costs of calls and packets.
fn host_times(host: &Host) -> [Time; 11] {
    let cpu = &host.cpu;
    [
        host.interrupt_gap,
        host.rx_coalesce,
        host.tx_coalesce,
        host.gro_flush_timeout,
        cpu.write,
        cpu.read,
        cpu.transmit,
        cpu.receive,
        cpu.ack,
        cpu.walk,
        cpu.capture,
    ]
}

/// Most pages of memory for all sockets of a host.
const MOST_PAGES: u64 = 1 << 40;

fn sysctls(all: &Sysctl) -> Result<(), String> {
    let Sysctl { rmem_max, wmem_max, tcp_rmem, tcp_wmem, .. } = *all;
    let sizes = tcp_rmem.into_iter().chain(tcp_wmem).chain([rmem_max, wmem_max]);
    demand(sizes.max() <= Some(LARGEST), "buffers of at most 2147483647 bytes")?;
    demand((-31..=31).contains(&all.tcp_adv_win_scale), "tcp_adv_win_scale is -31 to 31")?;
    demand(all.netdev_budget != Some(0), "netdev_budget is at least 1")?;
    demand(
        all.tcp_mem.is_none_or(|mem| 0 < mem[0] && mem.is_sorted() && mem[2] <= MOST_PAGES),
        "tcp_mem is three ascending numbers, 1 to 2^40",
    )?;
    demand((1..=127).contains(&all.tcp_reordering), "tcp_reordering is 1 to 127")?;
    demand(all.tcp_frto <= 2, "tcp_frto is 0 to 2")?;
    demand(all.tcp_ecn <= Some(2), "tcp_ecn is 0 to 2")?;
    demand(all.tcp_mtu_probing <= Some(2), "tcp_mtu_probing is 0 to 2")?;
    let sizes = [all.tcp_base_mss, all.tcp_mtu_probe_floor, all.tcp_min_snd_mss];
    let sizes = sizes.into_iter().flatten().all(|size| (48..=65_535).contains(&size));
    demand(sizes, "tcp_base_mss, tcp_mtu_probe_floor and tcp_min_snd_mss are 48 to 65535")?;
    demand(all.tcp_probe_interval <= Some(4_294_967), "tcp_probe_interval: 4294967 s at most")?;
    demand(all.tcp_comp_sack_nr <= Some(255), "tcp_comp_sack_nr is 0 to 255")?;
    demand(all.tcp_early_retrans <= 4, "tcp_early_retrans is 0 to 4")
}

fn flow(flow: &Flow) -> Result<(), String> {
    let demand = |holds, what: &str| demand(holds, format!("flow {}: {what}", flow.name));
    demand(flow.write > 0, "write of at least 1 byte")?;
    demand(flow.app != App::Rate(Rate(0)), "rate above 0")?;
    if let App::OnOff { on, off } = flow.app {
        demand(on > Time::ZERO && off > Time::ZERO, "on and off above 0")?;
        demand(on.0.checked_add(off.0).is_some(), "on and off together below 2^64 ns")?;
    }
    if let App::Messages { size, in_flight, period, .. } = flow.app {
        demand(
            size > 0 && in_flight > 0 && period != Some(Time::ZERO),
            "messages of at least 1 byte, at least one in flight, and a period above 0",
        )?;
    }
    demand(
        flow.reader.as_ref().is_none_or(|reader| reader.rate > Rate(0) && reader.read > 0),
        "a reader's rate above 0, reads of at least 1 byte",
    )?;
    demand(flow.start <= LONGEST, "starts within three years")
}
