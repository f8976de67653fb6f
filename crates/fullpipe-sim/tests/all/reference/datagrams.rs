//! Datagrams: who sends, answers and reads them, and what is counted.

use super::host::{Host, Process, Step};
use super::late::Skb;
use super::packet::{Body, Datagram, Packet};
use super::{At, Context, World};
use fullpipe_sim::config::{Config, DatagramKind, DatagramReader, Datagrams};
use fullpipe_sim::tcp::behaviour::profile_of;
use fullpipe_sim::tcp::profile::DatagramMemory;
use fullpipe_sim::trace::{Counter, Sink, StageSample};
use fullpipe_sim::units::Time;
use std::collections::{BTreeMap, VecDeque};

/// Sends datagrams.
pub struct Program {
    config: Datagrams,
    /// Time at which each datagram was written.
    written: Vec<Time>,
    /// Datagrams that the kernel was given, and those of them that it refused.
    offered: u64,
    refused: u64,
    /// Numbers of the echo requests that were answered, each time.
    answers: Vec<u64>,
    last_values: BTreeMap<&'static str, u64>,
}

impl Program {
    /// Time at which the next datagram is due.
    pub fn due(&self) -> Option<Time> {
        let number = self.written.len() as u128;
        let own = &self.config;
        let after = match own.kind {
            DatagramKind::Udp { rate, .. } => {
                8_000_000_000 * number * u128::from(own.size) / u128::from(rate.0)
            }
            DatagramKind::Echo { interval } => number * u128::from(interval.0),
        };
        let too_many = own.count.is_some_and(|count| number >= u128::from(count));
        let too_late = own.duration.is_some_and(|d| after >= u128::from(d.0));
        (!too_many && !too_late).then(|| own.start + Time(after as u64))
    }
}

/// Receives them.
pub struct Socket {
    config: Datagrams,
    pub room: u64,
    memory: u64,
    waits: VecDeque<Datagram>,
    /// Datagrams of these that stand in the reader's own queue.
    taken_over: usize,
    /// Memory of what was read that counts still; as much at once is given back, none: all.
    kept: u64,
    at_once: Option<u64>,
    reader: Option<DatagramReader>,
    /// Time at which the reader is done with the last one.
    done: Time,
    awake: bool,
    overflows: u64,
    /// Datagrams that were read: number, and time on the way.
    read: Vec<(u64, u64)>,
    last_values: BTreeMap<&'static str, u64>,
}

impl Socket {
    fn used(&self) -> u64 {
        self.waits.len() as u64 * self.memory + self.kept
    }

    /// The datagram that the reader takes first.
    fn take(&mut self) -> Datagram {
        let datagram = self.waits.pop_front().expect("one that waits");
        let left = match self.taken_over {
            0 => self.waits.len(),
            own => own - 1,
        };
        self.kept += self.memory;
        let keeps = self.at_once.is_some_and(|least| left > 0 && self.kept < least);
        (self.taken_over, self.kept) = match keeps {
            true => (left, self.kept),
            false => (self.waits.len(), 0),
        };
        datagram
    }

    /// The first moment from `now` on at which the reader may read.
    fn may_read(&self, now: Time) -> Time {
        let at = now.max(self.done);
        let Some(pauses) = self.reader.and_then(|reader| reader.pauses) else { return at };
        let period = pauses.on.0 + pauses.off.0;
        let begun = self.config.start.0 + (at.0 - self.config.start.0) / period * period;
        if at.0 - begun < pauses.on.0 { at } else { Time(begun + period) }
    }
}

/// Memory of a datagram of so many bytes, where the smallest head has `smallest`.
fn memory(size: u64, smallest: u64) -> u64 {
    let lines = (size + 28 + 16 + 15).div_ceil(64);
    let head = lines * 64 + 320;
    let slabs = [smallest, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072];
    slabs.into_iter().find(|&slab| slab >= head).expect("a slab") + 256
}

