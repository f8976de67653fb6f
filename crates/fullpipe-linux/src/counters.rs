//! Counters of the guest's kernel, from records that name them by numbers.

use super::samples::word;
use fullpipe_base::trace::Counter;
use fullpipe_base::units::Time;
use fullpipe_guest::record::Head;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a counter in a record.
const PAIR: usize = 16;

/// Names of each source's counters.
#[derive(Default)]
pub(super) struct Names {
    sources: HashMap<u16, Source>,
}

struct Source {
    host: Arc<str>,
    names: Vec<Arc<str>>,
}

impl Names {
    /// Takes the host and the names of a source, each on a line.
    pub(super) fn name(&mut self, source: u16, text: &str) {
        let mut lines = text.lines().map(Arc::from);
        let host = lines.next().unwrap_or_default();
        self.sources.insert(source, Source { host, names: lines.collect() });
    }

    /// The counters of a record; counters without a name are left out.
    pub(super) fn read(&self, head: Head, body: &[u8]) -> Vec<Counter> {
        let Some(Source { host, names }) = self.sources.get(&head.index) else {
            return Vec::new();
        };
        body.chunks_exact(PAIR)
            .filter_map(|pair| {
                let name = names.get(word(pair, 0) as usize)?.clone();
                let time = Time(head.time_ns);
                Some(Counter { time, host: host.clone(), name, value: word(pair, PAIR / 2) })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_names_of_their_source() {
        let mut names = Names::default();
        names.name(1, "sender\nTcp.InSegs\nTcp.OutSegs");
        names.name(2, "receiver\nUdp.InErrors");
        let body: Vec<u8> = [1, 70, 0, 60_u64].iter().flat_map(|n| n.to_ne_bytes()).collect();
        let head = |index| Head { kind: 0, index, len: body.len() as u32, time_ns: 5 };
        let read = |index| -> Vec<(String, String, u64)> {
            names
                .read(head(index), &body)
                .into_iter()
                .map(|c| (c.host.to_string(), c.name.to_string(), c.value))
                .collect()
        };
        let row = |host: &str, name: &str, value| (host.to_string(), name.to_string(), value);
        assert_eq!(read(1), [row("sender", "Tcp.OutSegs", 70), row("sender", "Tcp.InSegs", 60)]);
        assert_eq!(read(2), [row("receiver", "Udp.InErrors", 60)]);
        assert_eq!(read(3), []);
    }
}
