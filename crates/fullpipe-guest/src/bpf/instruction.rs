//! The part of eBPF's instruction set that the guest uses (RFC 9669; the packet loads are the older ones that
//! its section 5.4 keeps).

use std::fmt;

/// A register, 0 to 10.
#[derive(Clone, Copy, Debug)]
pub struct Register(pub u8);

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// Width of a load from the packet.
#[derive(Clone, Copy, Debug)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits, in network order.
    Half,
}

/// Target of a jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Label {
    /// The packet is counted.
    Count,
    /// The age of the tokens is known.
    Came,
    /// The bucket is filled.
    Filled,
    /// The packet passes.
    Pass,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A place that jumps go to; no instruction.
    Here(Label),
    /// To = from.
    Move(Register, Register),
    /// To = number.
    Set(Register, i32),
    /// To += number.
    Add(Register, i32),
    /// To += from.
    AddFrom(Register, Register),
    /// To *= number.
    Multiply(Register, i32),
    /// To *= from.
    MultiplyBy(Register, Register),
    /// To -= from.
    Subtract(Register, Register),
    /// To |= from.
    Or(Register, Register),
    /// To &= number.
    And(Register, i32),
    /// To <<= number.
    Left(Register, i32),
    /// To >>= number.
    Right(Register, i32),
    /// r0 = packet[number].
    Packet(Width, i32),
    /// r0 = packet[register + number].
    PacketAt(Width, Register, i32),
    /// Jumps if not equal.
    IfNot(Register, i32, Label),
    /// Jumps if equal.
    If(Register, i32, Label),
    /// Jumps if greater, as numbers with a sign.
    IfMore(Register, i32, Label),
    /// Jumps if at most, as numbers without a sign.
    IfAtMost(Register, Register, Label),
    /// To = the 64 bits at an address.
    Load(Register, Register),
    /// To = the 64 bits at an address plus offset.
    LoadAt(Register, Register, i16),
    /// To = a number of 64 bits.
    Wide(Register, u64),
    /// The 64 bits at an address plus offset = from.
    Store(Register, i16, Register),
    /// The 32 bits at an address plus offset = from.
    Store32(Register, i16, Register),
    /// The 16 bits at an address plus offset = from.
    Store16(Register, i16, Register),
    /// The lowest 16 bits of a register in network order; the others become 0.
    NetworkOrder(Register),
    /// To = a map, by its descriptor.
    Map(Register, i32),
    /// r0 = address of the map r1's value for the key at r2, or 0.
    Lookup,
    /// r0 = CLOCK_MONOTONIC, ns.
    Now,
    /// Marks the packet of the context in r1 (CE); r0 = 0 where its codepoint does not allow it
    /// (bpf_skb_ecn_set_ce).
    Mark,
    /// packet[r2] = the r4 bytes at r3, with the context in r1 and flags in r5; r0 = 0 if it did (bpf_skb_store_bytes).
    Rewrite,
    /// The checksum at packet[r2] counts r4 in the place of r3, both in network order, with the context in r1; the lowest bits of r5
    /// are the size of both in bytes (bpf_l4_csum_replace).
    FixChecksum,
    /// Ends; r0 is the verdict on the packet.
    Exit,
}

/// Fields of an instruction.
struct Words {
    code: u8,
    to: u8,
    from: u8,
    offset: i16,
    number: i32,
}

impl Op {
    /// Instructions of 8 bytes that it takes.
    fn len(self) -> usize {
        match self {
            Op::Here(_) => 0,
            Op::Map(..) | Op::Wide(..) => 2,
            _ => 1,
        }
    }

    /// Fields of the instruction; none for a label.
    fn words(self, jump: impl Fn(Label) -> i16) -> Option<Words> {
        let (code, to, from, offset, number) = match self {
            Op::Here(_) => return None,
            Op::Move(to, from) => (0xbf, to.0, from.0, 0, 0),
            Op::Set(to, number) => (0xb7, to.0, 0, 0, number),
            Op::Add(to, number) => (0x07, to.0, 0, 0, number),
            Op::AddFrom(to, from) => (0x0f, to.0, from.0, 0, 0),
            Op::Multiply(to, number) => (0x27, to.0, 0, 0, number),
            Op::MultiplyBy(to, from) => (0x2f, to.0, from.0, 0, 0),
            Op::Subtract(to, from) => (0x1f, to.0, from.0, 0, 0),
            Op::Or(to, from) => (0x4f, to.0, from.0, 0, 0),
            Op::And(to, number) => (0x57, to.0, 0, 0, number),
            Op::Left(to, number) => (0x67, to.0, 0, 0, number),
            Op::Right(to, number) => (0x77, to.0, 0, 0, number),
            Op::Packet(Width::Byte, at) => (0x30, 0, 0, 0, at),
            Op::Packet(Width::Half, at) => (0x28, 0, 0, 0, at),
            Op::PacketAt(Width::Byte, base, at) => (0x50, 0, base.0, 0, at),
            Op::PacketAt(Width::Half, base, at) => (0x48, 0, base.0, 0, at),
            Op::IfNot(left, number, label) => (0x55, left.0, 0, jump(label), number),
            Op::If(left, number, label) => (0x15, left.0, 0, jump(label), number),
            Op::IfMore(left, number, label) => (0x65, left.0, 0, jump(label), number),
            Op::IfAtMost(left, right, label) => (0xbd, left.0, right.0, jump(label), 0),
            Op::LoadAt(to, address, at) => (0x79, to.0, address.0, at, 0),
            Op::Wide(to, number) => (0x18, to.0, 0, 0, number as u32 as i32),
            Op::Load(to, address) => (0x79, to.0, address.0, 0, 0),
            Op::Store(address, offset, from) => (0x7b, address.0, from.0, offset, 0),
            Op::Store32(address, offset, from) => (0x63, address.0, from.0, offset, 0),
            Op::Store16(address, offset, from) => (0x6b, address.0, from.0, offset, 0),
            Op::NetworkOrder(to) => (0xdc, to.0, 0, 0, 16),
            Op::Map(to, fd) => (0x18, to.0, 1, 0, fd),
            Op::Lookup => (0x85, 0, 0, 0, 1),
            Op::Now => (0x85, 0, 0, 0, 5),
            Op::Mark => (0x85, 0, 0, 0, 97),
            Op::Rewrite => (0x85, 0, 0, 0, 9),
            Op::FixChecksum => (0x85, 0, 0, 0, 11),
            Op::Exit => (0x95, 0, 0, 0, 0),
        };
        Some(Words { code, to, from, offset, number })
    }
}

