//! Notes for a reader of a resolved scenario, although nothing is wrong with it.

use super::Scenario;
use super::profile::{is_unvalidated, kernel};
use super::resolved::{App, Flow, QUICKACK, Resolved, Station};
use super::{are_copies, shown_system};
use fullpipe_base::units::Time;
use fullpipe_sim::config::System;

/// Sentences on findings, each once, however many runs have it.
pub fn notes(scenario: &Scenario) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for plan in scenario.plans() {
        for note in unvalidated_kernels(&plan.resolved).into_iter().chain(of_run(&plan.resolved)) {
            if !all.contains(&note) {
                all.push(note);
            }
        }
    }
    all
}

/// Sentences on settings of a run that do less than asked, and on a kernel that another version represents.
pub fn of_run(run: &Resolved) -> Vec<String> {
    let cut = capped_buffers(run).into_iter().chain(ssthresh_without_effect(run));
    let cut = cut.chain(frames_without_effect(run)).chain(buffers_without_effect(run));
    let cut = cut.chain(sysctls_without_effect(run)).chain(starts_without_effect(run));
    let cut = cut.chain(habits_without_effect(run)).chain(options_of_other_systems(run));
    let cut = cut.chain(messages_without_end(run));
    let mut all: Vec<String> = nearest_profiles(run).into_iter().chain(cut).collect();
    all.dedup();
    all
}

/// First values of ssthresh that the kernel does not use: CUBIC takes `initial_ssthresh` only while HyStart is off (Linux
/// `bictcp_init`).
fn ssthresh_without_effect(run: &Resolved) -> Vec<String> {
    // A parameter of 0 is as good as none.
    let has = |flow: &super::Flow, name: &str| {
        flow.congestion.parameters.get(name).is_some_and(|value| *value != 0)
    };
    let flows = run.flow.iter().filter(|flow| {
        has(flow, "initial_ssthresh") && has(flow, "hystart") && flow.slow_start.is_none()
    });
    let notes = flows.map(|flow| {
        format!(
            "flow {}: initial_ssthresh does nothing while HyStart is on, as in Linux; set hystart = 0 to have it",
            flow.name
        )
    });
    notes.collect()
}

/// Numbers of packets that bring no interrupt earlier, as each packet has its own.
fn frames_without_effect(run: &Resolved) -> Vec<String> {
    let stations = run.stations().into_iter().filter(|station| {
        station.host.config.rx_frames > 0 && station.host.config.rx_coalesce == Time::ZERO
    });
    let notes = stations.map(|station| {
        let host = station.key();
        format!(
            "{host}: rx_frames does nothing while rx_coalesce is 0s: each packet has its own interrupt"
        )
    });
    notes.collect()
}

/// SO_RCVBUF of flows to a receiver with a window that nothing changes.
fn buffers_without_effect(run: &Resolved) -> Vec<String> {
    run.flow
        .iter()
        .filter(|flow| {
            let to = run.hosts_of(flow)[1].host.config.system;
            flow.rcvbuf.is_some() && matches!(to, System::FixedWindow(_))
        })
        .map(|flow| {
            let host = run.hosts_of(flow)[1].key();
            format!("flow {}: SO_RCVBUF does nothing, as {host} has a fixed `window`", flow.name)
        })
        .collect()
}

/// Sysctls of buffers that differ from the kernel's, on hosts with other bounds of window or send buffer.
fn sysctls_without_effect(run: &Resolved) -> Vec<String> {
    run.stations().into_iter().flat_map(of_other_system).collect()
}

/// A host's sysctls of buffers that do nothing.
fn of_other_system(station: Station) -> Vec<String> {
    let own = &station.host.config;
    let window = match own.system {
        System::Linux => return Vec::new(),
        System::FixedWindow(_) => "the receive window is fixed by `window`",
        System::Windows(_) => "the receive window is bounded by `autotuning` or an SO_RCVBUF",
    };
    let Some(usual) = kernel(&own.kernel).map(|own| &own.sysctl) else { return Vec::new() };

    // Winsock sizes the send buffer; a host with a fixed window sends as Linux does.
    let sends = own.system.is_windows();
    let winsock = "the send buffer is that of Winsock";
    let all = [
        ("net.ipv4.tcp_rmem", own.sysctl.tcp_rmem != usual.tcp_rmem, window),
        ("net.core.rmem_max", own.sysctl.rmem_max != usual.rmem_max, window),
        ("net.ipv4.tcp_wmem", sends && own.sysctl.tcp_wmem != usual.tcp_wmem, winsock),
        ("net.core.wmem_max", sends && own.sysctl.wmem_max != usual.wmem_max, winsock),
    ];
    let host = station.key();
    let set = all.into_iter().filter(|(_, is_set, _)| *is_set);
    set.map(|(name, _, why)| format!("{host}: {name} does nothing here: {why}")).collect()
}