/// The programs, the sockets, and what is answered on a host.
pub fn of_host(
    config: &Config,
    place: usize,
) -> (BTreeMap<usize, Program>, BTreeMap<usize, Socket>, Vec<usize>) {
    let host = config.hosts()[place];
    let profile = profile_of(host.host).expect("a profile");
    let (mut programs, mut sockets, mut echoes) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for (i, own) in config.datagrams.iter().enumerate() {
        let number = config.flows.len() + i;
        let [from, to] = config.hosts_of_datagrams(own).map(|host| host.name);
        let (config, last_values) = (own.clone(), BTreeMap::new());
        if from == host.name {
            let (written, answers) = (Vec::new(), Vec::new());
            programs.insert(
                number,
                Program { config, written, offered: 0, refused: 0, answers, last_values },
            );
        } else if to == host.name {
            let DatagramKind::Udp { rcvbuf, reader, .. } = own.kind else {
                echoes.push(number);
                continue;
            };
            let room = match rcvbuf {
                Some(asked) => (2 * asked.min(host.host.sysctl.rmem_max)).max(2304),
                None => 212_992,
            };
            let size = u64::from(own.size);
            let memory = match profile.datagram_memory {
                DatagramMemory::PayloadAndHead => size + profile.skb_overhead,
                DatagramMemory::Slab => memory(size, 512),
                DatagramMemory::SlabOrSmallHead => memory(size, 576),
            };
            let socket = Socket {
                config,
                room,
                memory,
                waits: VecDeque::new(),
                taken_over: 0,
                kept: 0,
                at_once: profile.udp_memory_batches.then_some(room / 4),
                reader,
                done: Time::ZERO,
                awake: false,
                overflows: 0,
                read: Vec::new(),
                last_values,
            };
            sockets.insert(number, socket);
        }
    }
    (programs, sockets, echoes)
}

impl Host {
    fn copy(&self, bytes: u32) -> Time {
        Time(u64::from(bytes) * self.host.cpu.copy_ps_per_byte / 1000)
    }

    fn put(&mut self, flow: usize, datagram: Datagram, now: Time, cx: &mut Context) -> bool {
        let (ip_len, body) = (datagram.size + 20 + 8, Body::Datagram(datagram));
        let packet = Packet { flow, skb: 0, ip_len, body };
        let taken = self.transmit.offer(now, Skb::plain(vec![packet]), &mut cx.agenda);
        self.follow();
        taken
    }

    pub fn program(&mut self, number: usize, now: Time, cx: &mut Context) {
        let program = &mut self.programs[number];
        if program.config.duration.is_some_and(|d| now.0 - program.config.start.0 >= d.0) {
            return;
        }
        program.written.push(now);
        let size = program.config.size;
        let cost = self.host.cpu.write + self.copy(size);
        if cost > Time::ZERO {
            self.step = Some(Step::Send(number));
            self.cpu.begin_step(now, cost);
        } else {
            self.has_written(number, now, cx);
        }
    }

    pub fn has_written(&mut self, number: usize, now: Time, cx: &mut Context) {
        let program = &self.programs[number];
        let last = program.written.len() - 1;
        let datagram = Datagram {
            number: last as u64,
            written: program.written[last],
            size: program.config.size,
            asks: matches!(program.config.kind, DatagramKind::Echo { .. }),
            answers: false,
        };
        let cpu = now + self.host.cpu.transmit;
        self.programs[number].offered += 1;
        if !self.put(number, datagram, cpu, cx) {
            self.programs[number].refused += 1;
        }
        self.cpu.urgent(now, cpu);
        let due = self.programs[number].due();
        if due.is_some_and(|due| due <= now) {
            self.runnable.push_back(Process::Program(number));
        } else {
            self.timers.set(self.program_timer(number), due, None);
        }
    }

