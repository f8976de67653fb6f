//! Names, kernel versions and parameters of congestion controls, and the checks of a flow's request.

use super::ffi::{self, Algorithm, Param, SlowStart};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// A kernel version as `a.b.c`; a fourth number ("2.6.20.7") is ignored, and missing numbers are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion(u32);

impl KernelVersion {
    /// The oldest version with a known behaviour.
    pub const FIRST: KernelVersion = KernelVersion::new(2, 6, 20);
    /// Last version with helpers that count an ACK as one event, whatever it acknowledges.
    const LAST_PER_ACK: KernelVersion = KernelVersion::new(3, 12, 255);
    /// Last version with helpers that count an ACK as one event in avoidance, but not in slow start.
    const LAST_PER_ACK_IN_AVOIDANCE: KernelVersion = KernelVersion::new(3, 19, 255);
    /// First version with the helpers of today.
    const FIRST_STRETCH: KernelVersion = KernelVersion::new(4, 14, 0);

    /// Version `a.b.c`.
    pub const fn new(a: u8, b: u8, c: u8) -> KernelVersion {
        KernelVersion((a as u32) << 16 | (b as u32) << 8 | c as u32)
    }

    /// Reads "2.6.20", "2.6.20.7" or "6.12"; none if it is not 2 to 4 numbers up to 255.
    pub fn parse(text: &str) -> Option<KernelVersion> {
        let numbers: Option<Vec<u8>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers?[..] {
            [a, b] => Some(KernelVersion::new(a, b, 0)),
            [a, b, c] | [a, b, c, _] => Some(KernelVersion::new(a, b, c)),
            _ => None,
        }
    }

    /// Rule by which the helpers of this version count; none if it is not known.
    pub(super) fn helpers(self) -> Option<Helpers> {
        match self {
            v if v <= KernelVersion::LAST_PER_ACK => Some(Helpers::PerAck),
            v if v <= KernelVersion::LAST_PER_ACK_IN_AVOIDANCE => Some(Helpers::SlowStart),
            v if v >= KernelVersion::FIRST_STRETCH => Some(Helpers::Stretch),
            _ => None,
        }
    }
}

/// Rule by which the helpers count an ACK; numbered as in `cc/native/kernel.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Helpers {
    /// Each ACK counts as one event.
    PerAck = 0,
    /// Each ACK counts by its packets.
    Stretch = 1,
    /// Each ACK counts by its packets in slow start, and as one event in avoidance.
    SlowStart = 2,
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0 >> 16, self.0 >> 8 & 255, self.0 & 255)
    }
}

/// Error in a flow's congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No algorithm has this name.
    UnknownAlgorithm(String),
    /// No slow start has this name.
    UnknownSlowStart(String),
    /// The algorithm, or slow start, has no parameter of this name.
    UnknownParameter {
        /// The algorithm, or slow start.
        algorithm: &'static str,
        /// The name asked for.
        name: String,
    },
    /// A parameter is beyond its range.
    OutOfRange {
        /// The algorithm, or slow start.
        algorithm: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The value asked for.
        value: i64,
        /// Least value.
        min: u32,
        /// Greatest value.
        max: u32,
        /// Unit of all three.
        unit: &'static str,
    },
    /// The behaviour of this kernel version is not known here.
    Kernel {
        /// The algorithm.
        algorithm: &'static str,
        /// The version asked for.
        kernel: String,
    },
    /// Jiffies per second beyond 1 to 1000.
    Hz(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownAlgorithm(name) => {
                write!(f, "no congestion control \"{name}\"; known: ")?;
                list(f, ffi::algorithms().iter().map(|a| a.name()))
            }
            Error::UnknownSlowStart(name) => {
                write!(f, "no slow start \"{name}\"; known: ")?;
                list(f, ffi::slow_starts().iter().map(|s| s.name()))
            }
            Error::UnknownParameter { algorithm, name } => {
                write!(f, "{algorithm} has no parameter \"{name}\"; known: ")?;
                let own = named(algorithm).map(Algorithm::params);
                let own = own.or_else(|| slow_start(algorithm).map(SlowStart::params));
                list(f, own.unwrap_or_default().iter().map(Param::name))
            }
            Error::OutOfRange { algorithm, parameter, value, min, max, unit } => {
                write!(f, "{algorithm}: {parameter} = {value} is beyond {min} to {max} ({unit})")
            }
            Error::Kernel { algorithm, kernel } => {
                write!(f, "{algorithm} does not know kernel \"{kernel}\"; known: ")?;
                list(f, named(algorithm).iter().flat_map(|a| kernels(a)))
            }
            Error::Hz(hz) => write!(f, "{hz} jiffies per second is beyond 1 to 1000"),
        }
    }
}

impl core::error::Error for Error {}

fn list(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = impl fmt::Display>) -> fmt::Result {
    let mut separator = "";
    for item in items {
        write!(f, "{separator}{item}")?;
        separator = ", ";
    }
    f.write_str(if separator.is_empty() { "none" } else { "" })
}

/// Ranges of kernel versions with a known behaviour of the algorithm, in words.
fn kernels(algorithm: &Algorithm) -> Vec<String> {
    use alloc::format;
    let first = match algorithm.first_kernel {
        0 => KernelVersion::FIRST,
        first => KernelVersion(first),
    };
    match algorithm.last_kernel {
        0 if algorithm.first_kernel > 0 => alloc::vec![format!("{first} and later")],
        0 => alloc::vec![format!("{first} to 3.19"), "4.14 and later".to_string()],
        last => alloc::vec![format!("{first} to {}.{}", last >> 16, last >> 8 & 255)],
    }
}