fn encode(words: Words) -> [u8; 8] {
    let Words { code, to, from, offset, number } = words;
    let mut bytes = [code, 0, 0, 0, 0, 0, 0, 0];
    bytes[1] = if cfg!(target_endian = "little") { to | from << 4 } else { to << 4 | from };
    bytes[2..4].copy_from_slice(&offset.to_ne_bytes());
    bytes[4..].copy_from_slice(&number.to_ne_bytes());
    bytes
}

/// Instructions of the program before a label.
fn place(program: &[Op], label: Label) -> usize {
    let before = program.iter().take_while(|op| !matches!(op, Op::Here(at) if *at == label));
    before.map(|op| op.len()).sum()
}

/// The program as the kernel takes it.
pub fn assemble(program: &[Op]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for op in program {
        let next = bytes.len() / 8 + 1;
        if let Some(words) =
            op.words(|label| (place(program, label) as isize - next as isize) as i16)
        {
            bytes.extend_from_slice(&encode(words));
        }

        // Map and Wide load 64 bits, which takes a second word (ld_imm64).
        match op {
            Op::Map(..) => bytes.extend_from_slice(&[0; 8]),
            Op::Wide(_, number) => {
                let number = (number >> 32) as i32;
                let high = Words { code: 0, to: 0, from: 0, offset: 0, number };
                bytes.extend_from_slice(&encode(high));
            }
            _ => {}
        }
    }
    bytes
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |width: &Width| match width {
            Width::Byte => "u8",
            Width::Half => "u16",
        };
        match self {
            Op::Here(label) => write!(f, "{label:?}:"),
            Op::Move(to, from) => write!(f, "  {to} = {from}"),
            Op::Set(to, number) => write!(f, "  {to} = {number}"),
            Op::Add(to, number) => write!(f, "  {to} += {number}"),
            Op::AddFrom(to, from) => write!(f, "  {to} += {from}"),
            Op::Multiply(to, number) => write!(f, "  {to} *= {number}"),
            Op::MultiplyBy(to, from) => write!(f, "  {to} *= {from}"),
            Op::Subtract(to, from) => write!(f, "  {to} -= {from}"),
            Op::Or(to, from) => write!(f, "  {to} |= {from}"),
            Op::And(to, number) => write!(f, "  {to} &= {number:#x}"),
            Op::Left(to, number) => write!(f, "  {to} <<= {number}"),
            Op::Right(to, number) => write!(f, "  {to} >>= {number}"),
            Op::Packet(size, at) => write!(f, "  r0 = packet {}[{at}]", width(size)),
            Op::PacketAt(size, base, at) => {
                write!(f, "  r0 = packet {}[{base} + {at}]", width(size))
            }
            Op::IfNot(left, number, label) => write!(f, "  if {left} != {number} goto {label:?}"),
            Op::If(left, number, label) => write!(f, "  if {left} == {number} goto {label:?}"),
            Op::IfMore(left, number, label) => write!(f, "  if {left} > {number} goto {label:?}"),
            Op::IfAtMost(left, right, label) => write!(f, "  if {left} <= {right} goto {label:?}"),
            Op::LoadAt(to, address, at) => write!(f, "  {to} = u64[{address}{at:+}]"),
            Op::Wide(to, number) => write!(f, "  {to} = {number}"),
            Op::Load(to, address) => write!(f, "  {to} = u64[{address}]"),
            Op::Store(address, at, from) => write!(f, "  u64[{address}{at:+}] = {from}"),
            Op::Store32(address, at, from) => write!(f, "  u32[{address}{at:+}] = {from}"),
            Op::Store16(address, at, from) => write!(f, "  u16[{address}{at:+}] = {from}"),
            Op::NetworkOrder(to) => write!(f, "  {to} = network order of u16 {to}"),
            Op::Map(to, fd) => write!(f, "  {to} = map {fd}"),
            Op::Lookup => write!(f, "  r0 = lookup(r1, r2)"),
            Op::Now => write!(f, "  r0 = now()"),
            Op::Mark => write!(f, "  r0 = mark(r1)"),
            Op::Rewrite => write!(f, "  r0 = rewrite(r1, r2, r3, r4, r5)"),
            Op::FixChecksum => write!(f, "  r0 = fix_checksum(r1, r2, r3, r4, r5)"),
            Op::Exit => write!(f, "  exit"),
        }
    }
}
