//! Changes of a host's settings: their tools on Linux and their keys in a scenario, each in one place.

use super::super::change::{Change, How, Scope};
use super::super::edit::Edit;
use serde_json::Value as Json;

/// A host and the scope of its changes.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// Name of the host.
    pub host: &'a str,
    /// Its administrator.
    pub scope: Scope,
}

impl At<'_> {
    /// Sets a sysctl to a value; in the scenario `key`, which is removed where the value is none.
    pub fn sysctl(self, name: &str, value: &str, key: Option<Json>) -> Change {
        let how = How::Sysctl { name: name.into(), value: value.into() };
        Change::new(name, self.host, self.scope, how).edits([Edit::host(
            self.host,
            &["sysctl", name],
            key,
        )])
    }

    /// Sets a ring ("rx" or "tx") to `descriptors` descriptors.
    pub fn ring(self, which: &str, descriptors: u32) -> Change {
        // Each ring has its key in scenarios, and its name in systemd's link files.
        let (key, link) = match which {
            "rx" => ("rx_ring", "RxBufferSize"),
            _ => ("tx_ring", "TxBufferSize"),
        };
        let how = How::Device {
            command: format!("ethtool -G DEV {which} {descriptors}"),
            link: format!("{link}={descriptors}"),
        };
        let value = format!("{descriptors} descriptors");
        Change::new(&format!("ethtool -G {which}"), self.host, self.scope, how).edits([Edit::host(
            self.host,
            &[key],
            Some(value.into()),
        )])
    }

    /// An offload ("tso" or "gro") is switched.
    pub fn offload(self, name: &str, on: bool) -> Change {
        let link = match name {
            "tso" => "TCPSegmentationOffload",
            _ => "GenericReceiveOffload",
        };
        let words = |on: bool| if on { "on" } else { "off" };
        let how = How::Device {
            command: format!("ethtool -K DEV {name} {}", words(on)),
            link: format!("{link}={}", if on { "yes" } else { "no" }),
        };
        Change::new(&format!("ethtool -K {name}"), self.host, self.scope, how)
            .values(words(!on), words(on))
            .edits([Edit::host(self.host, &[name], Some(on.into()))])
    }

    /// The host's MTU, bytes.
    pub fn mtu(self, bytes: u32) -> Change {
        let how = How::Device {
            command: format!("ip link set DEV mtu {bytes}"),
            link: format!("MTUBytes={bytes}"),
        };
        Change::new("ip link mtu", self.host, self.scope, how).edits([Edit::host(
            self.host,
            &["mtu"],
            Some(bytes.into()),
        )])
    }

    /// The first cwnd of the route.
    pub fn initcwnd(self, packets: u32) -> Change {
        let how = How::Route { words: format!("initcwnd {packets}") };
        let value = format!("{packets} packets");
        Change::new("ip route initcwnd", self.host, self.scope, how).edits([Edit::host(
            self.host,
            &["initcwnd"],
            Some(value.into()),
        )])
    }
}
