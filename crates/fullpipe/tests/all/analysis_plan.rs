//! From a scenario to the facts of its runs.

use fullpipe::analysis::document::FORMAT;
use fullpipe::analysis::{self, Made, RunMeta};
use fullpipe::engine;
use fullpipe::scenario::{Scenario, SetOption, Source, load, recipe};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;

fn fink(sets: &[&str]) -> Scenario {
    let sets: Vec<SetOption> = sets.iter().map(|set| SetOption(set.to_string())).collect();
    load(&recipe("fink-2007").unwrap().source(), &sets, &[]).unwrap()
}

/// Ends a run at the first sample from a time on.
struct Until(Time);

impl Control for Until {
    fn go_on(&mut self, now: Time) -> bool {
        now < self.0
    }
}

#[test]
fn a_plan_has_what_the_analysis_must_know() {
    let scenario = fink(&[]);
    for plan in scenario.plans() {
        let meta = RunMeta::from_plan(&scenario, plan, Made::default());
        assert_eq!(meta.variant, plan.variant);
        // MTU 9000 without timestamps.
        assert_eq!(meta.mss, 8960);
        assert_eq!(meta.flows.len(), 1);
        assert_eq!(meta.flows[0].kernel, "2.6.20");
        assert_eq!(meta.ways[0].bottlenecks, ["router", "sender.qdisc", "sender.tx_ring"]);
        assert_eq!(meta.ways[0].queues, ["router"]);
        let figures = meta.published.expect("each variant has published figures");
        assert!(figures.run.rows.len() >= 9 && figures.source.contains("2007"));
    }
    let kernels = ["hosts.sender.kernel=6.18", "hosts.receiver.kernel=6.12", "hosts.sender.cpu={}"];
    let new = fink(&kernels);
    let unvalidated = |kernel: Option<&str>| {
        let made = Made { kernel: kernel.map(String::from), ..Made::default() };
        RunMeta::from_plan(&new, &new.plans()[0], made).unvalidated
    };
    assert_eq!((unvalidated(None), unvalidated(Some("6.12"))), (vec!["6.18".to_string()], vec![]));
    let stamped = fink(&["hosts.sender.timestamps=true", "hosts.receiver.timestamps=true"]);
    assert_eq!(RunMeta::from_plan(&stamped, &stamped.plans()[0], Made::default()).mss, 8948);
}

