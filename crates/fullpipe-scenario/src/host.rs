//! A host: the meaning of its keys, and their text.

use super::behaviour::overridden;
use super::format::context::Context;
use super::format::keys::{At, value};
use super::format::real_sysctl::real_sysctl;
use super::format::sysctl;
use super::path::Path;
use super::profile::{self, Kernel};
use super::qdisc::{self, Qdisc};
use super::version::{OLDEST, Version};
use super::written;
use super::{show, system};
use fullpipe_base::units::{Rate, Time};
use fullpipe_sim::cc::KernelVersion;
use fullpipe_sim::config::{self, Discipline, Driver};
use fullpipe_sim::tcp::behaviour::profile_of;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// A host of the simulator, and further facts of the scenario about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// The host for the simulator.
    pub config: config::Host,
    /// The kernel in the scenario's words ("5.15.0-91-generic"), where another version's profile represents it.
    pub kernel_asked: Remark,
    /// The queue between TCP and the driver, as the scenario describes it.
    pub qdisc: Qdisc,
    /// sysctls that only a real kernel reads.
    pub real_sysctl: BTreeMap<&'static str, i64>,
    /// Whether the CPU costs were fitted to measurements of the host that is modelled.
    pub calibrated: bool,
}

/// A remark for the user that changes nothing about a run: hosts that differ in it alone are equal.
#[derive(Clone, Debug, Default)]
pub struct Remark(pub Option<String>);

impl PartialEq for Remark {
    fn eq(&self, _: &Remark) -> bool {
        true
    }
}

/// The meaning of a host's keys at an end of `path`; none if any is missing or wrong, which is reported.
pub(super) fn resolve(host: &written::Host, path: Option<&Path>, cx: &mut Context) -> Option<Host> {
    // Without a path its errors are reported already: usual values go on checking.
    let mtu = path.map_or(1500, |path| path.mtu);
    let system = system::resolve(host, cx)?;
    let named = system::kernel(host, system, cx)?;
    let (kernel, kernel_asked) = kernel(&named, cx)?;
    let is_windows = system.is_windows();

    // sysctls begin with the kernel's defaults.
    let (mut sysctl, mut real_sysctl) = (kernel.sysctl, BTreeMap::new());
    if let Some(written) = &host.sysctl {
        written.value.apply(&mut sysctl, &mut real_sysctl);
    }

    // A card is as fast as the path needs, unless it is named.
    let usual_rate = path.map_or(Rate::gbit(10), Path::default_nic_rate);
    let nic_rate = value(&host.nic_rate).map_or(usual_rate, |rate| Rate(rate.0));
    let qdisc = qdisc::qdisc(&host.qdisc.as_ref()?.value, kernel.qdisc_limit, mtu, cx)?;

    // Keys that are not written take the kernel profile's value.
    let mut config = config::Host {
        kernel: kernel.name.into(),
        system,
        behaviour: overridden(&host.behaviour, kernel.name, cx).into_iter().collect(),
        hz: value(&host.hz).map_or(kernel.hz, |hz| hz.0 as u32),
        timestamps: value(&host.timestamps).unwrap_or(kernel.timestamps && !is_windows),
        tso: value(&host.tso).unwrap_or(kernel.tso),
        initcwnd: value(&host.initcwnd).map(|n| n.0 as u32),
        mtu: Some(card_mtu(host, mtu, cx)?).filter(|own| *own > mtu),
        sysctl,
        qdisc: qdisc.config(nic_rate, mtu),
        qdisc_limit: qdisc.limit(),
        tx_ring: value(&host.tx_ring).map_or(kernel.ring, |n| n.0 as u32),
        tx_coalesce: Time::ns(value(&host.tx_coalesce)?.0),
        tx_stop: value(&host.tx_stop)?.0 as u32,
        tx_wake: value(&host.tx_wake).or(value(&host.tx_stop))?.0 as u32,
        bql: value(&host.bql)?,
        driver: value(&host.driver)?,
        rx_ring: value(&host.rx_ring).map_or(kernel.ring, |n| n.0 as u32),
        nic_rate,
        rx_coalesce: Time::ns(value(&host.rx_coalesce)?.0),
        rx_frames: value(&host.rx_frames)?.0 as u32,
        interrupt_gap: Time::ns(value(&host.coalesce)?.0),
        gro: value(&host.gro)?,
        gro_flush_timeout: Time::ns(value(&host.gro_flush_timeout)?.0),
        receive_path: value(&host.receive_path)?,
        cpu: cpu(&host.cpu.as_ref()?.value)?,
    };

    // fq has the bands and the pacing of this kernel's version.
    as_kernel_has_fq(&mut config);
    let calibrated = value(&host.cpu.as_ref()?.value.calibrated)?;
    let kernel_asked = Remark(kernel_asked);
    Some(Host { config, kernel_asked, qdisc, real_sysctl, calibrated })
}