    pub fn datagram(&mut self, flow: usize, datagram: Datagram, at: At, cx: &mut Context) -> Time {
        let At { now, cpu } = at;
        if datagram.asks {
            let answer = Datagram { asks: false, answers: true, ..datagram };
            let cpu = cpu + self.host.cpu.transmit;
            self.put(flow, answer, cpu, cx);
            return cpu;
        }
        if datagram.answers {
            let program = &mut self.programs[flow];
            program.answers.push(datagram.number);
            cx.round_trips.push((now, flow, (cpu - datagram.written).0));
            return cpu;
        }
        let socket = &mut self.sockets[flow];
        if socket.used() > socket.room {
            socket.overflows += 1;
            return cpu;
        }
        socket.waits.push_back(datagram);
        self.note_sockets(now);
        let socket = &mut self.sockets[flow];
        if !socket.awake {
            self.go_on_to_read(flow, now);
        }
        cpu
    }

    /// The reader of a socket reads, or sleeps until it may, or until something comes.
    pub fn go_on_to_read(&mut self, number: usize, now: Time) {
        let socket = &mut self.sockets[number];
        socket.awake = !socket.waits.is_empty();
        let at = socket.may_read(now);
        if socket.awake && at > now {
            self.timers.set(self.socket_timer(number), Some(at), None);
        } else if socket.awake {
            self.runnable.push_back(Process::Socket(number));
        }
    }

    pub fn socket(&mut self, number: usize, now: Time) {
        let cost = self.host.cpu.read + self.copy(self.sockets[number].config.size);
        if cost > Time::ZERO {
            self.step = Some(Step::ReadDatagram(number));
            self.cpu.begin_step(now, cost);
        } else {
            self.has_read_datagram(number, now);
        }
    }

    pub fn has_read_datagram(&mut self, number: usize, now: Time) {
        let socket = &mut self.sockets[number];
        let datagram = socket.take();
        socket.read.push((datagram.number, (now - datagram.written).0));
        let bits = 8_000_000_000 * u128::from(socket.config.size);
        let works = socket.reader.and_then(|reader| reader.rate);
        let works = works.map_or(0, |rate| bits.div_ceil(u128::from(rate.0)) as u64);
        socket.done = now + Time(works);
        self.go_on_to_read(number, now);
        self.note_sockets(now);
    }

    /// Notes that the content of the sockets has changed.
    fn note_sockets(&mut self, now: Time) {
        let sockets = self.sockets.values();
        let waiting = sockets.clone().map(|socket| socket.waits.len() as u64).sum();
        let bytes = sockets.clone().map(Socket::used).sum();
        let full = sockets.clone().any(|socket| socket.used() > socket.room);
        self.socket_log.push(SocketLogEntry { from: now, waiting, bytes, full });
    }

    /// All of it up to `now`, from the beginning.
    pub fn sockets_sample(&mut self, now: Time) -> Option<StageSample> {
        if self.sockets.is_empty() {
            return None;
        }
        let last = *self.socket_log.last().unwrap_or(&SocketLogEntry::default());
        self.socket_log.push(SocketLogEntry { from: now, ..last });
        let mut sample = StageSample::default();
        let (mut until, mut byte_ns) = (Time::ZERO, 0);
        let mut before = SocketLogEntry::default();
        for held in &self.socket_log {
            let lasted = (held.from - until).0;
            sample.waiting_ns += before.waiting * lasted;
            byte_ns += before.bytes * lasted;
            sample.full_ns += if before.full { lasted } else { 0 };
            sample.empty_ns += if before.waiting == 0 { lasted } else { 0 };
            (until, before) = (held.from, *held);
        }
        sample.waiting_byte_us = byte_ns / 1000;
        let recent = self.socket_log[self.socket_log_sampled..].iter();
        sample.peak = recent.map(|held| held.waiting).max().unwrap_or(0);
        self.socket_log_sampled = self.socket_log.len() - 1;
        for socket in self.sockets.values() {
            sample.waiting += socket.waits.len() as u64;
            sample.waiting_bytes += socket.used();
            sample.left += socket.read.len() as u64;
            sample.dropped += socket.overflows;
        }
        sample.entered = sample.left + sample.waiting;
        Some(sample)
    }
}

