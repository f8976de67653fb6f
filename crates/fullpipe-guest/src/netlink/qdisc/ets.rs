//! `ets`: bands with strict priority. Here there is one band with all packets.

use super::{TCA_KIND, TCA_OPTIONS};
use crate::netlink::message::Message;

const TCA_ETS_NBANDS: u16 = 1;
const TCA_ETS_NSTRICT: u16 = 2;
/// This kind's options have to say that they are nested.
const NLA_F_NESTED: u16 = 1 << 15;

/// Puts a qdisc with one strict band: it asks its child whenever it is asked, and passes the child's verdict on at
/// once.
pub fn put(to: &mut Message) -> &'static str {
    to.text(TCA_KIND, "ets").nest(TCA_OPTIONS | NLA_F_NESTED, &[], |options| {
        options.attr(TCA_ETS_NBANDS, &[1]).attr(TCA_ETS_NSTRICT, &[1]);
    });
    "ets"
}
