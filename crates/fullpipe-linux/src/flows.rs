//! Ends of flows: facts known before the run, and their state in the guest's records.

use fullpipe_base::path::Direction;
use fullpipe_guest::record::{QUEUES_SIZE, SOCKET_SIZE};
use fullpipe_observe::flow::SendingEnd;
use fullpipe_observe::tcp_info::TcpInfo;
use fullpipe_scenario::{App, Flow, Resolved};

/// The end of a run's flow that sends its data.
pub(super) fn sending_end(flow: &Flow, run: &Resolved) -> SendingEnd {
    let is_mount = flow.app == App::Nfs;
    let accepted = flow.reply_to.is_some() || is_mount && flow.direction == Direction::Backward;
    let answered = run.answer_to(flow).is_some();
    SendingEnd { bulk: flow.app == App::Bulk && !accepted && !answered, accepted }
}

/// The state of a socket in a record: queues, memory, and `struct tcp_info`.
pub(super) fn socket(body: &[u8]) -> TcpInfo {
    let part = |from, to| body.get(from..to).unwrap_or_default();
    let info = body.get(SOCKET_SIZE..).unwrap_or_default();
    TcpInfo::read(part(0, QUEUES_SIZE), part(QUEUES_SIZE, SOCKET_SIZE), info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_guest::record::socket_head;

    #[test]
    fn a_record_has_queues_memory_and_then_the_state() {
        let memory: Vec<u8> = (1..10_u32).flat_map(u32::to_ne_bytes).collect();
        let info: Vec<u8> = (0..=255).collect();
        let body = [&socket_head(&[9, 0, 0, 0], &memory)[..], &info].concat();
        assert_eq!(socket(&body), TcpInfo::read(&[9, 0, 0, 0], &memory, &info));
        assert_eq!(socket(&[]), TcpInfo::default());
    }
}
