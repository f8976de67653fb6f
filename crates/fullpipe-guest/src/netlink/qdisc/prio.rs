//! `prio`: bands. Here each has a flow, and the last one the others.

use fullpipe_guest::record;

use super::{Place, RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS, body};
use crate::error::{Error, Result};
use crate::netlink::Netlink;
use crate::netlink::message::{ACK, CREATE, EXCLUSIVE, Message};

/// Most bands (TCQ_PRIO_BANDS).
const MOST: usize = 16;
/// Priorities that a packet may have.
const PRIORITIES: usize = 16;

impl Netlink {
    /// Makes a root with a band for each of `flows`, and one more for all that no filter picks.
    pub fn prio(&mut self, device: u32, flows: usize) -> Result<()> {
        if flows + 1 > MOST {
            return Err(Error::new("qdisc prio", format!("more than {} flows", MOST - 1)));
        }
        // `struct tc_prio_qopt`: bands, the band of each priority.
        let mut options = (flows as u32 + 1).to_ne_bytes().to_vec();
        options.resize(4 + PRIORITIES, flows as u8);
        let root = Place::chain(device, 0);
        let body = body(root.device, record::qdisc_handle(0), root.parent, 0);
        let mut message = Message::new(RTM_NEWQDISC, ACK | CREATE | EXCLUSIVE, &body);
        message.text(TCA_KIND, "prio").attr(TCA_OPTIONS, &options);
        self.ask(&mut message, "qdisc prio")
    }
}
