//! Judging what a scenario expects of a run.
//!
//! Limits:
//! - CPU shares (`cpu_sender`, `cpu_receiver`) are the whole host's, from the start of the interval clock to the end
//!   of the flow. Several flows have the same shares.
//! - The band of a comparison with published figures covers the first flow of a run.

use super::document::{Datagrams, Expectation, Flow, Interval, Nfs, Run, Stage};
use super::fairness::Fairness;
use fullpipe_scenario::metric::SHARED;
use fullpipe_scenario::{Expect, Target, Tolerance};

/// Compares one expectation with the facts.
pub fn judge(expect: &Expect, run: &Run) -> Expectation {
    let values = measured(&expect.target, expect.interval, run);
    let (measured, passed, detail) = match values {
        // A table of another length fails as a whole, and shows what was measured.
        Ok(values) if values.len() != expect.of.len() => {
            let detail =
                format!("{} expected values for {} measured", expect.of.len(), values.len());
            (values, false, detail)
        }
        Ok(values) => {
            let (passed, detail) = compare(expect, &values);
            (values, passed, detail)
        }
        Err(why) => (Vec::new(), false, why),
    };
    Expectation {
        metric: expect.metric.clone(),
        interval: expect.interval,
        expected: expect.of.clone(),
        measured,
        within: expect.within.clone(),
        passed,
        detail,
    }
}

/// The verdict and a sentence about the value that is furthest off.
fn compare(expect: &Expect, measured: &[f64]) -> (bool, String) {
    let pairs: Vec<(f64, f64)> = expect.of.iter().copied().zip(measured.iter().copied()).collect();
    let passed = pairs.iter().all(|(of, is)| expect.tolerance.accepts(*of, *is));

    // The worst value is the furthest off in the measure that the tolerance uses.
    let off = |(of, is): &(f64, f64)| match expect.tolerance {
        Tolerance::Relative(_) if *of != 0.0 => ((is - of) / of).abs(),
        _ => (is - of).abs(),
    };
    let worst = (0..pairs.len()).max_by(|a, b| off(&pairs[*a]).total_cmp(&off(&pairs[*b])));
    let Some(worst) = worst else {
        return (passed, "nothing was expected".into());
    };
    let (of, is) = pairs[worst];

    // Intervals count from the first of the expected range.
    let place = match expect.interval {
        Some([first, _]) => format!("interval {}: ", first + worst),
        None => String::new(),
    };
    let unit = expect.target.unit();
    let detail = format!(
        "{place}{} instead of {}{}",
        with_unit(number(is), unit),
        with_unit(number(of), unit),
        difference(of, is, unit)
    );
    (passed, detail)
}

fn difference(of: f64, is: f64, unit: &str) -> String {
    let amount = with_unit(number((is - of).abs()), unit);
    let signed = format!("{}{amount}", if is < of { "-" } else { "+" });
    match of {
        _ if of == is => ", exactly".into(),
        0.0 => format!(", {signed}"),
        _ => format!(", {signed} or {:+.2} %", (is - of) / of.abs() * 100.0),
    }
}

fn with_unit(number: String, unit: &str) -> String {
    match (number.as_str(), unit) {
        (_, "") => number,
        ("1", "bytes" | "packets" | "segments" | "skbs" | "rounds") => {
            format!("{number} {}", unit.trim_end_matches('s'))
        }
        _ => format!("{number} {unit}"),
    }
}

/// A number with up to four digits after the point.
fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A metric of the whole run; none where it has no value.
pub fn whole_run(target: &Target, run: &Run) -> Option<f64> {
    measured(target, None, run).ok()?.first().copied()
}