/// The entries of the scenario, each by its first flow.
fn entries(run: &Resolved) -> impl Iterator<Item = &Flow> {
    let is_copy = |at: usize| at > 0 && are_copies(&run.flow[at - 1].name, &run.flow[at].name);
    run.flow.iter().enumerate().filter(move |(at, _)| !is_copy(*at)).map(|(_, flow)| flow)
}

/// Starts of flows that begin when another one is over.
fn starts_without_effect(run: &Resolved) -> Vec<String> {
    let notes = entries(run).filter(|flow| flow.start > Time::ZERO).filter_map(|flow| {
        let before = &flow.after.as_ref()?.flow;
        Some(format!(
            "flow {}: start does nothing, as the flow begins when {before} is over; `pause` of `after` delays it",
            flow.name
        ))
    });
    notes.collect()
}

/// Habits of a program that asks, where they are set for the program that answers.
fn habits_without_effect(run: &Resolved) -> Vec<String> {
    let notes = entries(run).filter_map(|flow| {
        let (asks, App::Messages { in_flight, period, .. }) = (flow.reply_to.as_ref()?, flow.app)
        else {
            return None;
        };
        let set = [("in_flight", in_flight != 1), ("period", period.is_some())];
        let set: Vec<&str> = set.iter().filter(|(_, set)| *set).map(|(key, _)| *key).collect();
        let does = if set.len() == 1 { "does" } else { "do" };
        (!set.is_empty()).then(|| {
            format!(
                "flow {}: {} {does} nothing, as each answer follows its message; set them for {asks}",
                flow.name,
                set.join(" and ")
            )
        })
    });
    notes.collect()
}

/// Messages that nothing parts: a program that neither reads an answer nor keeps a clock writes the next one at once.
fn messages_without_end(run: &Resolved) -> Vec<String> {
    let notes = entries(run).filter(|flow| {
        let is_message = matches!(flow.app, App::Messages { .. }) && flow.reply_to.is_none();
        is_message && flow.period().is_none() && run.reverse_flow(flow).is_none()
    });
    notes
        .map(|flow| {
            format!(
                "flow {}: its messages follow one another like a stream; a flow with `reply_to`, or a `period`, parts them",
                flow.name
            )
        })
        .collect()
}

/// Options that act on a host although its system has none of that name: TCP_QUICKACK is Linux's own (tcp(7)).
fn options_of_other_systems(run: &Resolved) -> Vec<String> {
    let notes = entries(run).filter_map(|flow| {
        let to = run.hosts_of(flow)[1];
        let is_set = flow.receiver_sockopt.contains_key(QUICKACK);
        (is_set && to.host.config.system.is_windows()).then(|| {
            format!(
                "flow {}: TCP_QUICKACK acts on {} as on Linux, but Windows has no such option; a program there cannot set it",
                flow.name,
                to.key()
            )
        })
    });
    notes.collect()
}

/// Kernels for which the profile of another version stands.
fn nearest_profiles(run: &Resolved) -> Vec<String> {
    let stations = run.stations().into_iter();
    stations
        .filter_map(|station| {
            let asked = station.host.kernel_asked.0.as_ref()?;
            let profile = &station.host.config.kernel;
            Some(format!(
                "Linux {asked} has no profile of its own and runs as Linux {profile}, the nearest one; \
                 docs/kernels.md lists which profile stands for which kernel"
            ))
        })
        .collect()
}

/// Profiles that were never compared with their kernels.
fn unvalidated_kernels(run: &Resolved) -> Vec<String> {
    let kernels = run.stations().into_iter().map(|station| &station.host.config.kernel);
    let unvalidated = kernels.filter(|kernel| is_unvalidated(kernel));
    let systems = run.stations().into_iter().filter_map(|own| shown_system(own.host.config.system));
    let systems = systems.map(|system| {
        format!(
            "{system} is unvalidated: windows and send buffers as far as published, everything else as Linux has it, never \
             compared with such a system"
        )
    });
    let profiles = unvalidated.map(|kernel| {
        format!(
            "the profile of Linux {kernel} is unvalidated: an older one with single published changes (docs/kernels.md), \
             never compared with that kernel"
        )
    });
    profiles.chain(systems).collect()
}

