//! Advice on mounts behind a path that loses packets.

use crate::advice_method::advised;
use crate::field_advice::of_first_run;
use crate::headline::headline;
use crate::made::loaded;
use crate::programs_named::between;
use fullpipe::advice::method::{Allowance, Goal};
use fullpipe::advice::trial::{Bench, Outcome, Stopped, Watch};
use fullpipe::advice::{Case, Change, Scope, SoFar, advise};
use fullpipe::base::units::Time;
use fullpipe::engine::sim::Simulator;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file of 64 MiB over 500 Mb/s and 20 ms, of which both ways lose 0.2 %.
fn mount(operation: &str, nconnect: u32) -> String {
    format!(
        "duration = \"30s\"\n[path]\nrate = \"500Mbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\nloss = {{ forward = 2e-3, back = 2e-3 }}\n\
         [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
         [[nfs]]\nname = \"data\"\noperation = \"{operation}\"\nfile = \"64MiB\"\nnconnect = {nconnect}\nreadahead = \"16MiB\"\n"
    )
}

/// The host that sends the data: the server of a read.
#[test]
fn a_mount_gets_the_congestion_control_of_the_host_that_sends() {
    for (operation, host) in [("write", "sender"), ("read", "receiver")] {
        let advice = advised(&mount(operation, 4));
        let mut all = advice.changes.iter().map(|own| &own.change);
        let own = all.find(|own| own.setting == "net.ipv4.tcp_congestion_control");
        let own = own.unwrap_or_else(|| panic!("{}", advice.answer));
        assert_eq!([&own.whose[..], &own.advised], [host, "bbr"]);
        assert!(advice.advised.mbit > 2.0 * advice.today.mbit, "{}", advice.answer);

        // Connections that are done rest, and the file has the rate of all of them.
        let measured = headline(&mount(operation, 4)).rate_mbit.expect("a rate");
        assert!((0.7..1.02).contains(&(advice.today.mbit / measured)), "{}", advice.answer);
        assert!(advice.notes.iter().all(|own| !own.contains("0 % of its part")), "{advice:?}");
    }
}

/// A search that ends after its first trials.
#[test]
fn a_search_that_is_stopped_has_its_best_so_far() {
    struct Few {
        so_far: SoFar,
        steps: AtomicUsize,
    }
    impl Watch for Few {
        fn step(&self, _what: &str, _runs: usize, _lasts: Time) {
            self.steps.fetch_add(1, Ordering::SeqCst);
        }
        fn advance(&self, _span: Time) -> bool {
            self.steps.load(Ordering::SeqCst) <= 2
        }
        fn tried(&self, changes: &[Change], outcome: &Outcome) {
            self.so_far.tried(changes, outcome);
        }
    }
    let watch = Few { so_far: SoFar::default(), steps: AtomicUsize::new(0) };
    let scenario = loaded(&mount("write", 4));
    let case = Case::new(&scenario, &scenario.plans()[0]).expect("a case");
    let bench = Bench { engine: &Simulator, jobs: 2, watch: &watch };
    assert_eq!(watch.so_far.answer(), None);
    let stopped = advise(&case, &Allowance::default(), &bench);
    assert!(matches!(stopped, Err(Stopped::Interrupted)), "{stopped:?}");
    let answer = watch.so_far.answer().expect("an answer");
    let expected = "best so far: set tcp_congestion_control of sender to bbr: ";
    assert!(answer.starts_with("Stopped after ") && answer.contains(expected), "{answer}");

    // The document says the same, and that the search has no end.
    let own = watch.so_far.document(&case);
    assert!(own.partial && own.answer == answer, "{own:?}");
    assert_eq!(own.changes[0].setting, "net.ipv4.tcp_congestion_control");
    let [today, most] = [&own.today, &own.advised].map(|own| own.as_ref().expect("a result").mbit);
    assert!(own.tried > 1 && most > 1.02 * today, "{own:?}");
}

/// A verdict on losses proposes more connections, as advice does. The connections that are done first wait for the slowest.
#[test]
fn losses_of_a_mount_want_more_connections() {
    let with = |count: u32| {
        let nfs = format!(
            "[[nfs]]\nname = \"files\"\nversion = \"3\"\noperation = \"write\"\nfile = \"64MiB\"\nnconnect = {count}\n"
        );
        let path = "rate = \"1Gbit\"\ndelay = { forward = \"20ms\", back = \"20ms\" }\nloss = 1e-4";
        headline(&between(path, "", "", &nfs)).text
    };
    let one = with(1);
    assert!(one.contains("mount with nconnect=16") && !one.contains("parallel flows"), "{one}");
    let all = with(16);
    assert!(all.contains("Connections that end late") && !all.contains("longer file"), "{all}");
}

/// Linux gives a mount up to 16 connections. Fewer than today are no help.
#[test]
fn a_mount_gets_as_many_connections_as_linux_has() {
    let allowance = Allowance { scopes: vec![Scope::Application], goal: Goal::Rate };
    let advice = of_first_run(&loaded(&mount("write", 8)), &allowance);
    let own = &advice.changes[0].change;
    assert_eq!([&own.setting[..], &own.advised], ["nconnect", "16"], "{}", advice.answer);
    assert!(advice.steps.iter().all(|own| own.what != "also nconnect 4"), "{advice:?}");
}

/// Two threads that take 20 ms for each call of 64 KiB. By hand: 941 Mb/s are 1,795 calls a second, the work of 36 threads.
#[test]
fn a_server_gets_the_threads_that_its_path_can_use() {
    let text = "[path]\nrate = \"1Gbit\"\ndelay = { forward = \"200us\", back = \"200us\" }\n\
        [hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\n\
        [[nfs]]\nname = \"vm\"\nversion = \"3\"\noperation = \"read\"\nfile = \"64MiB\"\nthreads = 2\n\
        service = \"20ms\"\nrsize = \"64KiB\"\nreadahead = \"4MiB\"\n";
    let advice = advised(&format!("duration = \"30s\"\n{text}"));
    let own = advice.changes.iter().map(|own| &own.change);
    let own = own.map(|own| [&own.setting[..], &own.advised]).collect::<Vec<_>>();
    assert_eq!(own, [["nfsd threads", "36"]], "{}", advice.answer);
    assert!(advice.advised.mbit > 10.0 * advice.today.mbit, "{}", advice.answer);
}
