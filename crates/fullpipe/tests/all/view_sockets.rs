//! Verdicts from the sockets of one end: their inputs, and their results on small runs.

use crate::made::{loaded, made};
use fullpipe::analysis::document::{Confidence, Grade, Headline, Run};
use fullpipe::analysis::settings::FlowSettings;
use fullpipe::analysis::view::{View, receiver, sender};
use fullpipe::analysis::{self, FlowMeta, Made, RunMeta, WayMeta};
use fullpipe::scenario::{self, Source};
use fullpipe::trace::recording::Recording;
use fullpipe::trace::schema::Row;
use fullpipe_sim::trace::{FlowSample, StageSample};

/// A run with all that its analysis takes.
struct Ran {
    meta: RunMeta,
    recording: Recording,
}

impl Ran {
    fn of(text: &str) -> Ran {
        let scenario = loaded(text);
        let plan = &scenario.plans()[0];
        let (_, recording) = made(&scenario, plan);
        Ran { meta: RunMeta::from_plan(&scenario, plan, Made::default()), recording }
    }

    fn seen(&self, view: View) -> Run {
        analysis::run_in(view, &self.meta, &self.recording)
    }
}

/// A path with others, losses, a queue, CPU costs and counters, so that everything hidden has a value.
const BUSY: &str = "seed = 3\nduration = \"6s\"\n\
    [path]\nforward = [\n\
    { kind = \"loss\", name = \"line\", probability = 1e-4 },\n\
    { kind = \"link\", name = \"link\", rate = \"50Mbit\", queue = { limit = \"100kB\" } },\n\
    { kind = \"delay\", name = \"delay\", delay = \"10ms\" },\n]\n\
    back = [{ kind = \"delay\", name = \"back\", delay = \"10ms\" }]\n\
    [hosts.sender]\nkernel = \"6.12\"\ncpu = { transmit = \"1us/packet\" }\n\
    [hosts.receiver]\nkernel = \"6.12\"\ncpu = { receive = \"1us/packet\" }\n\
    [[flow]]\nname = \"data\"\nduration = \"6s\"\n\
    [[flow]]\nname = \"beside\"\nduration = \"6s\"\nreader = { rate = \"5Mbit\" }\n";

/// The run as the sending host sees it: everything else is blank.
fn of_sender(own: &Ran) -> Ran {
    let blank = FlowSample::blank();
    let flow = |sample: &FlowSample| FlowSample {
        bytes_delivered: blank.bytes_delivered,
        segments_delivered: blank.segments_delivered,
        walked_for_sacks: 0,
        walked_to_mark: 0,
        walked_to_resend: 0,
        limits: blank.limits,
        receiver: blank.receiver,
        ..sample.clone()
    };
    let settings = |own: &FlowSettings| FlowSettings {
        send: own.send.clone(),
        first_ssthresh: own.first_ssthresh,
        hosts: [own.hosts[0].clone(), Default::default()],
        ..FlowSettings::default()
    };
    hidden(own, "sender", flow, settings)
}

/// The run as the receiving host sees it.
fn of_receiver(own: &Ran) -> Ran {
    let flow = |sample: &FlowSample| {
        let mut seen = FlowSample {
            time: sample.time,
            flow: sample.flow,
            receiver: sample.receiver,
            ..FlowSample::blank()
        };
        // Both ends know the options that they agreed to.
        seen.sender.options = sample.sender.options;
        seen
    };
    let settings = |own: &FlowSettings| FlowSettings {
        receive: own.receive.clone(),
        hosts: [Default::default(), own.hosts[1].clone()],
        ..FlowSettings::default()
    };
    hidden(own, "receiver", flow, settings)
}

/// A run without the path, the events, and the stages and counters of other hosts.
fn hidden(
    own: &Ran,
    host: &str,
    flow: impl Fn(&FlowSample) -> FlowSample,
    settings: impl Fn(&FlowSettings) -> FlowSettings,
) -> Ran {
    let stages = &own.recording.stages;
    let is_own = |sample: &StageSample| {
        let name = &stages[usize::from(sample.stage)].name;
        [format!("{host}.qdisc"), format!("{host}.cpu")].contains(name)
    };
    let stage = |sample: &StageSample| match is_own(sample) {
        true => StageSample {
            time: sample.time,
            stage: sample.stage,
            waiting: sample.waiting,
            left: sample.left,
            dropped: sample.dropped,
            requeues: sample.requeues,
            busy_ns: sample.busy_ns,
            ..StageSample::default()
        },
        false => StageSample { time: sample.time, stage: sample.stage, ..StageSample::default() },
    };
    let counters = own.recording.counters.iter().filter(|counter| &*counter.host == host);
    let flows = own.meta.flows.iter().map(|flow| FlowMeta {
        base_rtt: None,
        stop: None,
        shaper: None,
        kernel: String::new(),
        settings: settings(&flow.settings),
        ..flow.clone()
    });
    Ran {
        meta: RunMeta {
            places: Default::default(),
            tuned: Default::default(),
            ways: [WayMeta::default(), WayMeta::default()],
            flows: flows.collect(),
            ..own.meta.clone()
        },
        recording: Recording {
            stages: stages.clone(),
            flows: own.recording.flows.iter().map(flow).collect(),
            stage_samples: own.recording.stage_samples.iter().map(stage).collect(),
            events: Vec::new(),
            counters: counters.cloned().collect(),
        },
    }
}

