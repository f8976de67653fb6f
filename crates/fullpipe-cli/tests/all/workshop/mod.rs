//! A cache, and programs that replace those of a kernel's build.

use crate::common::{Call, Desk};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

/// A `make` that grants every option, has the HZ of the source, and compiles nothing.
pub const CONFIGURES: &str = "{ grep -v '=n$' fullpipe.config; \
    sed -n '/^config HZ$/,/default/s/.*default /CONFIG_HZ=/p' arch/um/Kconfig; } > .config";

const KCONFIG: &str = "config HZ\n\tint\n\tdefault 100\n";
const UTIL: &str = "ssize_t os_getrandom(void *buf, size_t len, int any)\n{\n\treturn 0;\n}\n";
const CLOCK: &str = "#define TIMER_MULTIPLIER 256\n#define TIMER_MIN_DELTA 500\n";
const TIME: &str = "static int itimer_next_event(int delta)\n{\n\tdelta += 1;\n}\n\n\
    static u64 timer_read(void)\n{\n\ttime_travel_update_time_rel(1);\n}\n";
const REGISTERS: &str = "int restore_fp_registers(int pid)\n{\n\t\
    if (ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &iov) < 0)\n\t\treturn 1;\n}\n";
const MAKEFILE: &str = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 9\nEXTRAVERSION =\n";

/// A directory with a cache, programs, and a source of few files.
pub struct Workshop {
    pub desk: Desk,
}

impl Workshop {
    /// `compile` replaces `make linux`; it is a command for a shell.
    pub fn new(compile: &str) -> Workshop {
        let shop = Workshop { desk: Desk::new() };
        std::fs::create_dir(shop.desk.path("bin")).expect("a directory");
        for tool in ["flex", "bison", "bc", "dpkg-query"] {
            shop.tool(tool, "true");
        }
        shop.tool("apt-get", "touch linux-source-6.12_6.12.9-1_all.deb");
        // The archive in a package, and the output of xz for any archive.
        shop.tool(
            "dpkg-deb",
            "case $1 in --fsys-tarfile) cat $HOME/package.tar;; *) echo 6.12.9-1;; esac",
        );
        shop.tool("xz", "[ -e \"$4\" ] || cat > /dev/null; cat $HOME/source.tar");
        shop.tool(
            "make",
            &format!("case \"$*\" in *allnoconfig) {CONFIGURES};; *) {compile};; esac"),
        );
        shop.source(&[]);
        shop.pack("package.tar", "package", &[("usr/src/linux-source-6.12.tar.xz", "packed")]);
        shop
    }

    /// Puts a program on the path.
    pub fn tool(&self, name: &str, script: &str) {
        let file = self.desk.path("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Makes the source, with these files instead of its own.
    pub fn source(&self, other: &[(&str, &str)]) {
        let own = [
            ("Makefile", MAKEFILE),
            ("arch/um/Kconfig", KCONFIG),
            ("arch/um/os-Linux/util.c", UTIL),
            ("arch/um/include/linux/time-internal.h", CLOCK),
            ("arch/um/kernel/time.c", TIME),
            ("arch/x86/um/os-Linux/registers.c", REGISTERS),
        ];
        let files: Vec<(String, &str)> = own
            .iter()
            .chain(other)
            .map(|(file, text)| (format!("linux-source-6.12/{file}"), *text))
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (&**file, *text)).collect();
        self.pack("source.tar", "tree", &files);
    }

    fn pack(&self, archive: &str, directory: &str, files: &[(&str, &str)]) {
        for (file, text) in files {
            let path = self.desk.path(directory).join(file);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
            std::fs::write(path, text).expect("a file");
        }
        let mut tar = Command::new("tar");
        tar.arg("--create").arg("--file").arg(self.desk.path(archive));
        // dpkg's names begin with "./", the kernel's do not.
        let inside = if archive == "package.tar" { "." } else { "linux-source-6.12" };
        let status = tar.arg("--directory").arg(self.desk.path(directory)).arg(inside).status();
        assert!(status.expect("tar").success());
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.desk.command(arguments);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.desk.path("bin").display()));
        command.env("HOME", self.desk.path("")).env("FULLPIPE_CACHE", self.desk.path("cache"));
        command
    }

    pub fn call(&self, arguments: &[&str]) -> Call {
        Call::of(self.command(arguments).output().expect("the program starts"))
    }

    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }
}

/// Unfinished kernels in the cache.
pub fn hidden(desk: &Desk) -> Vec<String> {
    desk.names("cache/kernels").into_iter().filter(|name| name.ends_with(".tmp")).collect()
}

pub fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(status.expect("kill").success());
}