/// The profile of a kernel, and its written name where another version's profile represents it.
fn kernel(at: &At<String>, cx: &mut Context) -> Option<(&'static Kernel, Option<String>)> {
    if let Some((kernel, own)) = profile::named(&at.value) {
        return Some((kernel, (!own).then(|| at.value.clone())));
    }

    // A version older than all profiles differs from a name that is none.
    let message = format!("no kernel profile is called \"{}\"", at.value);
    let known: Vec<String> =
        profile::KERNELS.iter().map(|kernel| profile::shown(kernel.name)).collect();
    let why = match Version::read(&at.value) {
        Some(_) => format!("; {OLDEST} is the oldest"),
        None => "; or what `uname -r` prints".into(),
    };
    cx.error("unknown-name", at.place, message)
        .expected(format!("one of {}{why}", known.join(", ")));
    None
}

/// The MTU of a host's card; none if it is below the path's, which is reported.
fn card_mtu(host: &written::Host, of_path: u32, cx: &mut Context) -> Option<u32> {
    let Some(at) = &host.mtu else { return Some(of_path) };
    let own = at.value.0 as u32;
    if own < of_path {
        cx.error("conflict", at.place, format!("`mtu` is {own}, and that of the path {of_path}"))
            .expected(format!(
                "that of the path at least; `path.mtu = {own}` does the same, as both ends of a connection send packets \
                 of the smaller MTU"
            ));
        return None;
    }
    Some(own)
}

fn cpu(cpu: &written::Cpu) -> Option<config::Cpu> {
    Some(config::Cpu {
        copy_ps_per_byte: value(&cpu.copy)?.0,
        write: Time::ns(value(&cpu.write)?.0),
        read: Time::ns(value(&cpu.read)?.0),
        transmit: Time::ns(value(&cpu.transmit)?.0),
        receive: Time::ns(value(&cpu.receive)?.0),
        ack: Time::ns(value(&cpu.ack)?.0),
        walk: Time::ns(value(&cpu.sack_walk)?.0),
        capture: Time::ns(value(&cpu.capture)?.0),
    })
}

/// Bands and pacing of fq, as the host's kernel has them.
fn as_kernel_has_fq(host: &mut config::Host) {
    let profile = profile_of(host);
    if let (config::Qdisc::Of(Discipline::Fq(fq), _), Ok(profile)) = (&mut host.qdisc, profile) {
        (fq.bands, fq.paces_itself) = (profile.fq_bands, !profile.departure_times);
    }
}

/// The keys of a host, in the reference's order. A key with a null value is not written.
impl Serialize for Host {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let own = &self.config;
        let qdisc = serde_json::to_value(&self.qdisc).map_err(S::Error::custom)?;