/// Socket buffers that the kernel silently cuts (setsockopt(2): SO_SNDBUF, SO_RCVBUF).
fn capped_buffers(run: &Resolved) -> Vec<String> {
    let capped = |flow: &str, asked: Option<u64>, option, host: Station, sysctl, max: u64| {
        let of_linux = host.host.config.system == System::Linux;

        // Windows has no such bound.
        asked.filter(|asked| of_linux && *asked > max).map(|asked| {
            let host = host.key();
            format!(
                "flow {flow}: {option} of {asked} bytes is cut to {max} by {host}'s {sysctl}; \
                 raise it to {asked} to have what is asked"
            )
        })
    };
    run.flow
        .iter()
        .flat_map(|flow| {
            // The sender's bound cuts sndbuf, the receiver's cuts rcvbuf.
            let [from, to] = run.hosts_of(flow);
            let (wmax, rmax) = (from.host.config.sysctl.wmem_max, to.host.config.sysctl.rmem_max);
            [
                capped(&flow.name, flow.sndbuf, "SO_SNDBUF", from, "net.core.wmem_max", wmax),
                capped(&flow.name, flow.rcvbuf, "SO_RCVBUF", to, "net.core.rmem_max", rmax),
            ]
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, load};

    /// Notes of a run of one flow to a host with these keys.
    fn notes_of(receiver: &str) -> Vec<String> {
        notes_with(receiver, "duration = \"1s\"")
    }

    #[test]
    fn sysctls_of_buffers_that_do_nothing_are_said() {
        let rmem = "sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 33554432\" }";
        let wmem = "sysctl = { \"net.ipv4.tcp_wmem\" = \"4096 16384 33554432\" }";
        let keys = |first: &str, then: &str| notes_of(&format!("{first}, {then}"));
        assert_eq!(
            keys("window = \"64KiB\"", rmem),
            [
                "hosts.receiver: net.ipv4.tcp_rmem does nothing here: the receive window is fixed by `window`"
            ]
        );
        assert_eq!(keys("system = \"windows\"", rmem).len(), 1);
        assert_eq!(keys("system = \"windows\"", wmem).len(), 1);

        // A host with a fixed window sends as Linux does, and Linux obeys all of them.
        assert!(keys("window = \"64KiB\"", wmem).is_empty());
        assert!(keys("kernel = \"6.12\"", rmem).is_empty());
        assert!(notes_of("window = \"64KiB\"").is_empty());
    }

    /// Notes of a run with these keys behind its first flow, "bulk", to a host with these keys.
    fn notes_with(receiver: &str, more: &str) -> Vec<String> {
        let text = format!(
            "duration = \"2s\"\n[path]\nrate = \"10Mbit\"\ndelay = {{ forward = \"1ms\", back = \"1ms\" }}\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ {receiver} }}\n\
             [[flow]]\nname = \"bulk\"\n{more}\n"
        );
        let scenario = load(&Source::text("t", &text), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        of_run(&scenario.plans()[0].resolved)
    }

    #[test]
    fn a_start_behind_another_flow_is_said_to_do_nothing() {
        let next = |start: &str| {
            let more = format!(
                "bytes = \"1MB\"\nstart = \"1s\"\n[[flow]]\nname = \"next\"\nbytes = \"1MB\"\n{start}after = {{ flow = \"bulk\" }}"
            );
            notes_with("kernel = \"6.12\"", &more)
        };
        assert_eq!(
            next("start = \"1s\"\n"),
            [
                "flow next: start does nothing, as the flow begins when bulk is over; `pause` of `after` delays it"
            ]
        );
        assert!(next("").is_empty());

        // The first connection of a loop begins at `start`.
        let own = "bytes = \"1MB\"\nstart = \"1s\"\nagain = { count = 3 }";
        assert!(notes_with("kernel = \"6.12\"", own).is_empty());
    }

    #[test]
    fn habits_of_an_answering_program_are_said_to_do_nothing() {
        let answer = |keys: &str| {
            let more = format!(
                "duration = \"1s\"\napp = {{ kind = \"messages\", in_flight = 3, period = \"100ms\" }}\n[[flow]]\nname = \"answer\"\nreply_to = \"bulk\"\napp = {{ kind = \"messages\"{keys} }}"
            );
            notes_with("kernel = \"6.12\"", &more)
        };
        let said = "nothing, as each answer follows its message; set them for bulk";
        assert_eq!(answer(", in_flight = 2"), [format!("flow answer: in_flight does {said}")]);
        assert_eq!(
            answer(", in_flight = 2, period = \"1ms\""),
            [format!("flow answer: in_flight and period do {said}")]
        );
        assert!(answer(", size = \"2kB\"").is_empty());
    }

    #[test]
    fn messages_that_nothing_parts_are_said_to_be_a_stream() {
        let of = |keys: &str, more: &str| {
            let app = format!("duration = \"1s\"\napp = {{ kind = \"messages\"{keys} }}{more}");
            notes_with("kernel = \"6.12\"", &app).len()
        };
        let answer = "\n[[flow]]\nname = \"answer\"\nreply_to = \"bulk\"";
        assert_eq!([of("", ""), of(", period = \"1ms\"", ""), of("", answer)], [1, 0, 0]);
    }

    #[test]
    fn quickack_on_windows_is_said_to_be_linux_s() {
        let quick = "duration = \"1s\"\nquickack = \"each-read\"";
        let said = |receiver: &str| {
            let all = notes_with(receiver, quick);
            all.into_iter().filter(|note| note.contains("TCP_QUICKACK")).count()
        };
        assert_eq!([said("system = \"windows\""), said("kernel = \"6.12\"")], [1, 0]);
    }
}
