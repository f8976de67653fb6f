//! A scenario of a mount with given settings, by which a plan is proven.

use super::Question;
use super::settings::{Buffers, Settings};
use crate::scenario::NfsVersion;
use fullpipe_sim::units::Time;
use std::fmt::Write;

/// A file takes at least so long at the path's rate.
const LEAST_TIME: Time = Time::secs(2);
/// And so many round trips, so that slow start is not most of it.
const ROUND_TRIPS: u64 = 50;
/// Largest file, bytes, so that genuine Linux has memory for it.
const LARGEST_FILE: u64 = 1 << 30;
/// The path's queue holds so many packets at least.
const LEAST_QUEUE: u64 = 100;
/// The slowest run, as a multiple of the time that a full path takes.
const PATIENCE: u64 = 2000;

/// Bytes of the file that is written or read.
pub fn file(q: &Question) -> u64 {
    let time = LEAST_TIME.max(Time(q.path.rtt.0.saturating_mul(ROUND_TRIPS)));
    let bytes = q.path.rate.0 as f64 / 8.0 * time.as_secs_f64();
    (bytes as u64).clamp(1 << 20, LARGEST_FILE).next_multiple_of(1 << 20).min(LARGEST_FILE)
}

/// One far client that writes and then, in a run of its own, reads a file of [`file`] bytes: with each of these settings,
/// a variant "NAME, write" and "NAME, read". The path's queue is drop-tail and holds a round trip.
pub fn scenario(q: &Question, settings: &[(&str, Settings)]) -> String {
    let mut text = path(q);
    for (name, settings) in settings {
        for operation in ["write", "read"] {
            variant(&mut text, q, name, settings, operation);
        }
    }
    text
}

fn path(q: &Question) -> String {
    let file = file(q);
    let whole = Time(q.path.rtt.0 + (file as f64 * 8e9 / q.path.rate.0 as f64) as u64);
    let duration = Time(whole.0.saturating_mul(PATIENCE)).min(Time::secs(86_400));
    let packets = q.path.bdp_packets().ceil() as u64;
    let queue = packets.max(LEAST_QUEUE) * u64::from(q.path.packet());
    let version = match q.version {
        NfsVersion::V3 => "3",
        NfsVersion::V4_2 => "4.2",
    };
    format!(
        "# One client of a plan, alone on the path: with the kernel's settings and with the planned ones.\n\n\
         title = \"NFS over {rate} and {rtt}\"\n\
         seed = 1\n\
         duration = \"{duration}\"\n\n\
         [report]\n\
         interval = \"1s\"\n\
         sample = \"10ms\"\n\n\
         [path]\n\
         rate = \"{rate}\"\n\
         framing = \"{framing}\"\n\
         mtu = {mtu}\n\
         delay = {{ back = \"{rtt}\" }}\n\
         queue = {{ limit = \"{queue}B\" }}          # a round trip, assumed\n\n\
         [hosts.sender]\n\
         kernel = \"{kernel}\"\n\
         timestamps = {timestamps}\n\n\
         [hosts.receiver]\n\
         kernel = \"{kernel}\"\n\
         timestamps = {timestamps}\n\n\
         [[nfs]]\n\
         name = \"files\"\n\
         version = \"{version}\"\n\
         operation = \"write\"\n\
         file = \"{file}B\"\n",
        rate = q.path.rate,
        rtt = q.path.rtt,
        framing = q.path.framing.name(),
        mtu = q.path.mtu,
        kernel = q.path.kernel,
        timestamps = q.path.timestamps,
    )
}

fn variant(text: &mut String, q: &Question, name: &str, own: &Settings, operation: &str) {
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n[[variant]]\n\
         name = \"{name}, {operation}\"\n\
         [variant.set]\n\
         \"nfs.files.operation\" = \"{operation}\"\n\
         \"nfs.files.rsize\" = \"{size}B\"\n\
         \"nfs.files.wsize\" = \"{size}B\"\n\
         \"nfs.files.nconnect\" = {nconnect}\n\
         \"nfs.files.threads\" = {threads}\n\
         \"nfs.files.readahead\" = \"{readahead}B\"\n\
         \"hosts.sender.sysctl\" = {client}\n\
         \"hosts.receiver.sysctl\" = {server}\n",
        size = own.size,
        nconnect = own.nconnect,
        threads = own.threads.min(1024),
        readahead = own.readahead,
        client = sysctl(&own.client),
        server = sysctl(&own.server),
    );
    if let Some(slots) = asked_slots(q, own) {
        let _ = writeln!(text, "\"nfs.files.slots\" = {slots}");
    }
}

/// Slots, where they are not the kernel's own.
fn asked_slots(q: &Question, own: &Settings) -> Option<u64> {
    (own.slots != super::settings::default_slots(q.version)).then_some(own.slots)
}

fn sysctl(own: &Buffers) -> String {
    format!(
        "{{ \"net.ipv4.tcp_rmem\" = \"4096 131072 {}\", \"net.ipv4.tcp_wmem\" = \"4096 16384 {}\" }}",
        own.receive, own.send
    )
}
