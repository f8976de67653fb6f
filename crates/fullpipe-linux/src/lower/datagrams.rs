//! Plan of datagrams for the guest, and keys that it cannot do.

use super::{Answers, refused};
use fullpipe_base::path::Direction;
use fullpipe_guest::plan;
use fullpipe_scenario::{DatagramKind, DatagramReader, Datagrams, Resolved};

/// The plan of the guest for datagrams of `run`.
pub(super) fn datagrams(own: &Datagrams, run: &Resolved) -> plan::Datagrams {
    let backward = own.direction == Direction::Backward;
    let reads = if backward { &run.hosts.sender } else { &run.hosts.receiver };
    plan::Datagrams {
        name: own.name.clone(),
        backward,
        size: own.size,
        rate: own.rate.map_or(1, |rate| rate.0),
        // setsockopt grants at most net.core.rmem_max.
        rcvbuf: own.rcvbuf.map(|bytes| bytes.min(reads.config.sysctl.rmem_max)),
        reader: own.reader.map(reader),
        start_ns: own.start.0,
        duration_ns: own.duration.map(|time| time.0),
        count: own.count,
    }
}

fn reader(own: DatagramReader) -> plan::DatagramReader {
    let [on_ns, off_ns] = [own.on, own.off].map(|time| time.map_or(0, |time| time.0));
    plan::DatagramReader { rate: own.rate.map(|rate| rate.0), on_ns, off_ns }
}

/// The keys of datagrams that are not done exactly.
pub(super) fn answers(run: &Resolved, answers: &mut Answers) {
    let most = plan::MAX_FLOWS;

    // Too many flows alone have an answer of their own.
    if run.flow.len() <= most && run.flow.len() + run.datagrams.len() > most {
        let why = format!("{}; one guest runs {most} with flows at most", run.datagrams.len());
        answers.push(refused("datagrams", &why));
    }
    for own in &run.datagrams {
        let key = |key: &str| format!("datagrams.{}.{key}", own.name);
        if own.kind == DatagramKind::Ping {
            let why = "the guest's programs send UDP; the simulator sends echo requests too";
            answers.push(refused(&key("kind"), why));
        }
        if own.size < plan::DATAGRAM {
            let why = format!(
                "{} bytes; the number of a datagram and its time take {}",
                own.size,
                plan::DATAGRAM
            );
            answers.push(refused(&key("size"), &why));
        }
        for (end, host) in [("from", &own.from), ("to", &own.to)] {
            if host.is_some() {
                let why = "a guest's datagrams are between `sender` and `receiver`";
                answers.push(refused(&key(end), why));
            }
        }
    }
}
