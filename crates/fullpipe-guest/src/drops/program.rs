//! The program that looks at each packet that a router receives, for one flow.
//!
//! It counts packets with data and those without, apart. It drops or marks the packets with numbers in the list.

use fullpipe_guest::plan::ETHERNET_HEADER;

use crate::bpf::instruction::{Label, Op, Register, Width};
use crate::bpf::packet::{CONTEXT, Flow, IP_HEADER, R0, R1, R2, STACK, find, look_up, pass, shoot};

/// Bytes of data; then the packet's number.
const NUMBER: Register = Register(8);
/// Which of the counters is the packet's.
const COUNTER: Register = Register(9);
const FIN_OR_SYN: i32 = 3;

/// Counter of packets with data; the next one counts dropped packets with data.
pub const DATA: u32 = 0;
/// Counter of packets without data; the next one counts dropped packets without data.
pub const ACKS: u32 = 2;
/// Counters that there are.
pub const COUNTERS: u32 = 4;

/// Key in the list of the packet of that number of a counter.
pub fn key(counter: u32, number: u64) -> u64 {
    u64::from(counter) << 62 | number
}

/// Packets and lists of a program.
#[derive(Clone, Copy)]
pub struct Target {
    /// The flow that owns the packets.
    pub flow: Flow,
    /// Array of counters.
    pub counters: i32,
    /// Set of [`key`]s.
    pub list: i32,
    /// Whether packets of the list are marked and pass.
    pub mark: bool,
}

/// Separates data from ACKs by the bytes beyond the headers of the IP packet.
fn classify() -> Vec<Op> {
    vec![
        // The total length less both headers is the data.
        Op::Packet(Width::Half, ETHERNET_HEADER + 2),
        Op::Move(NUMBER, R0),
        Op::Subtract(NUMBER, IP_HEADER),
        // TCP's header length is in the upper half of its byte, in words of 4 bytes.
        Op::PacketAt(Width::Byte, IP_HEADER, ETHERNET_HEADER + 12),
        Op::Right(R0, 4),
        Op::Left(R0, 2),
        Op::Subtract(NUMBER, R0),
        // Packets with data have a counter of their own; SYN and FIN are not counted.
        Op::Set(COUNTER, DATA as i32),
        Op::IfMore(NUMBER, 0, Label::Count),
        Op::PacketAt(Width::Byte, IP_HEADER, ETHERNET_HEADER + 13),
        Op::And(R0, FIN_OR_SYN),
        Op::IfNot(R0, 0, Label::Pass),
        Op::Set(COUNTER, ACKS as i32),
    ]
}

/// r1 = the counter, which is then one more.
fn count(counters: i32) -> Vec<Op> {
    let mut program = vec![Op::Store32(STACK, -4, COUNTER)];
    program.extend(look_up(counters, -4));
    program.extend([Op::Load(R1, R0), Op::Move(NUMBER, R1), Op::Add(R1, 1), Op::Store(R0, 0, R1)]);
    program
}

/// Passes the packet if it is not in the list.
fn find_listed(list: i32) -> Vec<Op> {
    let mut program = vec![
        Op::Move(R2, COUNTER),
        Op::Left(R2, 62),
        Op::Or(NUMBER, R2),
        Op::Store(STACK, -16, NUMBER),
    ];
    program.extend(look_up(list, -16));
    program
}

/// Marks the packet; one that cannot be marked passes.
fn mark() -> [Op; 3] {
    [Op::Move(R1, CONTEXT), Op::Mark, Op::If(R0, 0, Label::Pass)]
}

/// The program.
pub fn program(target: Target) -> Vec<Op> {
    let mut program = find(target.flow);
    program.extend(classify());
    program.push(Op::Here(Label::Count));
    program.extend(count(target.counters));
    program.extend(find_listed(target.list));
    if target.mark {
        program.extend(mark());
    }

    // Each counter is followed by that of the packets on the list.
    program.push(Op::Add(COUNTER, 1));
    program.extend(count(target.counters));
    if !target.mark {
        program.extend(shoot());
    }
    program.extend(pass());
    program
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;
    use crate::bpf::instruction::assemble;

    const TARGET: Target =
        Target { flow: Flow { port: 5001, port_at: 2 }, counters: 7, list: 8, mark: false };
    const MARKS: Target = Target { mark: true, ..TARGET };

    #[test]
    fn listings() {
        listing(TARGET, concat!(env!("CARGO_MANIFEST_DIR"), "/src/drops/listing.txt"));
        listing(MARKS, concat!(env!("CARGO_MANIFEST_DIR"), "/src/drops/marks.txt"));
    }

    fn listing(target: Target, path: &str) {
        let listing: String = program(target).iter().map(|op| format!("{op}\n")).collect();
        expect_file![path].assert_eq(&listing);
    }

    #[test]
    fn jumps_go_to_their_places() {
        [TARGET, MARKS].into_iter().for_each(check_jumps);
    }

    fn check_jumps(target: Target) {
        let bytes = assemble(&program(target));
        let op = |number: usize| &bytes[8 * number..8 * number + 8];
        // The program ends with the two instructions of this end.
        let pass = bytes.len() / 8 - 2;
        assert_eq!((op(pass)[0], op(pass + 1)[0]), (0xb7, 0x95));
        for (number, jump) in bytes.chunks_exact(8).enumerate().filter(|(_, op)| op[0] & 7 == 5) {
            let to = number as isize + 1 + isize::from(i16::from_ne_bytes([jump[2], jump[3]]));
            match jump[0] {
                0x55 | 0x15 => assert_eq!(to, pass as isize, "jump at {number}"),
                // Where the counter is put on the stack.
                0x65 => assert_eq!(op(to as usize)[0], 0x63),
                code => assert!(code == 0x85 || code == 0x95, "{code:#x} at {number}"),
            }
        }
    }
}
