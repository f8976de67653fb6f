//! Bounds that no run can break: counters that grow, a link's rate, the path's delay, lists of losses.

use fullpipe::parity::table::{Row, Table};
use fullpipe::scenario::{self, App, Flow, Host, Resolved};
use fullpipe_sim::config::Element;
use fullpipe_sim::units::Time;

/// Frames by which a rate may seem exceeded: the burst of the link's token bucket, and the frame in transmission at the
/// sample before.
const FRAMES: f64 = 3.0;
/// Time within which a link sends late data, s; a link is late by up to half a microsecond.
const SLACK_S: f64 = 4e-6;

/// Checks a table against its scenario, of which all listed losses have happened.
pub fn check(name: &str, run: &Resolved, table: &Table) {
    possible(name, run, table);
    lists_are_lost(name, run, table);
}

/// Checks a table against its scenario. Lists of losses in the scenario may be longer than the run.
pub fn possible(name: &str, run: &Resolved, table: &Table) {
    assert_eq!(table.complete.len(), run.flow.len(), "{name}");
    moments(name, run, table);
    for (index, flow) in run.flow.iter().enumerate() {
        let rows = table.flow(index);
        grows(name, &rows);
        round_trips(name, run, run.hosts_of(flow)[0].host, &rows);
        let last = rows[rows.len() - 1];
        if let (Some(bytes), Some(at)) = (flow.bytes, table.complete[index].1) {
            assert_eq!(last.delivered, bytes, "{name}");
            assert!(at > floor(run).as_secs_f64(), "{name}: complete after {at} s");
        }
    }
    no_more_than_the_link_carries(name, run, table);
    something_came(name, run, table);
}

/// Each flow that has had time for it has delivered something. A connection of a loop may not have begun.
fn something_came(name: &str, run: &Resolved, table: &Table) {
    let begins = run.flow.iter().enumerate().filter(|(_, flow)| flow.after.is_none());
    for (index, flow) in begins {
        let rows = table.flow(index);
        let last = rows[rows.len() - 1];
        let lasted = last.time_s - flow.start.as_secs_f64();
        if swallows(run, flow) {
            assert_eq!(last.delivered, 0, "{name}: full packets do not pass");
            continue;
        }
        // The handshake, the first data, a lost SYN.
        if lasted > 3.0 * floor(run).as_secs_f64() + 1.0 {
            assert!(last.delivered > 0, "{name}: nothing in {lasted} s");
        }
    }
}

/// True where no full packet of a flow that always writes passes its way, and nobody informs its sender: a path MTU black hole.
fn swallows(run: &Resolved, flow: &Flow) -> bool {
    let searches = run.hosts_of(flow)[0].host.config.sysctl.tcp_mtu_probing.unwrap_or(0) > 0;
    flow.app == App::Bulk && !searches && run.swallowing(flow.direction).next().is_some()
}

fn elements(run: &Resolved) -> impl Iterator<Item = Element> {
    let around = run.surroundings();
    run.path.forward.iter().chain(&run.path.back).map(move |element| element.config(&around))
}

/// The round trip without queues.
fn floor(run: &Resolved) -> Time {
    let delays = run.path.forward.iter().chain(&run.path.back).map(|element| element.delay());
    delays.fold(Time::ZERO, |sum, delay| sum + delay)
}

/// Equally far apart but for the run's end, all flows at each.
fn moments(name: &str, run: &Resolved, table: &Table) {
    let times: Vec<f64> = table.flow(0).iter().map(|row| row.time_s).collect();
    assert!(times.len() >= 8, "{name}: {} moments", times.len());
    for index in 1..run.flow.len() {
        let others: Vec<f64> = table.flow(index).iter().map(|row| row.time_s).collect();
        assert_eq!(others, times, "{name}");
    }
    let last = times[times.len() - 1];
    assert!(last <= run.duration.as_secs_f64(), "{name}: {last} s is after the end");
    for pair in times.windows(2) {
        let (gap, at_end) = (pair[1] - pair[0], pair[1] == run.duration.as_secs_f64());
        let cut = at_end && gap > 0.0 && gap < times[0];
        assert!(cut || (gap - times[0]).abs() < 1e-9, "{name}: from {pair:?}");
    }
}