fn measured(target: &Target, interval: Option<[usize; 2]>, run: &Run) -> Result<Vec<f64>, String> {
    let flow = |name: &String| {
        run.flows.iter().find(|f| f.name == *name).ok_or_else(|| format!("no flow {name}"))
    };
    match target {
        Target::Flow { flow: name, column } if SHARED.contains(column) => {
            Ok(vec![part(together(run)?, name, column)?])
        }
        Target::Fairness { column } => fairness(together(run)?, column, interval),
        Target::Flow { flow: name, column } => flow_values(flow(name)?, column, interval),
        Target::Limit { flow: name, limit } => {
            let share = |limits: &std::collections::BTreeMap<String, f64>| {
                Ok(limits.get(*limit).copied().unwrap_or(0.0))
            };
            let flow = flow(name)?;
            match interval {
                Some(range) => within(flow, range)?.iter().map(|i| share(&i.limits)).collect(),
                None => Ok(vec![share(&flow.limits)?]),
            }
        }
        Target::Datagrams { datagrams, column } => {
            let found = run.datagrams.iter().find(|own| own.name == *datagrams);
            let found = found.ok_or_else(|| format!("this run has no datagrams {datagrams}"))?;
            let value = datagrams_value(found, column);
            Ok(vec![value.ok_or_else(|| format!("{}: no {column} was measured", found.name))?])
        }
        Target::Nfs { nfs, column } => {
            let found = run.nfs.iter().find(|own| own.name == *nfs);
            let found = found.ok_or_else(|| format!("this run has no mount {nfs}"))?;
            let value = nfs_value(found, column);
            Ok(vec![value.ok_or_else(|| format!("{}: no {column} was measured", found.name))?])
        }
        Target::Stage { stage, column } => {
            let found = run.stages.iter().find(|s| s.name == *stage);
            let found = found.ok_or_else(|| format!("this run has no stage {stage}"))?;
            Ok(vec![stage_value(found, column)?])
        }
    }
}

fn together(run: &Run) -> Result<&Fairness, String> {
    run.fairness.as_ref().ok_or_else(|| "no flows of one direction live at one time".to_string())
}

/// A flow's value in a column of the comparison with the other flows.
fn part(all: &Fairness, flow: &str, column: &str) -> Result<f64, String> {
    let own = all.flows.iter().find(|own| own.name == flow);
    let own = own.ok_or_else(|| format!("flow {flow} goes the other way"))?;
    match column {
        "share" => Ok(own.share),
        "variation" => own.variation.ok_or_else(|| format!("flow {flow} has too few intervals")),
        _ => Err(format!("{column} has no value for the whole run")),
    }
}

fn fairness(
    all: &Fairness,
    column: &str,
    interval: Option<[usize; 2]>,
) -> Result<Vec<f64>, String> {
    if let Some([first, end]) = interval {
        let count = all.jain_intervals.len();
        let found = all.jain_intervals.get(first..end);
        let found = found.ok_or_else(|| format!("all flows live for only {count} intervals"))?;
        let known = found.iter().copied().collect::<Option<Vec<f64>>>();
        return known.ok_or_else(|| "nothing was delivered in an interval".into());
    }
    let value = match column {
        "jain" => Ok(all.jain),
        "jain_settled" => all.jain_settled.ok_or("nothing was delivered in the second half"),
        "converged" if all.is_too_short() => Err("the flows live together for too short a time"),
        "converged" => Ok(f64::from(u8::from(all.converged_s.is_some()))),
        "converged_s" => all.converged_s.ok_or("the flows did not converge"),
        "rtt_exponent" => all.rtt_exponent.ok_or("the flows' round trips do not differ"),
        "dropped" => Ok(all.dropped as f64),
        "queue" => all.queue.ok_or("the trace does not tell what waits"),
        _ => Err("it has no value for the whole run"),
    };
    Ok(vec![value?])
}

fn flow_values(
    flow: &Flow,
    column: &str,
    interval: Option<[usize; 2]>,
) -> Result<Vec<f64>, String> {
    match interval {
        Some(range) => within(flow, range)?.iter().map(|i| interval_value(i, column)).collect(),
        None => Ok(vec![whole(flow, column)?]),
    }
}

fn within(flow: &Flow, [first, end]: [usize; 2]) -> Result<&[Interval], String> {
    let count = flow.intervals.len();
    let found = flow.intervals.get(first..end);
    found.ok_or_else(|| format!("flow {} has only {count} intervals", flow.name))
}

fn interval_value(interval: &Interval, column: &str) -> Result<f64, String> {
    Ok(match column {
        "bytes" => interval.bytes as f64,
        "segments_delivered" => interval.segments as f64,
        "throughput_mbit" => interval.throughput_mbit,
        "retransmitted_segments" => interval.retransmitted_segments as f64,
        "cwnd" => f64::from(interval.cwnd),
        _ => return Err(format!("{column} has no value per interval")),
    })
}

