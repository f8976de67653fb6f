//! Clock of jiffies: the tick at a given time, without a division while the tick stays the same.

use crate::units::Time;
use core::cell::Cell;

/// Slots of a level of the timer wheel (LVL_SIZE at 1000 Hz and below).
const WHEEL_SLOTS: u64 = 64;
/// A level's slots have 2 to this power as many ticks as those of the level below (LVL_CLK_SHIFT).
const WHEEL_SHIFT: u32 = 3;
/// Uptime of a host when a run begins, as its jiffies and timestamps have it, seconds.
const BOOTED_S: u64 = 300;
/// Seconds at the run's start until the jiffies have filled 32 bits. They begin 300 s before (INITIAL_JIFFIES);
/// the host was booted 10 s ago, as under `--engine linux`.
const UNTIL_WRAP_S: u64 = 290;

/// Rule by which a timer fires that is due on a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerWheel {
    /// The timer fires on that tick.
    Cascading,
    /// The timer fires later than that tick, within the granularity of the wait: a tick for waits up to 62 ticks, 8 up
    /// to 503, 64 up to 4031 (4.8 `calc_wheel_index`).
    Levels,
}

/// Expiry of a timer of the wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// The time.
    pub at: Time,
    /// Level of the wheel that holds the timer until then. At one time, timers of higher levels fire first.
    pub level: u32,
}

impl Expiry {
    /// Expiry of a timer in a wheel without levels.
    pub fn alone(at: Time) -> Expiry {
        Expiry { at, level: 0 }
    }
}

/// A clock that counts jiffies. Tick 0 begins at time 0.
#[derive(Clone, Debug)]
pub struct JiffyClock {
    /// Nanoseconds of a tick.
    ns: u64,
    /// Ticks from the host's start to time 0.
    booted: u64,
    /// The jiffy at time 0, as the timer wheel counts them.
    first: u64,
    /// Beginning and number of the tick that was asked for last.
    last: Cell<(u64, u64)>,
}

impl JiffyClock {
    /// Jiffies of a kernel with so many per second.
    pub fn jiffies(hz: u32) -> JiffyClock {
        let ns = 1_000_000_000 / u64::from(hz);
        let first = (1 << 32) - UNTIL_WRAP_S * (1_000_000_000 / ns);
        JiffyClock { ns, booted: BOOTED_S * 1_000_000_000 / ns, first, last: Cell::new((0, 0)) }
    }

    /// Ticks at `time` since the host was booted, in the 32 bits of jiffies and timestamps. They do not begin at 0,
    /// which congestion controls read as "no time". Linux begins five minutes before they wrap.
    #[inline]
    pub fn since_boot(&self, time: Time) -> u32 {
        (self.booted + self.at(time)) as u32
    }

    /// Start of the tick of this number; `number` counts as [`JiffyClock::since_boot`] does.
    pub fn begin_since_boot(&self, number: u32) -> Time {
        self.begin(u64::from(number).saturating_sub(self.booted))
    }

    /// The number of the tick at `time`.
    #[inline]
    pub fn at(&self, time: Time) -> u64 {
        let (begin, number) = self.last.get();
        if time.0.wrapping_sub(begin) < self.ns {
            return number;
        }
        let number = time.0 / self.ns;
        self.last.set((number * self.ns, number));
        number
    }

    /// Expiry of a timer that is set at `now` for `wait` ticks later. A wheel with levels puts the timer into the slot
    /// after its due tick. A slot holds 8 times as many ticks as a slot of the level below.
    ///
    /// Source: Linux 6.12 kernel/time/timer.c `calc_wheel_index`, `calc_index`.
    pub fn expiry(&self, wheel: TimerWheel, now: Time, wait: u32) -> Expiry {
        if wheel == TimerWheel::Cascading {
            return Expiry::alone(self.after(now, wait.into()));
        }
        let due = self.at(now) + u64::from(wait);
        let ahead = u64::from(wait) - u64::from(wait > 0 && self.is_on_tick(now));
        let mut level = 0;
        while ahead >= (WHEEL_SLOTS - 1) << (level * WHEEL_SHIFT) {
            level += 1;
        }
        let shift = level * WHEEL_SHIFT;
        let slot = ((self.first + due) >> shift) + 1;
        Expiry { at: self.begin((slot << shift) - self.first), level }
    }

