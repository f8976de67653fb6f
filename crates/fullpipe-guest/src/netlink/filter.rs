//! Programs that look at packets: at incoming ones, and at those that a qdisc sorts.

use std::os::fd::{AsRawFd, OwnedFd};

use fullpipe_guest::record;

use super::Netlink;
use super::message::{ACK, CREATE, EXCLUSIVE, Message};
use super::qdisc::{CLSACT, Place, RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS, body};
use crate::error::Result;

const TC_H_INGRESS: u32 = 0xffff_fff2;
const TCA_BPF_CLASSID: u16 = 3;
const TCA_BPF_FLAGS: u16 = 8;

/// An attribute of a filter.
struct Attribute {
    option: u16,
    value: u32,
}

impl Netlink {
    /// Makes a device ready for [`Netlink::attach`].
    pub fn clsact(&mut self, device: u32) -> Result<()> {
        let body = body(device, record::INCOMING_HANDLE, CLSACT, 0);
        let mut message = Message::new(RTM_NEWQDISC, ACK | CREATE | EXCLUSIVE, &body);
        message.text(TCA_KIND, "clsact");
        self.ask(&mut message, "qdisc clsact")
    }

    /// Attaches a program to the incoming packets of a device; `order` is from 1.
    pub fn attach(&mut self, device: u32, order: u16, program: &OwnedFd) -> Result<()> {
        const DIRECT_ACTION: u32 = 1;
        let action = Attribute { option: TCA_BPF_FLAGS, value: DIRECT_ACTION };
        self.filter(device, TC_H_INGRESS, order, program, action)
    }

    /// Puts the packets that a program picks into a band of the device's root.
    pub fn sort(&mut self, device: u32, band: usize, program: &OwnedFd) -> Result<()> {
        let value = Place::band(device, band).parent;
        let class = Attribute { option: TCA_BPF_CLASSID, value };
        self.filter(device, record::qdisc_handle(0), band as u16 + 1, program, class)
    }

    fn filter(
        &mut self,
        device: u32,
        parent: u32,
        order: u16,
        program: &OwnedFd,
        more: Attribute,
    ) -> Result<()> {
        const RTM_NEWTFILTER: u16 = 44;
        const TCA_BPF_FD: u16 = 6;
        const TCA_BPF_NAME: u16 = 7;
        const ETH_P_ALL: u16 = 3;

        // tcm_info has the filter's order in the upper half and the protocol in the lower (TC_H_MAKE).
        let info = u32::from(order) << 16 | u32::from(ETH_P_ALL.to_be());
        let body = body(device, 0, parent, info);
        let mut message = Message::new(RTM_NEWTFILTER, ACK | CREATE | EXCLUSIVE, &body);
        message.text(TCA_KIND, "bpf").nest(TCA_OPTIONS, &[], |options| {
            options
                .u32(TCA_BPF_FD, program.as_raw_fd() as u32)
                .text(TCA_BPF_NAME, "fullpipe")
                .u32(more.option, more.value);
        });
        self.ask(&mut message, "filter bpf")
    }
}
