//! Twins of simulated connections: what sockets show gives back the scenario that made them.

use super::seen::{Seen, Settings};
use super::{Origin, Twin, of};
use crate::advice::trial::{Bench, ToTheEnd};
use crate::analysis::view::View;
use crate::analysis::{self, Made, RunMeta};
use crate::base::units::{Rate, Time};
use crate::engine::engines;
use crate::scenario::{Source, load};

/// A path of 50 Mb/s and 60 ms with these further keys of sender, receiver and flow.
fn scenario(queue: u32, keys: [&str; 3]) -> String {
    let [sender, receiver, flow] = keys;
    format!(
        "path = {{ rate = \"50Mbit\", delay = {{ forward = \"30ms\", back = \"30ms\" }}, queue = {{ limit = \"{queue} packets\" }} }}\n\
         [hosts]\nsender = {{ kernel = \"6.12\" {sender} }}\nreceiver = {{ kernel = \"6.12\" {receiver} }}\n\
         [[flow]]\nname = \"bulk\"\ncongestion = \"cubic\"\nduration = \"10s\"\n{flow}\n"
    )
}

fn bench() -> Bench<'static> {
    Bench { engine: engines()[0], jobs: 1, watch: &ToTheEnd }
}

/// A simulated run as its sending host sees it.
fn seen(text: &str, settings: Settings) -> Seen {
    let scenario = load(&Source::text("t.toml", text), &[], &[]).expect("a scenario");
    let plan = &scenario.plans()[0];
    let mut resolved = plan.resolved.clone();
    resolved.report.sample = Time::ms(100);
    let recording = bench().recorded(&resolved).expect("a run");
    let mut meta = RunMeta::from_plan(&scenario, plan, Made::default());
    meta.sample = Time::ms(100);
    let run = analysis::run_in(View::SenderSockets, &meta, &recording);
    let seen = Seen::recorded(&meta, &recording, &[0]).expect("data");
    let code = run.findings.first().map(|own| own.code.clone());
    let group = run.findings.first().map_or_else(String::new, |own| own.group.clone());
    let settings = Settings { kernel: "6.12".into(), ..settings };
    Seen { code, group, settings, ..seen }
}

/// The twin of a run, on a path of 50 Mb/s where it is said.
fn twin(seen: &Seen, said: bool) -> Twin {
    of(seen, said.then_some(Rate::mbit(50)), &bench()).expect("a twin")
}

fn value<'a>(twin: &'a Twin, key: &str) -> (&'a str, Origin) {
    let own = twin.values.iter().find(|own| own.key == key);
    let own = own.unwrap_or_else(|| panic!("no {key} in {:?}", twin.values));
    (own.value.as_deref().unwrap_or_default(), own.origin)
}

/// Whole numbers of a value.
fn numbers(text: &str) -> Vec<u64> {
    let digits = text.split(|letter: char| !letter.is_ascii_digit());
    digits.filter_map(|own| own.parse().ok()).collect()
}

#[test]
fn a_full_path_shows_its_rate_and_its_queue() {
    let own = twin(&seen(&scenario(250, ["", "", ""]), Settings::default()), false);
    assert!(own.stands, "{:?}", own.compared);
    let (rate, origin) = value(&own, "path.rate");
    assert_eq!(origin, Origin::Derived);
    let kbit = numbers(rate)[0];
    assert!((49_000..51_000).contains(&kbit), "{rate}");
    assert!(!own.assumes_rate);
}

#[test]
fn an_overflow_shows_how_long_the_queue_is() {
    // The queue overflows after some seconds.
    let text = scenario(120, ["", "", ""]).replace("\"10s\"", "\"30s\"");
    let own = seen(&text, Settings::default());
    assert!(!own.facts.loss.cuts.is_empty());
    let own = twin(&own, false);
    let (queue, origin) = value(&own, "path.queue");
    assert_eq!(origin, Origin::Derived, "{queue}");
    assert!((90..150).contains(&numbers(queue)[0]), "{queue}");
}

#[test]
fn a_small_window_shows_the_receive_buffer() {
    let keys = ["", ", sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 200000\" }", ""];
    let own = seen(&scenario(250, keys), Settings::default());
    assert_eq!(own.group, "window");
    let own = twin(&own, true);
    assert!(own.stands, "{:?}", own.compared);
    let (rmem, origin) = value(&own, "hosts.receiver.sysctl.\"net.ipv4.tcp_rmem\"");
    assert_eq!(origin, Origin::Derived);
    assert!((180_000..220_000).contains(&numbers(rmem)[2]), "{rmem}");
}

#[test]
fn a_small_send_buffer_is_that_of_the_host() {
    let keys = [", sysctl = { \"net.ipv4.tcp_wmem\" = \"4096 16384 150000\" }", "", ""];
    let settings = Settings { tcp_wmem: Some([4096, 16_384, 150_000]), ..Settings::default() };
    let own = seen(&scenario(250, keys), settings);
    assert_eq!(own.group, "send buffer");
    let own = twin(&own, true);
    assert!(own.stands, "{:?}", own.compared);
    let (wmem, _) = value(&own, "hosts.sender.sysctl.\"net.ipv4.tcp_wmem\"");
    assert!((135_000..165_000).contains(&numbers(wmem)[2]), "{wmem}");
}

#[test]
fn a_writer_and_a_reader_are_as_slow_as_they_were() {
    let writer = ["", "", "app = { kind = \"rate\", rate = \"5Mbit\" }"];
    let own = twin(&seen(&scenario(250, writer), Settings::default()), true);
    assert!(own.stands, "{:?}", own.compared);
    assert_eq!(value(&own, "flow.app").1, Origin::Derived);

    let reader = ["", "", "reader = { rate = \"5Mbit\" }"];
    let own = twin(&seen(&scenario(250, reader), Settings::default()), true);
    assert!(own.stands, "{:?}", own.compared);
    assert_eq!(value(&own, "flow.reader").1, Origin::Derived);
}

#[test]
fn a_rate_that_nothing_shows_is_called_assumed() {
    let writer = ["", "", "app = { kind = \"rate\", rate = \"5Mbit\" }"];
    let own = twin(&seen(&scenario(250, writer), Settings::default()), false);
    assert!(own.assumes_rate);
    assert_eq!(value(&own, "path.rate").1, Origin::Assumed);
    let said = twin(&seen(&scenario(250, writer), Settings::default()), true);
    assert_eq!(value(&said, "path.rate"), ("\"50Mbit\"", Origin::Given));
}

#[test]
fn a_twin_on_another_path_is_off() {
    let own = seen(&scenario(250, ["", "", ""]), Settings::default());
    let wrong = of(&own, Some(Rate::mbit(20)), &bench()).expect("a twin");
    assert!(!wrong.stands, "{:?}", wrong.compared);
}
