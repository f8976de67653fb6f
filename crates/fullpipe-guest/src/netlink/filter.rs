//! Programs that look at packets which come in.

use std::os::fd::{AsRawFd, OwnedFd};

use super::Netlink;
use super::message::{ACK, CREATE, EXCLUSIVE, Message};
use super::qdisc::{RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS, body};
use crate::error::Result;

const TC_H_CLSACT: u32 = 0xffff_fff1;
const TC_H_INGRESS: u32 = 0xffff_fff2;

impl Netlink {
    /// Makes a device ready for [`Netlink::attach`].
    pub fn clsact(&mut self, device: u32) -> Result<()> {
        let body = body(device, 0xffff_0000, TC_H_CLSACT, 0);
        let mut message = Message::new(RTM_NEWQDISC, ACK | CREATE | EXCLUSIVE, &body);
        message.text(TCA_KIND, "clsact");
        self.ask(&mut message, "qdisc clsact")
    }

    /// Asks a program about each packet that comes in by a device; `order` is from 1.
    pub fn attach(&mut self, device: u32, order: u16, program: &OwnedFd) -> Result<()> {
        const RTM_NEWTFILTER: u16 = 44;
        const TCA_BPF_FD: u16 = 6;
        const TCA_BPF_NAME: u16 = 7;
        const TCA_BPF_FLAGS: u16 = 8;
        const DIRECT_ACTION: u32 = 1;
        const ETH_P_ALL: u16 = 3;
        let info = u32::from(order) << 16 | u32::from(ETH_P_ALL.to_be());
        let body = body(device, 0, TC_H_INGRESS, info);
        let mut message = Message::new(RTM_NEWTFILTER, ACK | CREATE | EXCLUSIVE, &body);
        message.text(TCA_KIND, "bpf").nest(TCA_OPTIONS, &[], |options| {
            options
                .u32(TCA_BPF_FD, program.as_raw_fd() as u32)
                .text(TCA_BPF_NAME, "drops")
                .u32(TCA_BPF_FLAGS, DIRECT_ACTION);
        });
        self.ask(&mut message, "filter bpf")
    }
}
