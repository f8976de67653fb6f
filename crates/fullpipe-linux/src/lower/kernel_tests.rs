//! Facts that scenarios know about real kernels, compared with the kernels themselves. Kernels that have not been built
//! are skipped; with FULLPIPE_REQUIRE_KERNEL they must be there.

use crate::kernel::{Cache, Family, Wanted};
use fullpipe_scenario::real_sysctl::REAL_SYSCTLS;
use fullpipe_scenario::{congestion, profile, sysctl};
use fullpipe_sim::cc::KernelVersion;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

/// Prints the kernel's facts, one word and its value per line, and halts.
const SCRIPT: &str = r#"
mount -t proc proc /proc; mount -t sysfs sysfs /sys
cd /proc/sys/net/ipv4; for f in tcp_*; do echo "sysctl net.ipv4.$f $(cat $f 2>&1)"; done
cd /proc/sys/net/core; for f in [rw]mem_max; do echo "sysctl net.core.$f $(cat $f)"; done
cd /sys/module; for f in tcp_*/parameters/*; do echo "parameter $f $(cat $f)"; done
"#;

/// sysctls that belong to no single host: of the whole kernel, lists, keys, and those that other keys of the scenario
/// set.
const OTHERS: [&str; 10] = [
    "tcp_allowed_congestion_control",
    "tcp_available_congestion_control",
    "tcp_available_ulp",
    "tcp_child_ehash_entries",
    "tcp_congestion_control",
    "tcp_ehash_entries",
    "tcp_fastopen_key",
    "tcp_low_latency",
    "tcp_max_orphans",
    "tcp_timestamps",
];

/// Lines that a kernel prints to a script, by kind and name; none if it has not been built.
fn said(family: Family, text: &str) -> Option<BTreeMap<(String, String), String>> {
    let wanted = Wanted { family, ..Wanted::default() };
    let entry = Cache::of_user().expect("a cache").find(&wanted);
    let Some(entry) = entry else {
        let required = std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_some();
        assert!(!required, "{wanted} has not been built");
        println!("skipped: {wanted} has not been built");
        return None;
    };
    let dir = tempfile::tempdir().expect("a directory");
    let words = ["mem=1G", "time-travel=inf-cpu", "root=none", "rootfstype=hostfs", "rootflags=/"];
    let mut command = Command::new(entry.kernel());
    command.args(words).args(["ro", "init=/bin/sh", "con=null", "con0=null,fd:1", "quiet"]);
    let script = dir.path().join("script");
    std::fs::write(&script, text).expect("written");
    command.arg(format!("uml_dir={}", dir.path().display())).args(["panic=-1", "--"]).arg(script);
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| {
        let mut words = line.trim().splitn(3, ' ').map(String::from);
        let key = (words.next()?, words.next()?);
        Some((key, words.next().unwrap_or_default().replace('\t', " ")))
    });
    Some(lines.collect())
}

fn of_kind<'a>(
    said: &'a BTreeMap<(String, String), String>,
    kind: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let of_it = said.iter().filter(move |((of, _), _)| of == kind);
    of_it.map(|((_, name), value)| (name.as_str(), value.as_str()))
}

#[test]
fn real_kernels_are_those_that_can_be_built() {
    let known: BTreeSet<&str> = profile::real_kernels().map(|kernel| kernel.name).collect();
    assert_eq!(known, Family::ALL.map(Family::name).into());
}

#[test]
fn sysctls_are_those_of_the_kernel_and_so_are_defaults() {
    for kernel in profile::real_kernels() {
        let Some(said) = said(kernel.name.parse().expect("a family"), SCRIPT) else { continue };
        let found: BTreeSet<&str> = of_kind(&said, "sysctl").map(|(name, _)| name).collect();
        let known: BTreeSet<&str> = sysctl::known(kernel.name).collect();
        let others = OTHERS.map(|name| format!("net.ipv4.{name}"));
        let missing: Vec<_> =
            found.difference(&known).filter(|n| others.iter().all(|o| o != *n)).collect();
        assert!(missing.is_empty(), "{}: not known: {missing:?}", kernel.name);
        let gone: Vec<_> = known.difference(&found).filter(|n| n.starts_with("net.ipv4")).collect();
        assert!(gone.is_empty(), "{}: not there: {gone:?}", kernel.name);
        for (name, value) in sysctl::written(&kernel.sysctl) {
            let value = value.to_string().replace('"', "");
            let of_kernel = of_kind(&said, "sysctl").find(|(of, _)| *of == name);
            assert!(
                of_kernel.is_none_or(|(_, of)| of == value),
                "{name}: {of_kernel:?}, not {value}"
            );
        }
    }
}

/// Prints whether the sysctl $1 takes the value $2 and has it then.
const TRY: &str = r#"
mount -t proc proc /proc; cd /proc/sys
try() {
    if (echo $2 > $1) 2>/dev/null && [ "$(cat $1)" = $2 ]; then echo "try $1=$2 taken"; else echo "try $1=$2 refused"; fi
}
"#;

/// Bounds that are wider than a kernel's: a stable release of 6.12 has lowered the greatest value to 31.
const WIDER: &str = "net.ipv4.tcp_tso_rtt_log";

/// Bounds of the sysctls that are one number, by name, and whether the kernel's own may be wider.
fn bounds(version: KernelVersion) -> Vec<(&'static str, (i64, i64), bool)> {
    let real = REAL_SYSCTLS.iter().filter(|known| known.is_in(version));
    let modelled = sysctl::SYSCTLS.iter().filter_map(|entry| {
        let bounds = match entry.field {
            sysctl::Field::Switch(_) => (0, 1),
            sysctl::Field::Level(_, min, max) | sysctl::Field::LevelIfSet(_, min, max) => {
                (min.into(), max.into())
            }
            sysctl::Field::SizeIfSet(_) => (0, u32::MAX.into()),
            sysctl::Field::Scale(_) => (-31, 31),
            _ => return None,
        };
        Some((entry.name, bounds, true))
    });
    // net.ipv4.tcp_reordering is bounded by tcp_max_reordering, which is tried behind it.
    modelled
        .chain(real.map(|known| (known.name, (known.bounds.min, known.bounds.max), false)))
        .collect()
}

/// Each kernel takes the least and the greatest value that a scenario may have. Of sysctls that only a kernel reads it
/// takes nothing beyond.
#[test]
fn bounds_of_sysctls_are_those_of_the_kernel() {
    for kernel in profile::real_kernels() {
        let bounds = bounds(KernelVersion::parse(kernel.name).expect("a version"));
        let mut script = TRY.to_string();
        let mut expected = BTreeMap::new();
        for (name, (least, most), may_be_wider) in bounds {
            let inside = [Some(least), Some(most).filter(|_| name != WIDER)];
            let outside =
                [least.checked_sub(1), most.checked_add(1)].map(|v| v.filter(|_| !may_be_wider));
            for (values, answer) in [(inside, "taken"), (outside, "refused")] {
                for value in values.into_iter().flatten() {
                    let path = name.replace('.', "/");
                    script += &format!("try {path} {value}\n");
                    expected.insert(format!("{path}={value}"), answer);
                }
            }
        }
        let Some(said) = said(kernel.name.parse().expect("a family"), &script) else { continue };
        let found: BTreeMap<&str, &str> = of_kind(&said, "try").collect();
        for (tried, answer) in &expected {
            assert_eq!(found.get(tried.as_str()), Some(answer), "Linux {}: {tried}", kernel.name);
        }
        assert!(expected.len() > 200, "{} values", expected.len());
    }
}

#[test]
fn parameters_of_modules_are_those_of_the_kernel_and_so_are_defaults() {
    let hidden = "illinois"; // Its parameters cannot be read (module_param with permission 0).
    for kernel in profile::real_kernels() {
        let Some(said) = said(kernel.name.parse().expect("a family"), SCRIPT) else { continue };
        let found: BTreeMap<String, String> = of_kind(&said, "parameter")
            .map(|(path, value)| {
                (path.replace("/parameters/", "."), value.replace('Y', "1").replace('N', "0"))
            })
            .collect();
        let known =
            congestion::of_real_kernels().into_iter().filter(|module| module.name != hidden);
        let known: BTreeMap<String, String> = known
            .flat_map(|module| {
                let defaults = congestion::defaults(&module, kernel.name).into_iter();
                defaults.map(move |(name, value)| {
                    (format!("tcp_{}.{name}", module.name), value.to_string())
                })
            })
            .collect();
        assert_eq!(found, known, "{}", kernel.name);
        let available =
            &said[&("sysctl".into(), "net.ipv4.tcp_available_congestion_control".into())];
        let available: BTreeSet<&str> = available.split(' ').collect();
        let modules = congestion::of_real_kernels();
        assert_eq!(available, modules.iter().map(|module| module.name).collect());
    }
}
