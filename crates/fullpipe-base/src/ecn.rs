//! Explicit congestion notification in the IP header (RFC 3168, section 5).

/// The ECN codepoint of an IP packet: whether its flow understands marks, and whether it was marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: the transport is not capable of ECN; a queue can only drop.
    #[default]
    NotEct = 0,
    /// ECT(1). Classic ECN does not use it.
    Ect1 = 1,
    /// ECT(0): codepoint of a capable transport.
    Ect0 = 2,
    /// CE: congestion was experienced on the way.
    Ce = 3,
}

impl Ecn {
    /// The codepoint of a packet that is marked; none where it cannot be.
    pub fn marked(self) -> Option<Ecn> {
        (self != Ecn::NotEct).then_some(Ecn::Ce)
    }
}
