//! How the system gives this process memory: in large pages or not, from which nodes of a machine with several memories.
//!
//! Both must be settled before the first allocation, so a process that is asked for something else than it has starts itself
//! again: with the allocator's own switches in its environment, and below `numactl`. What it starts has the same. That large pages
//! are forbidden is remembered by the system too, from process to process, and is taken back there.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::{Args, ValueEnum};
use rustix::thread::{disable_transparent_huge_pages, transparent_huge_pages_are_disabled};

use crate::failure::Failure;

/// Options about memory that all commands have.
#[derive(Debug, Clone, Copy, Args)]
pub struct MemoryArgs {
    /// Pages that memory comes in; as in the process that starts this one, or on, if it is not given. Large ones cost fewer
    /// look-ups of addresses, and more to clear when they are first touched; measure with `daggerboard stress`
    #[arg(long, value_enum, value_name = "WHICH", global = true, display_order = super::cli::FOR_ALL)]
    huge_pages: Option<HugePages>,
    /// Where memory lies in a machine with several memories; as in the process that starts this one, or local, if it is not
    /// given. `numactl` must be installed to change it
    #[arg(long, value_enum, value_name = "WHERE", global = true, display_order = super::cli::FOR_ALL)]
    numa: Option<Numa>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HugePages {
    /// Where the system has some to spare (transparent huge pages)
    On,
    /// Never
    Off,
    /// From those that were set aside for it (vm.nr_hugepages), and otherwise as with on
    Reserved,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Numa {
    /// Near the thread that touches it first
    Local,
    /// On all nodes in turn, so that no node's memory is the limit for the threads of all
    Interleave,
}

/// The allocator's switches (mimalloc), and what they are set to where they are not left alone.
const ALLOW_LARGE: (&str, &str) = ("MIMALLOC_ALLOW_THP", "0");
const USE_RESERVED: (&str, &str) = ("MIMALLOC_ALLOW_LARGE_OS_PAGES", "1");

/// Tells what is started below `numactl` that it is, for the system does not.
const INTERLEAVED: (&str, &str) = ("DAGGERBOARD_NUMA", "interleave");

impl HugePages {
    /// What the environment, given by `var`, says.
    fn of_environment(var: impl Fn(&str) -> Option<OsString>) -> HugePages {
        let is_set = |(name, value): (&str, &str)| var(name).as_deref() == Some(OsStr::new(value));
        match (is_set(ALLOW_LARGE), is_set(USE_RESERVED)) {
            (true, _) => HugePages::Off,
            (false, true) => HugePages::Reserved,
            (false, false) => HugePages::On,
        }
    }
}

impl Numa {
    /// The same.
    fn of_environment(var: impl Fn(&str) -> Option<OsString>) -> Numa {
        let (name, value) = INTERLEAVED;
        if var(name).as_deref() == Some(OsStr::new(value)) { Numa::Interleave } else { Numa::Local }
    }
}

impl MemoryArgs {
    /// Starts the process again if it is to have other memory than it has; then it does not come back.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn settle(self) -> Result<(), Failure> {
        let program = env::current_exe().map_err(|error| Failure::work(error).context("this program"))?;
        let args = env::args_os().skip(1);
        if matches!(self.huge_pages, Some(HugePages::On | HugePages::Reserved)) {
            allow_huge_pages()?;
        }
        let Some(mut command) = self.command(program.into(), args, |name| env::var_os(name)) else {
            return Ok(());
        };
        let is_below_numactl = command.get_program() == NUMACTL;
        let error = command.exec();
        Err(if is_below_numactl && error.kind() == ErrorKind::NotFound {
            Failure::work("--numa needs numactl, which is not there")
                .hint("install the package numactl: apt-get install numactl")
        } else {
            Failure::work(error).context("this program could not be started again")
        })
    }

    /// What is started instead; none if everything may stay as it is.
    fn command(
        self,
        program: OsString,
        args: impl Iterator<Item = OsString>,
        var: impl Fn(&str) -> Option<OsString>,
    ) -> Option<Command> {
        let (pages, numa) = (HugePages::of_environment(&var), Numa::of_environment(&var));
        let wanted = (self.huge_pages.unwrap_or(pages), self.numa.unwrap_or(numa));
        if wanted == (pages, numa) {
            return None;
        }
        let mut command = match wanted.1 {
            same if same == numa => Command::new(program),
            Numa::Local => below_numactl("--localalloc", program),
            Numa::Interleave => below_numactl("--interleave=all", program),
        };
        command.args(args);
        command.env_remove(ALLOW_LARGE.0).env_remove(USE_RESERVED.0).env_remove(INTERLEAVED.0);
        command.envs(match wanted.0 {
            HugePages::On => None,
            HugePages::Off => Some(ALLOW_LARGE),
            HugePages::Reserved => Some(USE_RESERVED),
        });
        command.envs((wanted.1 == Numa::Interleave).then_some(INTERLEAVED));
        Some(command)
    }
}

/// Takes back what the allocator of this process, or one that started it, has told the system: what is started inherits it
/// (prctl(2), `PR_SET_THP_DISABLE`).
fn allow_huge_pages() -> Result<(), Failure> {
    // A system that does not tell has not been told either.
    if !transparent_huge_pages_are_disabled().unwrap_or(false) {
        return Ok(());
    }
    let allowed = disable_transparent_huge_pages(false);
    allowed.map_err(|error| Failure::work(error).context("huge pages could not be allowed again"))
}

const NUMACTL: &str = "numactl";

fn below_numactl(policy: &str, program: OsString) -> Command {
    let mut command = Command::new(NUMACTL);
    command.arg(policy).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is started by a process with this environment, and what is set and taken away there.
    fn command(args: MemoryArgs, environment: &[(&str, &str)]) -> Option<(String, Vec<String>)> {
        let var = |name: &str| {
            let found = environment.iter().find(|(held, _)| *held == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let command =
            args.command("daggerboard".into(), ["search", "nim"].map(OsString::from).into_iter(), var)?;
        let text = |text: &OsStr| text.to_string_lossy().into_owned();
        let words = std::iter::once(command.get_program()).chain(command.get_args()).map(text);
        let set =
            command.get_envs().filter_map(|(name, value)| Some(format!("{}={}", text(name), text(value?))));
        Some((words.collect::<Vec<_>>().join(" "), set.collect()))
    }

    fn args(huge_pages: Option<HugePages>, numa: Option<Numa>) -> MemoryArgs {
        MemoryArgs { huge_pages, numa }
    }

    #[test]
    fn a_process_is_started_again_only_for_other_memory_than_it_has() {
        let off = [ALLOW_LARGE];
        for (asked, environment) in [
            (args(None, None), &[][..]),
            (args(Some(HugePages::On), Some(Numa::Local)), &[]),
            (args(None, None), &off),
            (args(Some(HugePages::Off), None), &off),
            (args(Some(HugePages::Reserved), Some(Numa::Interleave)), &[USE_RESERVED, INTERLEAVED]),
        ] {
            assert_eq!(command(asked, environment), None, "{asked:?} in {environment:?}");
        }
        let again = ("daggerboard search nim".to_owned(), vec!["MIMALLOC_ALLOW_THP=0".to_owned()]);
        assert_eq!(command(args(Some(HugePages::Off), None), &[]), Some(again.clone()));
        assert_eq!(command(args(Some(HugePages::Off), None), &[USE_RESERVED]), Some(again));
        let back = command(args(Some(HugePages::On), None), &off);
        assert_eq!(back, Some(("daggerboard search nim".to_owned(), Vec::new())));
    }

    #[test]
    fn huge_pages_that_were_forbidden_are_allowed_again() {
        let is_told = disable_transparent_huge_pages(true).is_ok();
        assert_eq!(transparent_huge_pages_are_disabled().unwrap_or(false), is_told);
        allow_huge_pages().unwrap();
        assert!(!transparent_huge_pages_are_disabled().unwrap_or(false));
    }

    #[test]
    fn other_places_are_had_below_numactl() {
        let set = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let spread = command(args(Some(HugePages::Reserved), Some(Numa::Interleave)), &[]);
        let words = "numactl --interleave=all daggerboard search nim".to_owned();
        let all = set(&["DAGGERBOARD_NUMA=interleave", "MIMALLOC_ALLOW_LARGE_OS_PAGES=1"]);
        assert_eq!(spread, Some((words, all)));
        let local = command(args(None, Some(Numa::Local)), &[INTERLEAVED, ALLOW_LARGE]);
        let words = "numactl --localalloc daggerboard search nim".to_owned();
        assert_eq!(local, Some((words, set(&["MIMALLOC_ALLOW_THP=0"]))));
        // What is interleaved stays so when only the pages change.
        let pages = command(args(Some(HugePages::Off), None), &[INTERLEAVED]);
        let kept = set(&["DAGGERBOARD_NUMA=interleave", "MIMALLOC_ALLOW_THP=0"]);
        assert_eq!(pages, Some(("daggerboard search nim".to_owned(), kept)));
    }
}