fn grows(name: &str, rows: &[&Row]) {
    for pair in rows.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let fine = a.sent <= b.sent && a.retransmitted <= b.retransmitted;
        assert!(fine && a.delivered <= b.delivered, "{name}: {a:?} {b:?}");
        assert!(b.retransmitted <= b.sent, "{name}: {b:?}");
    }
}

/// srtt is no less than the path's delay, where it was measured at all. Kernels before 3.15 measure in jiffies, later
/// ones by timestamps of 1 ms where the acknowledged data was sent twice.
fn round_trips(name: &str, run: &Resolved, host: &Host, rows: &[&Row]) {
    let fine = host.config.kernel.starts_with("6.");
    for row in rows.iter().filter(|row| row.srtt_us > 0) {
        let grain = match fine {
            true if row.retransmitted == 0 => 0,
            true => 1000,
            false => 1_000_000 / u64::from(host.config.hz),
        };
        let least = (floor(run).0 / 1000).saturating_sub(grain);
        assert!(u64::from(row.srtt_us) >= least, "{name}: srtt below {least} us in {row:?}");
    }
}

/// Between two rows a receiver can get no more than the slowest link of its way passes, except data that waits for a
/// filled hole: that data counts from the start.
fn no_more_than_the_link_carries(name: &str, run: &Resolved, table: &Table) {
    for (direction, elements, _) in run.ways_of_data() {
        let flows: Vec<usize> =
            (0..run.flow.len()).filter(|flow| run.flow[*flow].direction == direction).collect();
        let rated = elements.iter().filter_map(|element| element.rate());
        let (rate, framing) = rated.min_by_key(|(rate, _)| rate.0).expect("a link");
        let frame = f64::from(run.path.mtu + framing.overhead());
        let burst = |element: &scenario::Element| match element {
            scenario::Element::Shaper(shaper) => shaper.burst as f64,
            _ => 0.0,
        };
        let bursts: f64 = elements.iter().map(burst).sum();
        let payload_per_s = rate.0 as f64 / 8.0 * f64::from(run.mss()) / frame;
        let first = flows.iter().map(|flow| run.flow[*flow].start).min().expect("a flow");
        let first = first + floor(run);
        for (at, row) in table.flow(flows[0]).iter().enumerate() {
            let all: u64 = flows.iter().map(|flow| table.flow(*flow)[at].delivered).sum();
            // Data leaves one round trip after the start, when the handshake is over.
            let time_s = (row.time_s - first.as_secs_f64()).max(0.0) + SLACK_S;
            let most = payload_per_s * time_s + FRAMES * frame + bursts;
            assert!(all as f64 <= most, "{name}: {all} bytes at {} s, {most} at most", row.time_s);
        }
    }
}

/// Checks that exactly the listed packets are lost; all of them have arrived.
fn lists_are_lost(name: &str, run: &Resolved, table: &Table) {
    for element in elements(run) {
        let Element::Drop(list) = element else { continue };
        let stage = table.stage(&list.name).expect("a stage of this name");
        assert_eq!(stage.dropped as usize, list.segments.len() + list.acks.len(), "{name}");
        let last = list.segments.last().max(list.acks.last()).expect("something to lose");
        assert!(stage.entered + stage.dropped > *last, "{name}: only {} came", stage.entered);
        let sent: u64 =
            (0..run.flow.len()).filter_map(|f| table.flow(f).last().map(|r| r.retransmitted)).sum();
        assert!(sent >= list.segments.len() as u64, "{name}: {sent} retransmitted");
    }
}