        // Values that are usual are null, and left out.
        let keys = [
            ("kernel", own.kernel.as_str().into()),
            ("behaviour", unless(own.behaviour.is_empty(), behaviour(&own.behaviour))),
            ("hz", own.hz.into()),
            ("timestamps", own.timestamps.into()),
            ("tso", own.tso.into()),
            ("initcwnd", own.initcwnd.map(|n| format!("{n} packets")).into()),
            ("mtu", own.mtu.into()),
            ("qdisc", qdisc),
            ("tx_ring", descriptors(own.tx_ring)),
            ("tx_coalesce", if_any(own.tx_coalesce)),
            ("tx_stop", unless(own.tx_stop == 1, descriptors(own.tx_stop))),
            ("tx_wake", unless(own.tx_wake == 1, descriptors(own.tx_wake))),
            ("bql", unless(!own.bql, true.into())),
            ("driver", unless(own.driver == Driver::Stops, show::name(&own.driver).into())),
            ("rx_ring", descriptors(own.rx_ring)),
            ("nic_rate", own.nic_rate.to_string().into()),
            ("rx_coalesce", if_any(own.rx_coalesce)),
            ("rx_frames", unless(own.rx_frames == 0, format!("{} packets", own.rx_frames).into())),
            ("coalesce", own.interrupt_gap.to_string().into()),
            ("gro", own.gro.into()),
            ("gro_flush_timeout", own.gro_flush_timeout.to_string().into()),
            ("receive_path", show::name(&own.receive_path).into()),
            ("sysctl", self.sysctl()),
            ("cpu", self.cpu()),
        ];
        let keys = system::keys(own).into_iter().chain(keys);
        s.collect_map(keys.filter(|(_, value)| !value.is_null()))
    }
}

impl Host {
    /// sysctls that a real kernel of this version does not have.
    pub fn sysctls_missing_in(&self, version: &str) -> Vec<&'static str> {
        let Some(version) = KernelVersion::parse(version) else { return Vec::new() };
        self.real_sysctl
            .keys()
            .copied()
            .filter(|name| real_sysctl(name).is_some_and(|known| !known.is_in(version)))
            .collect()
    }

    /// All sysctls, those of real kernels last.
    fn sysctl(&self) -> Json {
        let real = self.real_sysctl.iter().map(|(name, value)| (*name, Json::from(*value)));
        object(sysctl::written(&self.config.sysctl).into_iter().chain(real))
    }

    /// CPU costs.
    fn cpu(&self) -> Json {
        let own = self.config.cpu;

        // Costs that are 0 are left out where most hosts have none.
        let cost = |time: Time| Json::from(format!("{time}/packet"));
        let call = |time: Time| unless(time == Time::ZERO, format!("{time}/call").into());
        object([
            ("copy", format!("{}ps/byte", own.copy_ps_per_byte).into()),
            ("write", call(own.write)),
            ("read", call(own.read)),
            ("transmit", cost(own.transmit)),
            ("receive", cost(own.receive)),
            ("ack", cost(own.ack)),
            ("sack_walk", cost(own.walk)),
            ("capture", unless(own.capture == Time::ZERO, cost(own.capture))),
            ("calibrated", self.calibrated.into()),
        ])
    }
}

/// Overridden behaviours; switches as booleans.
fn behaviour(rows: &[(String, String)]) -> Json {
    object(rows.iter().map(|(name, choice)| match choice.parse::<bool>() {
        Ok(switch) => (name.as_str(), Json::from(switch)),
        Err(_) => (name.as_str(), Json::from(choice.as_str())),
    }))
}

/// A table without the keys that are null.
fn object<'a>(keys: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    let keys = keys.into_iter().filter(|(_, value)| !value.is_null());
    Json::Object(keys.map(|(name, value)| (name.to_string(), value)).collect::<Map<_, _>>())
}

/// Null where a key is as it is by default.
fn unless(default: bool, value: Json) -> Json {
    if default { Json::Null } else { value }
}

/// A time, or null where it is none.
fn if_any(time: Time) -> Json {
    unless(time == Time::ZERO, time.to_string().into())
}

fn descriptors(n: u32) -> Json {
    format!("{n} descriptors").into()
}