fn whole(flow: &Flow, column: &str) -> Result<f64, String> {
    let idle = || "the hosts' CPUs cost nothing".to_string();
    let none = || "the rate did not settle: there is no plateau".to_string();
    Ok(match column {
        "bytes" => flow.bytes as f64,
        "segments_delivered" => flow.intervals.iter().map(|i| i.segments).sum::<u64>() as f64,
        "retransmitted_segments" => flow.retransmitted_segments as f64,
        "mean_mbit" => flow.mean_mbit,
        "settled_mbit" => flow.settled.ok_or("the second half was not measured")?.mbit,
        "loss_epochs" => flow.settled.ok_or("the second half was not measured")?.loss_epochs as f64,
        "plateau_mbit" => flow.plateau_mbit.ok_or_else(none)?,
        "time_to_plateau_s" => flow.time_to_plateau_s.ok_or_else(none)?,
        "time_to_full_rate_s" => flow.time_to_full_rate_s.ok_or_else(|| {
            "no three intervals in a row reached 90 % of what the path can carry".to_string()
        })?,
        _ if column.starts_with("message") => message(flow, column)?,
        "cpu_sender" => flow.cpu.ok_or_else(idle)?.sender,
        "cpu_receiver" => flow.cpu.ok_or_else(idle)?.receiver,
        "slow_start_rounds" => {
            let rounds = flow.slow_start_rounds.as_ref();
            rounds.ok_or("the trace does not tell rounds of slow start")?.len() as f64
        }
        _ if column.contains("_median") => median(flow, column)?,
        _ if column.starts_with("slow_start_") => slow_start(flow, column)?,
        _ => return Err(format!("{column} has no value for the whole run")),
    })
}

fn message(flow: &Flow, column: &str) -> Result<f64, String> {
    let messages = flow.messages.ok_or("the flow has read no answers, and no messages")?;
    Ok(match column {
        "messages" => messages.count as f64,
        "message_median_ms" => messages.median_ms,
        "message_p95_ms" => messages.p95_ms,
        "message_worst_ms" => messages.worst_ms,
        _ => return Err(format!("{column} has no value for the whole run")),
    })
}

fn median(flow: &Flow, column: &str) -> Result<f64, String> {
    let medians = flow.medians.ok_or("no RTT was measured")?;
    Ok(match column {
        "cwnd_median" => f64::from(medians.cwnd),
        "in_flight_median" => f64::from(medians.in_flight),
        "srtt_median_s" => f64::from(medians.srtt_us) / 1e6,
        _ => return Err(format!("{column} has no value for the whole run")),
    })
}

fn slow_start(flow: &Flow, column: &str) -> Result<f64, String> {
    let slow_start = flow.slow_start.ok_or("no RTT was measured")?;
    Ok(match column {
        "slow_start_s" => slow_start.ended_s.ok_or("slow start did not end")?,
        "slow_start_cwnd" => f64::from(slow_start.cwnd),
        "slow_start_retransmitted_segments" => slow_start.retransmitted_segments as f64,
        "slow_start_queued_s" => slow_start.queued_s,
        _ => return Err(format!("{column} has no value for the whole run")),
    })
}

fn datagrams_value(own: &Datagrams, column: &str) -> Option<f64> {
    let count = |count: u64| Some(count as f64);
    match column {
        "sent" => count(own.sent),
        "refused" => count(own.refused),
        "received" => count(own.received),
        "lost" => count(own.lost),
        "loss_share" => Some(own.loss_share),
        "reordered" => count(own.reordered?),
        "duplicates" => count(own.duplicates),
        "rcvbuf_errors" => count(own.rcvbuf_errors?),
        "mean_mbit" => own.mean_mbit,
        "jitter_ms" => own.jitter_ms,
        "rtt_min_ms" => Some(own.rtt_ms?.min),
        "rtt_avg_ms" => Some(own.rtt_ms?.avg),
        "rtt_max_ms" => Some(own.rtt_ms?.max),
        "rtt_mdev_ms" => Some(own.rtt_ms?.mdev),
        _ => None,
    }
}

fn nfs_value(own: &Nfs, column: &str) -> Option<f64> {
    match column {
        "took_s" => own.took_s,
        "mean_mbit" => own.mean_mbit,
        "requests" => Some(own.requests?.count as f64),
        "queue_ms" => Some(own.requests?.mean_queue_ms),
        "rtt_ms" => Some(own.requests?.mean_rtt_ms),
        "execute_ms" => Some(own.requests?.mean_execute_ms),
        _ => None,
    }
}

fn stage_value(stage: &Stage, column: &str) -> Result<f64, String> {
    Ok(match column {
        "dropped" => stage.dropped as f64,
        "marked" => stage.marked as f64,
        "requeues" => stage.requeues as f64,
        "entered" => stage.entered as f64,
        "left" => stage.left as f64,
        "waiting" => stage.waiting as f64,
        "peak" => stage.peak as f64,
        "mean_waiting" => stage.mean_waiting,
        "busy_s" => stage.busy_s,
        "blocked_s" => stage.blocked_s,
        _ => return Err(format!("a stage has no {column}")),
    })
}