/// The algorithm of this name.
pub(super) fn named(name: &str) -> Option<&'static Algorithm> {
    ffi::algorithms().into_iter().find(|a| a.name() == name)
}

/// The version `kernel`, if its behaviour of `algorithm` is known.
pub(super) fn version(algorithm: &Algorithm, kernel: &str) -> Result<KernelVersion, Error> {
    KernelVersion::parse(kernel)
        .filter(|&v| v >= KernelVersion::FIRST && v.helpers().is_some())
        .filter(|&v| is_known_of(algorithm, v))
        .ok_or_else(|| Error::Kernel { algorithm: algorithm.name(), kernel: kernel.to_string() })
}

/// Whether `version` lies between the first and the last kernel of this behaviour.
fn is_known_of(algorithm: &Algorithm, version: KernelVersion) -> bool {
    let last = algorithm.last_kernel;
    version.0 >= algorithm.first_kernel && (last == 0 || version.0 <= last)
}

/// The slow start of this name.
pub(super) fn slow_start(name: &str) -> Option<&'static SlowStart> {
    ffi::slow_starts().into_iter().find(|s| s.name() == name)
}

/// Values of all parameters of `algorithm`: those given, the rest as in `kernel`.
pub(super) fn values<const N: usize>(
    algorithm: &'static str,
    params: &'static [Param],
    given: &[(String, i64)],
    kernel: KernelVersion,
) -> Result<[u32; N], Error> {
    let mut values = [0; N];
    for (value, param) in values.iter_mut().zip(params) {
        let known = param.defaults().filter(|d| d.since <= kernel.0).last();
        *value = known.map_or(param.min, |d| d.value);
    }
    for (name, value) in given {
        let index = params.iter().position(|p| p.name() == name);
        let index =
            index.ok_or_else(|| Error::UnknownParameter { algorithm, name: name.clone() })?;
        values[index] = in_range(algorithm, &params[index], *value)?;
    }
    Ok(values)
}

fn in_range(algorithm: &'static str, param: &'static Param, value: i64) -> Result<u32, Error> {
    let range = param.min..=param.max;
    u32::try_from(value).ok().filter(|v| range.contains(v)).ok_or(Error::OutOfRange {
        algorithm,
        parameter: param.name(),
        value,
        min: param.min,
        max: param.max,
        unit: param.unit(),
    })
}

/// An algorithm or slow start, described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Name in scenarios.
    pub name: &'static str,
    /// Name in words.
    pub title: &'static str,
    /// Ranges of kernel versions with a known behaviour, in words.
    pub kernels: Vec<String>,
    /// Parameters of the algorithm.
    pub parameters: Vec<Parameter>,
}

/// A parameter of an algorithm or slow start, described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in scenarios.
    pub name: &'static str,
    /// Effect of the parameter, in words.
    pub meaning: &'static str,
    /// Unit of its value.
    pub unit: &'static str,
    /// Least value.
    pub min: u32,
    /// Greatest value.
    pub max: u32,
    /// Defaults, each from a kernel version on, in ascending order.
    pub defaults: Vec<(KernelVersion, u32)>,
}

/// Every algorithm with its parameters, by name.
pub fn algorithms() -> Vec<Description> {
    ffi::algorithms()
        .into_iter()
        .map(|a| Description {
            name: a.name(),
            title: a.title(),
            kernels: kernels(a),
            parameters: a.params().iter().map(described).collect(),
        })
        .collect()
}

/// The first kernel with a known behaviour of this algorithm, unless it is the oldest one.
pub fn first_kernel(name: &str) -> Option<KernelVersion> {
    let first = named(name)?.first_kernel;
    (first > 0).then_some(KernelVersion(first))
}

/// Kernels to which the behaviour of this algorithm is limited, in words; none if no first or last one limits it.
pub fn limited_to(name: &str) -> Option<String> {
    let algorithm = named(name)?;
    let is_limited = algorithm.first_kernel > 0 || algorithm.last_kernel > 0;
    is_limited.then(|| kernels(algorithm).join(", "))
}

/// Whether the behaviour of this algorithm in `kernel` is known.
pub fn has_kernel(name: &str, kernel: &str) -> bool {
    let Some(algorithm) = named(name) else { return true };
    limited_to(name).is_none()
        || KernelVersion::parse(kernel).is_some_and(|version| is_known_of(algorithm, version))
}

/// Whether this algorithm grows by the kernel's slow start, so that another slow start can replace it.
pub fn takes_slow_start(name: &str) -> bool {
    named(name).is_some_and(|algorithm| algorithm.cong_control.is_none())
}

/// Every slow start with its parameters, by name, without the kernels' own. No kernel has them, so they fit all
/// versions.
pub fn slow_starts() -> Vec<Description> {
    ffi::slow_starts()
        .into_iter()
        .map(|s| Description {
            name: s.name(),
            title: s.title(),
            kernels: Vec::new(),
            parameters: s.params().iter().map(described).collect(),
        })
        .collect()
}

fn described(p: &Param) -> Parameter {
    Parameter {
        name: p.name(),
        meaning: p.meaning(),
        unit: p.unit(),
        min: p.min,
        max: p.max,
        defaults: p.defaults().map(|d| (KernelVersion(d.since), d.value)).collect(),
    }
}