#[test]
fn a_run_that_is_stopped_early_has_whole_intervals_and_fitting_rows() {
    let scenario = fink(&[]);
    let plan = &scenario.plans()[0];
    let mut recording = Recording::default();
    let simulator = engine::find("sim").unwrap();
    let stop = &mut Until(Time::ms(2500));
    let outcome = simulator.run(&plan.resolved, &mut recording, stop).unwrap();
    assert!(!outcome.complete);
    let meta =
        RunMeta::from_plan(&scenario, plan, Made { partial: !outcome.complete, ..Made::default() });
    let run = analysis::run(&meta, &recording);
    assert!(run.partial);
    assert_eq!(run.duration_s, 2.5);
    let flow = &run.flows[0];
    assert_eq!(flow.intervals.len(), 3);
    assert_eq!(flow.intervals.iter().map(|i| i.bytes).sum::<u64>(), flow.bytes);
    assert!(flow.bytes > 0 && flow.intervals[2].end_s < 2.5);
    assert!((flow.limits.values().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(flow.limits["unknown"], 0.0);
    assert_eq!(run.published.as_ref().unwrap().rows.len(), 2);
    let document = analysis::document(&scenario, &["sim"], vec![run]);
    assert!(document.partial && document.format == FORMAT);
    assert_eq!(document.scenario.name, "fink-2007");
}

#[test]
fn runs_of_several_engines_bear_their_names_and_are_compared_where_both_are_there() {
    let scenario = fink(&[]);
    let plan = &scenario.plans()[0];
    let meta = RunMeta::from_plan(&scenario, plan, Made::default());
    let (name, engines) = (plan.name(), ["sim", "linux"]);
    let [on_sim, on_linux] = engines.map(|engine| format!("{name} on {engine}"));
    let run = |variant: &String| {
        let meta = RunMeta { variant: variant.clone(), ..meta.clone() };
        analysis::run(&meta, &Recording::default())
    };
    let both = analysis::document(&scenario, &engines, vec![run(&on_sim), run(&on_linux)]);
    let pairs: Vec<_> = both.comparisons.iter().map(|pair| (&pair.a, &pair.b)).collect();
    assert_eq!(pairs, [(&on_sim, &on_linux)]);
    assert_eq!(both.missing.len(), 2 * (scenario.plans().len() - 1));
    let one = analysis::document(&scenario, &engines, vec![run(&on_linux)]);
    assert!(one.comparisons.is_empty() && one.missing.contains(&on_sim));
    let alone = analysis::document(&scenario, &["sim"], vec![run(&name)]);
    assert!(alone.comparisons.is_empty() && !alone.missing.contains(&name));
}

/// Two flows; one of them requests its buffers. The request counts twice, up to rmem_max and wmem_max.
#[test]
fn a_buffer_that_the_kernel_tunes_is_bound_by_sysctls() {
    let text = "duration = \"1s\"\n[path]\nforward = [{ kind = \"delay\", name = \"far\", delay = \"5ms\" }]\nback = []\n\
                [hosts.sender]\nkernel = \"3.14\"\n[hosts.receiver]\nkernel = \"3.14\"\n\
                [hosts.sender.sysctl]\n\"net.ipv4.tcp_wmem\" = \"4096 16384 5000000\"\n\
                [hosts.receiver.sysctl]\n\"net.ipv4.tcp_rmem\" = \"4096 87380 7000000\"\n\
                [[flow]]\nname = \"one\"\nbytes = \"1kB\"\n[[flow]]\nname = \"other\"\nbytes = \"1kB\"\n";
    let bounds = |more: &str| {
        let source = Source::text("tuned.toml", &format!("{text}{more}"));
        let scenario = load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        RunMeta::from_plan(&scenario, &scenario.plans()[0], Made::default()).tuned
    };
    let named = |send: u64, receive: u64| {
        let names = ["sender.send_buffer", "receiver.receive_buffer"].map(String::from);
        names.into_iter().zip([send, receive]).collect()
    };
    assert_eq!(bounds(""), named(10_000_000, 14_000_000));
    assert_eq!(bounds("sndbuf = \"10kB\"\nrcvbuf = \"20kB\"\n"), named(5_020_000, 7_040_000));
}

/// A flow over a path with a narrow link, and the same seen from the other host.
fn seen_from(here: bool) -> Scenario {
    let narrow = r#"[{ kind = "link", name = "link", rate = "20Mbit", queue = { limit = "200kB" } }, { kind = "delay", name = "far", delay = "20ms" }]"#;
    let wide = r#"[{ kind = "delay", name = "home", delay = "20ms" }]"#;
    let (older, newer) = ("kernel = \"3.14\"\nhz = 1000", "kernel = \"6.12\"\nhz = 1000");
    let (direction, forward, back, sender, receiver) = match here {
        true => ("forward", narrow, wide, newer, older),
        false => ("backward", wide, narrow, older, newer),
    };
    let text = format!(
        "duration = \"4s\"\n[path]\nforward = {forward}\nback = {back}\n[hosts.sender]\n{sender}\n\
         [hosts.receiver]\n{receiver}\n[[flow]]\nname = \"bulk\"\nduration = \"4s\"\ndirection = \"{direction}\"\n"
    );
    load(&Source::text("seen.toml", &text), &[], &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_flow_that_goes_backward_is_held_back_by_the_way_that_its_data_goes() {
    let facts = [true, false].map(|here| {
        let scenario = seen_from(here);
        let plan = &scenario.plans()[0];
        let mut recording = Recording::default();
        let simulator = engine::find("sim").unwrap();
        simulator.run(&plan.resolved, &mut recording, &mut Until(Time::secs(10))).unwrap();
        let meta = RunMeta::from_plan(&scenario, plan, Made::default());
        let run = analysis::run(&meta, &recording);
        run.flows[0].clone()
    });
    let [there, back] = facts;
    assert!(!there.backward && back.backward);
    assert_eq!(there.kernel, "6.12");
    assert!(there.limits["link"] > 0.5 && there.time_to_full_rate_s.is_some(), "{there:?}");
    assert_eq!(there, analysis::document::Flow { backward: false, ..back });
}
