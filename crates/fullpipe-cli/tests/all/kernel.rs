//! `fullpipe kernel` without a kernel: programs of our own replace apt, xz and make.

use crate::common::{Call, Desk};
use crate::workshop;
use crate::workshop::{CONFIGURES, Workshop, hidden};
use fullpipe::engine::linux::kernel::Wanted;
use std::time::{Duration, Instant};

/// Name of the default kernel in the cache.
fn name() -> String {
    Wanted::default().name()
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what} does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_empty_cache_says_how_to_fill_it() {
    let shop = Workshop::new("false");
    let call = shop.call(&["kernel", "list"]).ends_with(0);
    assert!(call.stdout.contains("`fullpipe kernel build` builds one"), "{}", call.stdout);
    let list = shop.call(&["kernel", "list", "--json"]).ends_with(0).json();
    assert_eq!((&list["format"], &list["kernels"]), (&1.into(), &serde_json::json!([])));
    shop.call(&["kernel", "remove", "all"]).ends_with(0);
    shop.call(&["kernel", "remove", "6.12"]).ends_with(2).complains(&["no such kernel"]);
}

#[test]
fn errors_on_versions_and_hz_list_what_there_is() {
    let desk = Desk::new();
    desk.call(&["kernel", "build", "--version", "6.2"]).ends_with(2).complains(&["6.12, 6.1"]);
    desk.call(&["kernel", "build", "--hz", "999"]).ends_with(2).complains(&["100, 250, 300, 1000"]);
    desk.call(&["kernel", "remove", "5.4"]).ends_with(2).complains(&["6.12, 6.1"]);
}

#[test]
fn a_kernel_is_built_once_listed_and_removed() {
    let shop = Workshop::new("echo compiled; echo built >> $HOME/count; echo ELF > linux");
    let call = shop.call(&["kernel", "build"]).ends_with(0);
    let kernel = shop.desk.path("cache/kernels").join(name()).join("linux");
    assert_eq!(call.stdout.trim(), kernel.display().to_string());
    call.complains(&["unpacking", "configuring", "compiling", "removing", "is built: 6.12.9"]);
    assert_eq!(std::fs::read_to_string(&kernel).expect("a kernel"), "ELF\n");
    assert_eq!(shop.desk.names("cache/kernels"), [".lock".to_owned(), name()]);
    let again = shop.call(&["kernel", "build"]).ends_with(0).complains(&["is there already"]);
    assert_eq!(again.stdout.trim(), kernel.display().to_string());
    shop.call(&["kernel", "build", "--force", "--quiet"]).ends_with(0);
    assert_eq!(shop.desk.read("count"), "built\nbuilt\n");
    let list = shop.call(&["kernel", "list", "--json"]).ends_with(0).json();
    let built = &list["kernels"][0];
    assert_eq!((&built["version"], &built["hz"]), (&"6.12".into(), &1000.into()));
    assert_eq!((&built["current"], &built["damage"]), (&true.into(), &().into()));
    assert_eq!(
        (&built["built"]["source_version"], &built["built"]["bytes"]),
        (&"6.12.9".into(), &4.into())
    );
    let text = shop.call(&["kernel", "list"]).ends_with(0).stdout;
    assert!(text.contains("6.12.9") && text.contains(&kernel.display().to_string()), "{text}");
    shop.call(&["kernel", "remove", "6.12", "--hz", "250"]).ends_with(2);
    shop.call(&["kernel", "remove", "6.1"]).ends_with(2);
    shop.call(&["kernel", "remove", "6.12", "--hz", "1000"]).ends_with(0).complains(&["removed"]);
    assert_eq!(shop.desk.names("cache/kernels"), [".lock"]);
}

#[test]
fn hz_and_seed_are_in_what_is_compiled() {
    let shop = Workshop::new(
        "cat arch/um/Kconfig arch/um/os-Linux/util.c arch/um/kernel/time.c fullpipe.config; env; echo ELF > linux",
    );
    let mut command = shop.command(&["kernel", "build", "--hz", "250"]);
    command.env("KCFLAGS", "-O0").env("MAKEFLAGS", "--foreign");
    Call::of(command.output().expect("it starts")).ends_with(0);
    let list = shop.call(&["kernel", "list", "--json"]).json();
    let kernel = list["kernels"][0]["path"].as_str().expect("a path").to_owned();
    let log = std::fs::read_to_string(kernel.replace("/linux", "/build.log")).expect("a log");
    for part in
        ["default 250", "if (fullpipe_seeded(", "CONFIG_VETH=y", "KBUILD_BUILD_HOST=fullpipe"]
    {
        assert!(log.contains(part), "no {part} in {log}");
    }
    assert!(
        !log.contains("default 100")
            && !log.contains("delta += 1")
            && !log.contains("KCFLAGS")
            && !log.contains("--foreign")
    );
}

#[test]
fn without_tools_all_that_is_missing_is_named() {
    let shop = Workshop::new("false");
    let mut command = shop.command(&["kernel", "build"]);
    let call = Call::of(command.env("PATH", "/nonexistent").output().expect("it starts"));
    let line = "sudo apt-get install gcc binutils make flex bison bc xz-utils tar";
    call.ends_with(3).complains(&["without gcc, ld, make, flex", line]);
    assert!(!shop.desk.path("cache").exists());
}