#[test]
fn nothing_but_the_own_end_is_read() {
    let whole = Ran::of(BUSY);
    let blank = of_sender(&whole);
    assert_ne!(whole.recording, blank.recording);
    let sight = |own: &Ran| sender::Sight::new(&own.meta, &own.recording).expect("a sight");
    assert_eq!(sight(&whole), sight(&blank));
    let (seen, again) = (whole.seen(View::SenderSockets), blank.seen(View::SenderSockets));
    assert_eq!((seen.headline, seen.findings), (again.headline, again.findings));

    let blank = of_receiver(&whole);
    let sight = |own: &Ran| receiver::Sight::new(&own.meta, &own.recording).expect("a sight");
    assert_eq!(sight(&whole), sight(&blank));
    let (seen, again) = (whole.seen(View::ReceiverSockets), blank.seen(View::ReceiverSockets));
    assert_eq!((seen.headline, seen.findings), (again.headline, again.findings));
}

/// Headline of the view for the first variant of a file of scenarios/limits.
fn of_file(name: &str, view: View) -> Headline {
    let file = format!("{}/../../scenarios/limits/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"));
    let source = Source::text(&format!("{name}.toml"), &text);
    let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let plan = &scenario.plans()[0];
    let (_, recording) = made(&scenario, plan);
    let meta = RunMeta::from_plan(&scenario, plan, Made::default());
    let run = analysis::run_in(view, &meta, &recording);
    assert_eq!(run.view.as_deref(), Some(view.name()));
    run.headline.expect("a headline")
}

#[test]
fn the_sender_names_the_limits_of_small_scenarios() {
    let table = [
        ("send_buffer", "send buffer"),
        ("receive_window", "window"),
        ("reader", "reader"),
        ("application", "source"),
        ("pacing", "host paced"),
        ("maxrate", "host paced"),
        ("nic", "host paced"),
        ("sender_cpu", "source"),
        ("loss", "loss"),
        ("link", "link"),
        ("policer", "shallow drop"),
        ("slow_way_back", "ACK path"),
    ];
    for (name, group) in table {
        let own = of_file(name, View::SenderSockets);
        assert_eq!(own.group.as_deref(), Some(group), "{name}: {}", own.text);
        assert_eq!(own.allowed_mbit, None, "{name}");
        assert_ne!(own.confidence, Some(Confidence::CannotTell), "{name}: {}", own.text);
    }
}

#[test]
fn the_receiver_names_window_reader_and_cpu() {
    let path = |rest: &str| {
        format!(
            "duration = \"6s\"\n[path]\nrate = \"100Mbit\"\ndelay = {{ forward = \"20ms\", back = \"20ms\" }}\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
             [[flow]]\nname = \"data\"\nduration = \"6s\"\n{rest}\n"
        )
    };
    let code = |rest: &str| {
        let headline = Ran::of(&path(rest)).seen(View::ReceiverSockets).headline;
        let own = headline.expect("a headline");
        (own.code.unwrap_or_default(), own.text)
    };
    let (window, text) = code("rcvbuf = \"100kB\"");
    assert_eq!(window, "rwnd_fixed", "{text}");
    let (reader, text) = code("reader = { rate = \"10Mbit\" }");
    assert_eq!(reader, "app_read", "{text}");
    let unscaled =
        path("").replacen("6.12\"", "6.12\", sysctl = { \"net.ipv4.tcp_window_scaling\" = 0 }", 1);
    let own = Ran::of(&unscaled).seen(View::ReceiverSockets).headline.expect("a headline");
    assert_eq!(own.code.as_deref(), Some("wscale_off"), "{}", own.text);
    let (none, text) = code("");
    assert_eq!(none, "", "{text}");
}

#[test]
fn a_short_transfer_cannot_be_judged() {
    let short = "duration = \"4s\"\n[path]\nrate = \"1Gbit\"\ndelay = { forward = \"50ms\", back = \"50ms\" }\n\
                 [hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\n\
                 [[flow]]\nname = \"data\"\nbytes = \"200kB\"\n";
    let own = Ran::of(short).seen(View::SenderSockets).headline.expect("a headline");
    assert_eq!(own.grade, Grade::CannotTell, "{}", own.text);
    assert_eq!(own.confidence, Some(Confidence::CannotTell));
    assert_eq!(own.code.as_deref(), Some("too_short"));
}

/// The verdict is about the first flow and its copies, not about a slow one on the same path.
#[test]
fn a_slow_flow_beside_does_not_count() {
    let text = BUSY.replace("name = \"data\"", "name = \"data\"\ncount = 2");
    let own = Ran::of(&text).seen(View::SenderSockets).headline.expect("a headline");
    assert_ne!(own.group.as_deref(), Some("reader"), "{}", own.text);
    assert!(own.text.contains("2 flows"), "{}", own.text);
}
