//! A constant delay, or one released by a timer.

use super::{Impairment, Meaning, Surroundings, Whole, Written, needed};
use crate::format::context::Context;
use crate::format::keys::Default::{Absent, Is, Required};
use crate::format::keys::{At, group};
use crate::format::special::DelayLimit;
use crate::format::values::{AnyTime, Name};
use crate::show;
use fullpipe_base::units::Time;
use fullpipe_sim::config;
use serde::Serialize;

group! {
    /// A constant delay.
    DelayElement "a delay" {
        /// "delay".
        kind: String, Required;
        /// Stage name, unique on the path.
        name: Name, Required;
        /// Delay of each packet.
        delay: AnyTime, Required;
        /// Packets it holds; more are dropped.
        limit: DelayLimit, Is("unlimited");
        /// netem's timer in kernels without high-resolution timers.
        timer: keys::Timer, Absent("each packet leaves exactly when it is due");
    }
}

/// Keys of a timer as written; its meaning has the same name.
pub(crate) mod keys {
    use crate::format::keys::Default::{Is, Required};
    use crate::format::keys::group;
    use crate::format::values::{AnyTime, Int};

    group! {
        /// netem before Linux 2.6.22: a due packet leaves at the next tick, or earlier when another packet arrives.
        Timer "a timer" {
            /// Ticks per second.
            hz: Int<1, 1000>, Required;
            /// Time of the first tick, less than a period.
            phase: AnyTime, Is("0s");
        }
    }
}

/// A constant delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// Stage name.
    pub name: String,
    /// Delay of each packet.
    #[serde(serialize_with = "show::shown")]
    pub delay: Time,
    /// Packets it holds; `u32::MAX` is no limit.
    #[serde(serialize_with = "show::delay_limit")]
    pub limit: u32,
    /// Timer that releases packets, where it is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Timer>,
}

/// netem's timer before Linux 2.6.22.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timer {
    /// Ticks per second (1 to 1000).
    pub hz: u32,
    /// Time of the first tick (0 up to a period).
    #[serde(serialize_with = "show::shown")]
    pub phase: Time,
}

impl Written for DelayElement {
    type Meaning = Delay;

    fn name(&self) -> Option<&At<Name>> {
        self.name.as_ref()
    }

    fn resolve(&self, _whole: &Whole, cx: &mut Context) -> Option<Delay> {
        Some(Delay {
            name: needed(&self.name)?.0.clone(),
            delay: Time::ns(needed(&self.delay)?.0),
            limit: needed(&self.limit)?.0,
            timer: timer(&self.timer, cx)?,
        })
    }
}

/// The timer, if one is written. None outside: something is wrong.
pub(super) fn timer(at: &Option<At<keys::Timer>>, cx: &mut Context) -> Option<Option<Timer>> {
    let Some(At { value: timer, .. }) = at else { return Some(None) };
    let hz = timer.hz.as_ref()?.value.0 as u32;
    let phase = timer.phase.as_ref()?;
    let period = Time::ns(1_000_000_000 / u64::from(hz));
    if phase.value.0 >= period.as_ns() {
        cx.error("out-of-range", phase.place, format!("`phase` is {}", Time::ns(phase.value.0)))
            .expected(format!("less than a period, {period}"));
        return None;
    }
    Some(Some(Timer { hz, phase: Time::ns(phase.value.0) }))
}

impl Meaning for Delay {
    fn delay(&self) -> Time {
        self.delay
    }

    fn impairment(&self, _run: &Surroundings) -> Impairment {
        let Delay { delay, limit, timer, .. } = *self;
        Impairment::Delay { delay, limit, timer }
    }

    fn config(&self, _run: &Surroundings) -> config::Element {
        let timer = |timer: Timer| config::Timer {
            period: Time(1_000_000_000 / u64::from(timer.hz)),
            phase: timer.phase,
        };
        config::Element::Delay(config::Delay {
            name: self.name.clone(),
            delay: self.delay,
            limit: self.limit,
            timer: self.timer.map(timer),
        })
    }
}