/// Content of a host's sockets from a time on.
#[derive(Clone, Copy, Default)]
pub struct SocketLogEntry {
    from: Time,
    waiting: u64,
    bytes: u64,
    full: bool,
}

/// Number of times that a number stands behind the same one.
fn repeated(numbers: impl Iterator<Item = u64> + Clone) -> u64 {
    let distinct: std::collections::BTreeSet<u64> = numbers.clone().collect();
    (numbers.count() - distinct.len()) as u64
}

/// Jitter by the last lines of RFC 3550, A.8.
fn jitter(read: &[(u64, u64)]) -> u64 {
    let mut scaled: i64 = 0;
    for pair in read.windows(2) {
        let d = pair[1].1 as i64 - pair[0].1 as i64;
        scaled += d.abs() - ((scaled + 8) >> 4);
    }
    (scaled >> 4) as u64
}

/// Lost, and for the first time behind one with a higher number.
fn by_number(read: &[(u64, u64)]) -> [u64; 2] {
    let numbers: Vec<u64> = read.iter().map(|(number, _)| *number).collect();
    let mut seen = std::collections::BTreeSet::new();
    let mut behind = 0;
    for &number in &numbers {
        let highest = seen.last().copied();
        if seen.insert(number) && highest.is_some_and(|highest| number < highest) {
            behind += 1;
        }
    }
    let upto = seen.last().map_or(0, |last| last + 1);
    [upto - seen.len() as u64, behind]
}

/// Writes round trips and changed counters to `sink`.
pub fn emit(world: &mut World, now: Time, sink: &mut dyn Sink) {
    let mut trips = std::mem::take(&mut world.context.round_trips);
    trips.sort();
    for (time, number, value) in trips {
        let host = world.hosts.iter().find(|host| host.programs.contains_key(&number));
        let host = host.expect("somebody asked");
        let name = &host.programs[number].config.name;
        let name = format!("datagrams.{name}.rtt_ns").into();
        sink.counter(&Counter { time, host: host.name.as_str().into(), name, value });
    }
    let numbers: std::collections::BTreeSet<usize> =
        world.hosts.iter().flat_map(|host| host.programs.keys().copied()).collect();
    for number in numbers {
        for host in world.hosts.iter_mut().filter(|host| host.programs.contains_key(&number)) {
            let program = &mut host.programs[number];
            let mut all = vec![("sent", program.offered)];
            all.push(("refused", program.refused));
            if matches!(program.config.kind, DatagramKind::Echo { .. }) {
                all.push(("received", program.answers.len() as u64));
                all.push(("duplicates", repeated(program.answers.iter().copied())));
            }
            let name = program.config.name.clone();
            changed(
                &mut program.last_values,
                all,
                Labels { name: &name, host: &host.name, time: now },
                sink,
            );
        }
        for host in world.hosts.iter_mut().filter(|host| host.sockets.contains_key(&number)) {
            let socket = &mut host.sockets[number];
            let [lost, reordered] = by_number(&socket.read);
            let all = vec![
                ("received", socket.read.len() as u64),
                ("lost", lost),
                ("reordered", reordered),
                ("duplicates", repeated(socket.read.iter().map(|(number, _)| *number))),
                ("jitter_ns", jitter(&socket.read)),
                ("rcvbuf_errors", socket.overflows),
            ];
            let name = socket.config.name.clone();
            changed(
                &mut socket.last_values,
                all,
                Labels { name: &name, host: &host.name, time: now },
                sink,
            );
        }
    }
}

/// Labels of a counter of datagrams, and its time.
struct Labels<'a> {
    name: &'a str,
    host: &'a str,
    time: Time,
}

fn changed(
    last_values: &mut BTreeMap<&'static str, u64>,
    all: Vec<(&'static str, u64)>,
    of: Labels,
    sink: &mut dyn Sink,
) {
    let Labels { name, host, time } = of;
    for (what, value) in all {
        if last_values.insert(what, value).unwrap_or(0) != value {
            let name = format!("datagrams.{name}.{what}").into();
            sink.counter(&Counter { time, host: host.into(), name, value });
        }
    }
}