#[test]
fn a_failed_build_shows_the_end_of_its_log_and_keeps_it() {
    let shop = Workshop::new("seq 100; echo 'net/x.c:1: error: broken'; exit 2");
    let call = shop.call(&["kernel", "build", "--quiet"]).ends_with(3);
    let log = format!("cache/kernels/{}.log", name());
    let call =
        call.complains(&["make failed (exit status: 2)", "    net/x.c:1: error: broken", &log]);
    assert!(call.stderr.contains("    100\n") && !call.stderr.contains("    80\n"));
    assert!(shop.desk.read(&log).contains("\n80\n"));
    assert!(hidden(&shop.desk).is_empty());
    shop.call(&["kernel", "list", "--json"]).ends_with(0).stdout.contains("\"kernels\": []");
}

#[test]
fn what_cannot_be_configured_or_changed_is_named() {
    let shop = Workshop::new("echo ELF > linux");
    shop.tool("make", "grep -v VETH fullpipe.config > .config");
    let call = shop.call(&["kernel", "build"]).ends_with(3);
    call.complains(&["CONFIG_VETH is n instead of y"]);
    shop.tool("make", &format!("{CONFIGURES}; sed -i 's/^CONFIG_HZ=.*/CONFIG_HZ=100/' .config"));
    let call = shop.call(&["kernel", "build"]).ends_with(3);
    call.complains(&["CONFIG_HZ is 100 instead of 1000"]);
    shop.source(&[("arch/um/Kconfig", "config HZ_OTHER\n\tdefault 1\n")]);
    let call = shop.call(&["kernel", "build"]).ends_with(3);
    call.complains(&["arch/um/Kconfig: has no \"config HZ\""]);
}

/// A process that the build of a workshop has started and named in the file `sleeper`; ended with the test.
struct Sleeper(String);

impl Sleeper {
    /// Waits for it.
    fn of(shop: &Workshop) -> Sleeper {
        wait_for("compiling", || {
            shop.desk.path("sleeper").exists() && shop.desk.read("sleeper").ends_with('\n')
        });
        let sleeper = Sleeper(shop.desk.read("sleeper").trim().to_owned());
        wait_for("its sleep", || sleeper.lives());
        sleeper
    }

    fn lives(&self) -> bool {
        let line = std::fs::read(format!("/proc/{}/cmdline", self.0));
        line.is_ok_and(|line| line.starts_with(b"sleep\x001000"))
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if self.lives() {
            workshop::signal(self.0.parse().expect("a process"), "KILL");
        }
    }
}

/// Also a child that its parent does not end: it is of the same group.
#[test]
fn an_interrupted_build_ends_its_children_and_leaves_nothing() {
    let shop = Workshop::new("sleep 1000 & echo $! > $HOME/sleeper; wait");
    let child = shop.start(&["kernel", "build"]);
    let sleeper = Sleeper::of(&shop);
    workshop::signal(child.id(), "INT");
    Call::wait(child).ends_with(130).complains(&["stopping and removing"]);
    wait_for("the end of its children", || !sleeper.lives());
    assert!(hidden(&shop.desk).is_empty());
}

/// `make` ends its own children when a signal ends it.
#[test]
fn a_killed_build_ends_its_children_and_the_next_one_sweeps() {
    let shop =
        Workshop::new("trap 'kill $!; exit 1' TERM; sleep 1000 & echo $! > $HOME/sleeper; wait");
    let mut child = shop.start(&["kernel", "build"]);
    let sleeper = Sleeper::of(&shop);
    workshop::signal(child.id(), "KILL");
    assert_eq!(child.wait().expect("it ends").code(), None);
    wait_for("the end of its children", || !sleeper.lives());
    assert_eq!(hidden(&shop.desk).len(), 1);
    shop.tool("make", CONFIGURES);
    // Without `linux` the next build fails, after it has swept.
    shop.call(&["kernel", "build"]).ends_with(3).complains(&["linux: was not built"]);
    assert!(hidden(&shop.desk).is_empty());
}

#[test]
fn a_second_build_waits_and_takes_what_the_first_made() {
    let shop = Workshop::new(
        "touch $HOME/begun; while [ ! -e $HOME/go ]; do sleep 0.05; done; \
        echo x >> $HOME/count; echo ELF > linux",
    );
    let first = shop.start(&["kernel", "build"]);
    wait_for("compiling", || shop.desk.path("begun").exists());
    let said = format!("waiting for another build in this cache (process {})", first.id());
    let mut command = shop.command(&["kernel", "build"]);
    let file = std::fs::File::create(shop.desk.path("second")).expect("a file");
    let second =
        command.stderr(file).stdout(std::process::Stdio::null()).spawn().expect("it starts");
    wait_for("waiting", || shop.desk.read("second").contains(&said));
    shop.desk.write("go", "");
    Call::wait(first).ends_with(0).complains(&["is built"]);
    Call::wait(second).ends_with(0);
    assert!(shop.desk.read("second").contains("is there already"));
    assert_eq!(shop.desk.read("count"), "x\n");
}
