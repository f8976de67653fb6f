//! Changes of programs: data that they allow without an answer, and the size of their writes.

use super::super::case::{Case, Sent};
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use crate::analysis::numbers;
use crate::analysis::words;
use crate::analysis::{LARGE_WRITE, SMALL_WRITE};
use crate::scenario::{CORK, Flow, Loop, NODELAY, QUICKACK};
use serde_json::json;
use std::collections::BTreeMap;

/// Factor on the path's round trips for the data that programs allow a flow: the message that allows more arrives late,
/// one at a time.
const ROUND_TRIPS: f64 = 1.25;
/// Factor on the path's round trip for the windows of several connections: what the path does not hold waits in its queue.
const WINDOWS: f64 = 1.1;
/// Most messages that are in flight.
const MOST: u64 = 1_000_000;

/// Most connections in the place of one.
const MOST_CONNECTIONS: u32 = 16;

/// More data without an answer, for each flow with programs that allow less than its part of the path.
pub fn more(case: &Case) -> Vec<Change> {
    case.flows.iter().filter_map(|flow| one(case, flow)).collect()
}

fn one(case: &Case, sent: &Sent) -> Option<Change> {
    let run = &case.today;
    let flow = flow_of(case, sent)?;

    // Only a flow in a dialogue has a window of its program.
    let asks = run.asks(flow)?;
    let today = u64::from(asks.in_flight());
    let size = flow.message().max(1);

    // The window holds several round trips: answers take their time, too.
    let bytes = sent.share_bytes()? * case.round_trip.as_secs_f64() * ROUND_TRIPS;
    let wanted = ((bytes / size as f64).ceil() as u64 + 1).min(MOST);
    if wanted <= today {
        return None;
    }

    // The period of the messages stays as it is.
    let mut app =
        json!({ "kind": "messages", "size": format!("{}B", asks.message()), "in_flight": wanted });
    if let Some(period) = asks.period() {
        app["period"] = period.to_string().into();
    }
    let edit = Edit::flow(&asks.name, &["app"], Some(app));
    let times = numbers::short(wanted as f64 / today.max(1) as f64);

    // The reader of the data sets a window, and the program that asks sets the number of its requests.
    let change = if run.is_credited(flow) {
        let [before, after] = [today, wanted].map(|count| words::bytes(count.saturating_mul(size)));
        let whose = &sent.hosts[1];
        let words = format!(
            "let the program on {whose} allow {after} without an answer: a window {times} times as large; OpenSSH (ssh, scp, \
             sftp) ends at 2 MiB: use HPN-SSH or several connections there"
        );
        Change::new("the program's window", whose, Scope::Application, How::Program { words })
            .values(before, after)
            .why("the programs allow less without an answer than a round trip of the path carries")
    } else {
        let whose = sends(case, asks);
        let words = format!(
            "let the program on {whose} send {wanted} requests before it waits for an answer ({today} today)"
        );
        Change::new("requests in flight", whose, Scope::Application, How::Program { words })
            .values(today, wanted)
            .why(format!(
                "a round trip of the path carries {times} times as many; requests that need the answer of an earlier one \
                 have to wait all the same"
            ))
    };
    Some(change.rank(Rank::Method).edits([edit]))
}

/// Ways out of a limit of the programs, each of which may be enough: more data without an answer, or several connections.
pub fn ways_out(case: &Case) -> Vec<Vec<Change>> {
    let ways = [more(case), connections(case)];
    if ways.iter().any(Vec::is_empty) { Vec::new() } else { ways.into() }
}

/// As many connections in the place of one as the path takes, for each flow with programs that allow less.
fn connections(case: &Case) -> Vec<Change> {
    case.flows.iter().filter_map(|flow| several(case, flow)).collect()
}

