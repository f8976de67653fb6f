//! The changes to the user's copy of the source: HZ, random numbers from a seed, the steps of the clock, and registers.
//!
//! `arch/um` has a constant HZ of 100, asks the host for random numbers, and has a clock in steps of 256 ns. Each
//! reading of the clock takes a step, so that loops which wait for a time end. At 25 Gb/s a step is longer than a
//! packet takes. A timer fires 500 ns after it was set at the earliest, so the second of two packets that are to leave
//! within that time is late. Each timer also fires a nanosecond after it is due. The change lets a reading take no time
//! (nothing in the guest waits in a loop), and lets timers fire when they are due. On CPUs with AMX the host refuses
//! the register set, which is too short for it: `pad.c` makes it longer. Each change finds its place by as little of
//! the source as identifies it.

use super::{Error, Hz};
use std::fs;
use std::path::Path;

/// Our function that fills a buffer from the seed.
pub(super) const SEED: &str = include_str!("seed.c");
/// The call of it, as the first statement of `os_getrandom`.
pub(super) const CALL: &str = "\tif (fullpipe_seeded(buf, len))\n\t\treturn len;\n";

/// Our function that pads the register set.
pub(super) const PAD: &str = include_str!("pad.c");
/// The statement of `restore_fp_registers` that calls it.
pub(super) const PAD_CALL: &str = "fullpipe_pad(&iov);\n\t\t";

/// The clock's steps, and the least time for which a timer is set, ns.
pub(super) const STEP: &str = "1";
pub(super) const SOONEST: &str = "1";

const HZ_FILE: &str = "arch/um/Kconfig";
const SEED_FILE: &str = "arch/um/os-Linux/util.c";
const TIME_FILE: &str = "arch/um/kernel/time.c";
const CLOCK_FILE: &str = "arch/um/include/linux/time-internal.h";
const REGISTERS_FILE: &str = "arch/x86/um/os-Linux/registers.c";
const HZ_PLACE: &str = "config HZ";
const SEED_PLACE: &str = "ssize_t os_getrandom(void *buf, size_t len,";
/// The function that gives the host the register set, and where it does.
const REGISTERS_PLACE: [&str; 2] =
    ["int restore_fp_registers(", "if (ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE,"];

const CLOCK_PLACE: &str = "#define TIMER_MULTIPLIER 256\n";
const TIMER_PLACE: &str = "#define TIMER_MIN_DELTA";
/// A function and a statement of it, from its first word on, which is taken out.
pub(super) const LOOK: [&str; 2] = ["static u64 timer_read(", "time_travel_update_time_rel("];
pub(super) const LATE: [&str; 2] = ["static int itimer_next_event(", "delta += 1"];

/// Makes all changes below `source`.
///
/// # Errors
/// A file cannot be read or written, or has no such place; names the file and the place.
pub fn change(source: &Path, hz: Hz) -> Result<(), Error> {
    edit(source, HZ_FILE, HZ_PLACE, |text| with_hz(text, hz))?;
    edit(source, SEED_FILE, SEED_PLACE, with_seed)?;
    edit(source, REGISTERS_FILE, REGISTERS_PLACE[0], with_padded_registers)?;
    edit(source, CLOCK_FILE, CLOCK_PLACE, with_fine_clock)?;
    edit(source, CLOCK_FILE, TIMER_PLACE, with_exact_timers)?;
    edit(source, TIME_FILE, LOOK[0], |text| without(text, LOOK))?;
    edit(source, TIME_FILE, LATE[0], |text| without(text, LATE))
}

fn edit(
    source: &Path,
    file: &str,
    place: &str,
    change: impl Fn(&str) -> Option<String>,
) -> Result<(), Error> {
    let path = source.join(file);
    let failed = |e: std::io::Error| Error::at(&path, format!("cannot be changed: {e}"));
    let text = fs::read_to_string(&path).map_err(failed)?;
    let changed = change(&text).ok_or_else(|| {
        Error::at(&path, format!("has no {place:?} where fullpipe changes something"))
            .hint("build another version, or report this with the version of the source package")
    })?;
    fs::write(&path, changed).map_err(failed)
}

/// The text with this default of HZ; none if there is no such option.
fn with_hz(text: &str, hz: Hz) -> Option<String> {
    let mut inside = false;
    let mut changed = false;
    let lines = text.lines().map(|line| {
        // Indented lines belong to the option above them; the first default of HZ's option counts.
        match line.starts_with([' ', '\t']) {
            _ if line.trim().is_empty() => {}
            true if inside && !changed && line.trim_start().starts_with("default ") => {
                changed = true;
                return format!("\tdefault {hz}\n");
            }
            true => {}
            false => inside = line.trim_end() == HZ_PLACE,
        }
        format!("{line}\n")
    });
    let text = lines.collect();
    changed.then_some(text)
}

/// The text with random numbers from the seed; none if there is no such function.
fn with_seed(text: &str) -> Option<String> {
    let start = text.find(SEED_PLACE)?;
    let (before, function) = text.split_at(start);
    let (head, body) = function.split_once("\n{\n")?;
    // The brace must be this function's.
    let own = !head.contains(['{', ';', '}']);
    own.then(|| format!("{before}{SEED}{head}\n{{\n{CALL}{body}"))
}