    /// Whether a tick begins at `now`. A timer that the tick's own timers set counts from the next tick, because the
    /// wheel has moved on (6.12 `__run_timers`). Here all timers set at that time count from the next tick; in Linux,
    /// timers set later in that tick.
    fn is_on_tick(&self, now: Time) -> bool {
        now.0.is_multiple_of(self.ns)
    }

    /// Start of the tick that is `ticks` after the tick at `now`.
    pub fn after(&self, now: Time, ticks: u64) -> Time {
        self.begin(self.at(now) + ticks)
    }

    /// Start of a tick.
    pub fn begin(&self, number: u64) -> Time {
        Time(number * self.ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn without_levels_a_timer_fires_when_it_is_due() {
        let ticks = JiffyClock::jiffies(1000);
        for wait in [1, 62, 63, 503, 504, 120_000] {
            let fires = ticks.expiry(TimerWheel::Cascading, Time(5 * MS + 7), wait);
            assert_eq!(fires, Expiry::alone(Time((5 + u64::from(wait)) * MS)));
        }
    }

    /// 2^32 - 290,000 jiffies are a multiple of 16. Slots of 8 begin at multiples of 8. Slots of 64 begin at 48 + 64 n
    /// before 2^32, and at 16 + 64 n after it.
    #[test]
    fn with_levels_it_fires_in_the_slot_after() {
        let ticks = JiffyClock::jiffies(1000);
        let rows = [
            (0, 1, 2),
            (0, 62, 63),
            (0, 63, 64),
            (0, 64, 72),
            (7, 64, 72),
            (8, 64, 80),
            (0, 503, 504),
            (0, 504, 528),
            (0, 1000, 1040),
            (15, 1000, 1040),
            (16, 1000, 1040),
            (41, 1000, 1104),
        ];
        for (now, wait, fires) in rows {
            let expiry = ticks.expiry(TimerWheel::Levels, Time(now * MS + 3), wait);
            assert_eq!(expiry.at, Time(fires * MS), "{wait} ticks from {now}");
        }
    }

    /// As a tick begins, the wheel is on the next one: 63 ticks are 62 for the wheel, which lie in the first level.
    #[test]
    fn what_is_set_as_a_tick_begins_is_a_tick_nearer() {
        let ticks = JiffyClock::jiffies(1000);
        let rows = [(1, 63, [65, 72]), (3, 504, [512, 528]), (1, 64, [72, 72]), (1, 62, [64, 64])];
        for (now, wait, fires) in rows {
            let at = [0, 1].map(|ns| {
                let set = Time(now * MS + ns);
                let expiry = ticks.expiry(TimerWheel::Levels, set, wait);
                (expiry.at.0 / MS, expiry.level)
            });
            let level = |wait| u32::from(wait >= 63) + u32::from(wait >= 504);
            assert_eq!(
                at,
                [(fires[0], level(wait - 1)), (fires[1], level(wait))],
                "{wait} from {now}"
            );
        }
    }

    /// The level follows the wait, not the time that is left until the timer fires. Slots begin at 208 + 512 n and 16 +
    /// 64 n.
    #[test]
    fn a_timer_lies_where_its_wait_puts_it() {
        let ticks = JiffyClock::jiffies(1000);
        let level = |now, wait| ticks.expiry(TimerWheel::Levels, Time(now * MS + 3), wait);
        assert_eq!(level(8_400, 4_032), Expiry { at: Time(12_496 * MS), level: 3 });
        assert_eq!(level(8_401, 4_031), Expiry { at: Time(12_496 * MS), level: 2 });
    }

    #[test]
    fn it_is_never_early_and_by_no_more_than_a_slot_late() {
        let ticks = JiffyClock::jiffies(250);
        for now in (0..3000).step_by(7) {
            for wait in (1..2_000).step_by(13) {
                let expiry = ticks.expiry(TimerWheel::Levels, Time(now * 4 * MS), wait);
                let at = expiry.at.0 / (4 * MS);
                let slot = if wait < 63 {
                    1
                } else if wait < 504 {
                    8
                } else {
                    64
                };
                let late = at - (now + u64::from(wait));
                assert!((1..=slot).contains(&late), "{wait} from {now}: {late}");
            }
        }
    }
}