fn several(case: &Case, sent: &Sent) -> Option<Change> {
    let run = &case.today;
    let flow = flow_of(case, sent)?;

    // A connection is counted by the flow that asks, and the data has to be that flow.
    let asks = run.asks(flow).filter(|asks| asks.name == flow.name)?;
    let today = u64::from(asks.in_flight()).saturating_mul(flow.message());
    let bytes = sent.share_bytes()? * case.round_trip.as_secs_f64() * WINDOWS;
    let count = (bytes / today.max(1) as f64).ceil() as u32;
    let count = count.clamp(2, MOST_CONNECTIONS);

    let whose = sends(case, flow);
    let words = format!("let the program on {whose} open {count} connections, and share the data");
    let change = Change::new("connections", whose, Scope::Application, How::Program { words })
        .rank(Rank::Method)
        .values(1, count)
        .why("each connection has a window of the program for itself")
        .edits([Edit::Copies { flow: flow.name.clone(), count }]);
    Some(change)
}

/// Larger reads where a rule blames small ones, else larger writes.
pub fn larger_calls(case: &Case, rule: &str) -> Vec<Change> {
    if rule == "small-reads" { larger_reads(case) } else { larger_writes(case) }
}

/// Larger writes of each program that writes little at a time.
fn larger_writes(case: &Case) -> Vec<Change> {
    let run = &case.today;
    let flows = case.flows.iter().filter_map(|sent| {
        let flow = flow_of(case, sent)?;

        // A flow that answers writes as its requests come.
        (run.reverse_flow(flow).is_none()).then_some((flow, &sent.hosts[0]))
    });
    let small = flows.filter(|(flow, _)| flow.write < SMALL_WRITE);
    small
        .map(|(flow, host)| {
            let [before, after] = [flow.write.into(), LARGE_WRITE].map(words::bytes);
            let words = format!("let the program on {host} write {after} at a time");
            Change::new("size of a write", host, Scope::Application, How::Program { words })
                .rank(Rank::Method)
                .values(before, after)
                .why("each call costs the CPU, however little it writes")
                .edits([Edit::flow(&flow.name, &["write"], Some(format!("{LARGE_WRITE}B").into()))])
        })
        .collect()
}

/// Larger reads of each program that reads little at a time.
pub fn larger_reads(case: &Case) -> Vec<Change> {
    let flows = case.flows.iter().filter_map(|sent| {
        let flow = flow_of(case, sent)?;
        let read = flow.reader.map(|reader| reader.read).filter(|read| *read < SMALL_WRITE)?;
        Some((flow, read, &sent.hosts[1]))
    });
    flows
        .map(|(flow, read, host)| {
            let [before, after] = [read.into(), LARGE_WRITE].map(words::bytes);
            let words = format!("let the program on {host} read {after} at a time");
            let size = format!("{LARGE_WRITE}B").into();
            Change::new("size of a read", host, Scope::Application, How::Program { words })
                .rank(Rank::Method)
                .values(before, after)
                .why("each call costs the CPU, however little it reads")
                .edits([Edit::flow(&flow.name, &["reader", "read"], Some(size))])
        })
        .collect()
}

/// A single connection that stays open, in place of all connections of each loop.
pub fn one_connection(case: &Case) -> Vec<Change> {
    let run = &case.today;
    let all = Loop::all(run);
    let Some(first) = all.first() else { return Vec::new() };

    // The host that opens the connections stands for all loops.
    let whose = run.hosts_of(&run.flow[first.first])[0].name;
    let words = format!(
        "let the program on {whose} keep one connection open, in the place of a new one each time"
    );

    // Every loop becomes one connection: half of them would measure both.
    let keys = all.iter().flat_map(|own| own.as_one_connection(run));
    let change = Change::new("connections", whose, Scope::Application, How::Program { words })
        .rank(Rank::Method)
        .values("a new one each time", "one that stays open")
        .why("each new connection starts slowly again")
        .edits(keys.map(|(key, value)| Edit::Set { key, value: Some(value.into()) }));
    vec![change]
}

/// Options of programs for messages with parts that wait. Of lists that gain as much the last one is taken.
pub fn sooner(case: &Case) -> Vec<Vec<Change>> {
    vec![quick_acks(case), without_delay(case), without_cork(case)]
}