/// Has the host get a register set that is long enough for it; none if there is no such call.
fn with_padded_registers(text: &str) -> Option<String> {
    let [function, call] = REGISTERS_PLACE;
    let start = text.find(function)?;
    let end = start + text[start..].find("\n}\n")?;
    let at = start + text[start..end].find(call)?;
    Some([&text[..start], PAD, &text[start..at], PAD_CALL, &text[at..]].concat())
}

/// The text with the clock in steps of [`STEP`]; none if there is no such constant.
fn with_fine_clock(text: &str) -> Option<String> {
    let (before, after) = text.split_once(CLOCK_PLACE)?;
    Some(format!("{before}#define TIMER_MULTIPLIER {STEP}\n{after}"))
}

/// The text with timers that fire when they are due; none if there is no such constant.
fn with_exact_timers(text: &str) -> Option<String> {
    let (before, after) = text.split_once(TIMER_PLACE)?;
    let (value, after) = after.split_once('\n')?;
    value.trim().parse::<u32>().ok()?;
    Some(format!("{before}{TIMER_PLACE} {SOONEST}\n{after}"))
}

/// The text without the statement in the function; none if the statement is not there.
fn without(text: &str, [function, statement]: [&str; 2]) -> Option<String> {
    let start = text.find(function)?;
    let end = start + text[start..].find("\n}\n")?;
    let at = start + text[start..end].find(statement)?;
    let rest = text[at..end].find(';')?;
    Some([&text[..at], &text[at + rest..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &str = "config NOISE\n\tint\n\tdefault 7\n\nconfig HZ\n\tint\n\tdefault 100\n\n\
        config HZ_OTHER\n\tint\n\tdefault 8\n";
    const CLOCK_LINES: &str = "#define A 1\n#define TIMER_MULTIPLIER 256\n#define B 2\n";
    const FUNCTIONS: &str = "int first(void)\n{\n\treturn 1;\n}\n\n\
        ssize_t os_getrandom(void *buf, size_t len, int any)\n{\n\treturn ask(buf);\n}\n";

    fn hz(number: &str) -> Hz {
        number.parse().expect("an HZ")
    }

    #[test]
    fn hz_alone_changes() {
        let changed = with_hz(OPTIONS, hz("250")).expect("a place");
        assert_eq!(changed, OPTIONS.replace("default 100", "default 250"));
    }

    #[test]
    fn without_hz_there_is_no_place() {
        assert_eq!(with_hz("config HZ_OTHER\n\tdefault 8\n", hz("250")), None);
        assert_eq!(with_hz("config HZ\n\tint\nconfig NOISE\n\tdefault 7\n", hz("250")), None);
    }

    #[test]
    fn the_seed_is_asked_first() {
        let changed = with_seed(FUNCTIONS).expect("a place");
        let function = changed.split_once(SEED).expect("our function before it");
        assert_eq!(function.0, "int first(void)\n{\n\treturn 1;\n}\n\n");
        let expected = format!(
            "ssize_t os_getrandom(void *buf, size_t len, int any)\n{{\n{CALL}\treturn ask(buf);\n}}\n"
        );
        assert_eq!(function.1, expected);
    }

    #[test]
    fn a_declaration_is_no_place() {
        let declared =
            "ssize_t os_getrandom(void *buf, size_t len, int any);\nint other(void)\n{\n}\n";
        assert_eq!(with_seed(declared), None);
        assert_eq!(with_seed("int other(void)\n{\n}\n"), None);
    }

    #[test]
    fn a_look_at_the_clock_takes_no_time_and_timers_come_when_they_are_due() {
        let text = "static int itimer_next_event(int delta)\n{\n\tdelta += 1;\n\treturn delta;\n}\n\n\
            static u64 timer_read(void)\n{\n\tif (free())\n\t\ttime_travel_update_time_rel(1);\n\treturn 2;\n}\n";
        let changed = without(text, LOOK).and_then(|text| without(&text, LATE));
        let expected = "static int itimer_next_event(int delta)\n{\n\t;\n\treturn delta;\n}\n\n\
            static u64 timer_read(void)\n{\n\tif (free())\n\t\t;\n\treturn 2;\n}\n";
        assert_eq!(changed.as_deref(), Some(expected));
        let elsewhere = "static u64 timer_read(void)\n{\n}\n\nvoid sleep(void)\n{\n\ttime_travel_update_time_rel(2);\n}\n";
        assert_eq!(without(elsewhere, LOOK), None);
    }

    const REGISTERS: &str = "int save_fp_registers(int pid)\n{\n\treturn 0;\n}\n\n\
        int restore_fp_registers(int pid)\n{\n\tif (have) {\n\t\t\
        if (ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &iov) < 0)\n\t\t\treturn 1;\n\t}\n\treturn 0;\n}\n";

    #[test]
    fn registers_are_padded_where_the_host_gets_them() {
        let changed = with_padded_registers(REGISTERS).expect("a place");
        let function = changed.split_once(PAD).expect("our function before it");
        assert!(function.0.ends_with("return 0;\n}\n\n"), "{}", function.0);
        let call = "if (have) {\n\t\tfullpipe_pad(&iov);\n\t\tif (ptrace(PTRACE_SETREGSET,";
        assert!(function.1.contains(call), "{}", function.1);
        let elsewhere = REGISTERS.replace("restore_fp", "restore_fpx");
        assert_eq!(with_padded_registers(&elsewhere), None);
    }

    /// A file of the source, a text without the place, the place, and a text with it.
    type Place<'a> = (&'a str, &'a str, &'a str, &'a str);

    #[test]
    fn what_is_missing_is_named_with_its_file() {
        let source = tempfile::tempdir().expect("a directory");
        let ([look, step], [late, more]) = (LOOK, LATE);
        let clock = format!("{CLOCK_LINES}#define TIMER_MIN_DELTA  500\n#define C 3\n");
        let time = format!("{look})\n{{\n\t{step}1);\n}}\n{late})\n{{\n\t{more};\n}}\n");
        let places: [Place; 6] = [
            (HZ_FILE, "config NOISE\n", HZ_PLACE, OPTIONS),
            (SEED_FILE, "int other(void);\n", SEED_PLACE, FUNCTIONS),
            (REGISTERS_FILE, "int other(void);\n", REGISTERS_PLACE[0], REGISTERS),
            (CLOCK_FILE, "#define TIMER_MULTIPLIER 25\n", CLOCK_PLACE.trim_end(), &clock),
            (CLOCK_FILE, CLOCK_LINES, TIMER_PLACE, &clock),
            (TIME_FILE, "int other(void);\n", look, &time),
        ];

        for (at, (file, wrong, place, _)) in places.into_iter().enumerate() {
            // Each change starts from an untouched tree.
            let path = source.path().join(file);
            fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
            let failure = || change(source.path(), hz("250")).expect_err("no place").to_string();
            for (file, .., right) in &places[..at] {
                fs::write(source.path().join(file), right).expect("a file");
            }
            if !path.exists() {
                let failure = failure();
                assert!(failure.contains(&format!("{file}: cannot be changed")), "{failure}");
            }
            for (file, .., right) in &places[..at] {
                fs::write(source.path().join(file), right).expect("a file");
            }
            fs::write(&path, wrong).expect("a file");
            let failure = failure();
            let name = path.file_name().expect("a name").display().to_string();
            let named = failure.contains(&format!("{name}: has no "));
            assert!(named && failure.contains(place), "{failure}");
        }
        for (file, .., right) in &places {
            fs::write(source.path().join(file), right).expect("a file");
        }
        assert_eq!(change(source.path(), hz("250")), Ok(()));
        let written = |file| fs::read_to_string(source.path().join(file)).expect("a file");
        let expected = "#define A 1\n#define TIMER_MULTIPLIER 1\n#define B 2\n\
                        #define TIMER_MIN_DELTA 1\n#define C 3\n";
        assert_eq!(written(CLOCK_FILE), expected);
        assert_eq!(Some(written(SEED_FILE)), with_seed(FUNCTIONS));
        assert_eq!(Some(written(REGISTERS_FILE)), with_padded_registers(REGISTERS));
    }

    /// Compiles the pad with a caller, gives it an area as the kernel keeps it, and looks at the result for the host.
    #[test]
    fn the_pad_keeps_all_but_what_lies_beyond() {
        let directory = tempfile::tempdir().expect("a directory");
        let (source, program) = (directory.path().join("pad.c"), directory.path().join("pad"));
        fs::write(&source, format!("#include <sys/uio.h>\n{PAD}{CALLER}")).expect("a file");
        let mut compiler = std::process::Command::new("cc");
        let compiled = compiler.args(["-Wall", "-Werror", "-o"]).arg(&program).arg(&source);
        assert!(compiled.status().expect("a C compiler").success());
        let status = std::process::Command::new(&program).status().expect("it starts");
        assert_eq!(status.code(), Some(0), "the number of the failed check");
    }

    /// All parts are marked as used: 17, 18 and those from 20 on lie beyond 2,696 bytes.
    const CALLER: &str = r#"
        static unsigned char kept[2696];

        int main(void)
        {
            struct iovec area = { kept, sizeof(kept) };
            unsigned char *given;
            size_t i;

            for (i = 0; i < sizeof(kept); i++)
                kept[i] = i % 251 + 1;
            memset(kept + 512, 0xff, 8);
            fullpipe_pad(&area);
            given = area.iov_base;
            if (area.iov_len < 11008)
                return 1;
            for (i = 0; i < sizeof(kept); i++)
                if ((i < 512 || i > 519) && given[i] != kept[i])
                    return 2;
            for (i = sizeof(kept); i < area.iov_len; i++)
                if (given[i])
                    return 3;
            if (given[512] != 0xff || given[513] != 0xff || given[514] != 0x09)
                return 4;
            for (i = 515; i < 520; i++)
                if (given[i])
                    return 5;
            return 0;
        }
    "#;
}