/// TCP_NODELAY at each end of the flows that does not set it and has messages with parts that may wait.
fn without_delay(case: &Case) -> Vec<Change> {
    // One message at a time, in one write and one segment, has no part that waits. A message without an answer may follow
    // one that is not acknowledged yet.
    let run = &case.today;
    let has_parts = |own: &&Flow| {
        let is_whole = own.message() <= u64::from(own.write.min(run.mss()));
        let is_alone = run.reverse_flow(own).is_some() && run.opens(own).in_flight() <= 1;
        !(is_whole && is_alone)
    };
    let off = ends(case).filter(has_parts);
    let off = off.filter(|own| !own.has_option(NODELAY));
    off.map(|own| {
        let how = How::SocketOption { name: NODELAY.into(), value: Some(1) };
        Change::new(NODELAY, &own.name, Scope::Application, how)
            .rank(Rank::Method)
            .values("not set", 1)
            .why(format!("{} sends the last part of a message without an ACK", sends(case, own)))
            .edits([Edit::flow(&own.name, &["sockopt", NODELAY], Some(1.into()))])
    })
    .collect()
}

/// TCP_CORK cleared at each end of the flows with a program that sets it and leaves it set.
fn without_cork(case: &Case) -> Vec<Change> {
    let corked = ends(case).filter(|own| own.has_option(CORK));
    corked
        .map(|own| {
            let how = How::SocketOption { name: CORK.into(), value: Some(0) };
            Change::new(CORK, &own.name, Scope::Application, how)
                .rank(Rank::Method)
                .values(1, 0)
                .why(format!("{} sends the last part of a message at once", sends(case, own)))
                .edits([Edit::flow(&own.name, &["sockopt", CORK], Some(0.into()))])
        })
        .collect()
}

/// The flow as the scenario has it.
fn flow_of<'a>(case: &'a Case, sent: &Sent) -> Option<&'a Flow> {
    case.today.flow.iter().find(|own| own.name == sent.name)
}

/// Name of the host that sends a flow's data. Programs of two hosts change apart, though they set the same option.
fn sends<'a>(case: &'a Case, own: &'a Flow) -> &'a str {
    case.today.hosts_of(own)[0].name
}

/// The flows of a case, each followed by the one that answers it or is answered by it.
fn ends(case: &Case) -> impl Iterator<Item = &Flow> {
    let run = &case.today;
    let flows = case.flows.iter().filter_map(|sent| flow_of(case, sent));
    flows.flat_map(|own| run.both_ways(own))
}

/// TCP_QUICKACK after each read, on each host that delays ACKs for which parts of messages wait.
fn quick_acks(case: &Case) -> Vec<Change> {
    let run = &case.today;
    let mut of_hosts: BTreeMap<&str, (Scope, Vec<Edit>)> = BTreeMap::new();
    for read in ends(case).filter(|own| run.gains_by_quick_acks(own)) {
        // Answers are read where the case's data is sent.
        let scope = match read.direction == case.direction {
            true => Scope::Receiver,
            false => Scope::Sender,
        };
        let host = run.hosts_of(read)[1].name;
        let (_, edits) = of_hosts.entry(host).or_insert_with(|| (scope, Vec::new()));
        edits.push(Edit::flow(&read.name, &["quickack"], Some("each-read".into())));
        edits.push(Edit::flow(&read.name, &["receiver_sockopt", QUICKACK], Some(1.into())));
    }

    let change = |(host, (scope, edits)): (&str, (Scope, Vec<Edit>))| {
        let words = format!(
            "let the program on {host} call setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, 1) after each read; Linux leaves quick ACK \
             mode by itself"
        );
        Change::new(QUICKACK, host, scope, How::Program { words })
            .rank(Rank::Method)
            .values("not set", "1 after each read")
            .why("the ACK that the last part of a message waits for is not delayed")
            .edits(edits)
    };
    of_hosts.into_iter().map(change).collect()
}
