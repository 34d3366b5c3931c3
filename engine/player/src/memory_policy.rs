//! How the system gives this process memory: in large pages or not, from which nodes of a machine with several memories.
//!
//! Both must be settled before the first allocation, so a process that is asked for something else starts itself again: with the
//! allocator's own switch in its environment, and below `numactl`.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::failure::Failure;

/// Options about memory that all commands have.
#[derive(Debug, Clone, Copy, Args)]
pub struct MemoryArgs {
    /// Pages that memory comes in. Large ones cost fewer look-ups of addresses, and more to clear when they are first touched;
    /// measure with `daggerboard stress`
    #[arg(long, value_enum, default_value_t, value_name = "WHICH", global = true, display_order = super::cli::FOR_ALL)]
    huge_pages: HugePages,
    /// Where memory lies in a machine with several memories. `numactl` must be installed for another than the default
    #[arg(long, value_enum, default_value_t, value_name = "WHERE", global = true, display_order = super::cli::FOR_ALL)]
    numa: Numa,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum HugePages {
    /// Where the system has some to spare (transparent huge pages)
    #[default]
    On,
    /// Never
    Off,
    /// From those that were set aside for it (vm.nr_hugepages), and otherwise as with on
    Reserved,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Numa {
    /// Near the thread that touches it first
    #[default]
    Local,
    /// On all nodes in turn, so that no node's memory is the limit for the threads of all
    Interleave,
}

/// Tells a process that it was started again, and need not do so once more.
const DONE: &str = "DAGGERBOARD_MEMORY";

impl MemoryArgs {
    /// Starts the process again if it is to have other memory than it has; then it does not come back.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn settle(self) -> Result<(), Failure> {
        if env::var_os(DONE).is_some() {
            return Ok(());
        }
        let program = env::current_exe().map_err(|error| Failure::work(error).context("this program"))?;
        let Some(mut command) = self.command(program.into(), env::args_os().skip(1)) else { return Ok(()) };
        let error = command.exec();
        Err(match (self.numa, error.kind()) {
            (Numa::Interleave, ErrorKind::NotFound) => {
                Failure::work("--numa interleave needs numactl, which is not there")
                    .hint("install the package numactl: apt-get install numactl")
            }
            _ => Failure::work(error).context("this program could not be started again"),
        })
    }

    /// What is started instead; none if everything may stay as it is.
    fn command(self, program: OsString, args: impl Iterator<Item = OsString>) -> Option<Command> {
        let switch = match self.huge_pages {
            HugePages::On => None,
            HugePages::Off => Some(("MIMALLOC_ALLOW_THP", "0")),
            HugePages::Reserved => Some(("MIMALLOC_ALLOW_LARGE_OS_PAGES", "1")),
        };
        let mut command = match self.numa {
            Numa::Local if switch.is_none() => return None,
            Numa::Local => Command::new(program),
            Numa::Interleave => {
                let mut command = Command::new("numactl");
                command.arg("--interleave=all").arg(program);
                command
            }
        };
        command.args(args).env(DONE, "1").envs(switch);
        Some(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(huge_pages: HugePages, numa: Numa) -> Option<String> {
        let args = ["search", "nim"].map(OsString::from);
        let command = MemoryArgs { huge_pages, numa }.command("daggerboard".into(), args.into_iter());
        command.map(|command| format!("{command:?}"))
    }

    #[test]
    fn a_process_is_started_again_only_for_other_memory() {
        assert_eq!(command(HugePages::On, Numa::Local), None);
        for (huge_pages, switch) in [
            (HugePages::Off, "MIMALLOC_ALLOW_THP=\"0\""),
            (HugePages::Reserved, "MIMALLOC_ALLOW_LARGE_OS_PAGES=\"1\""),
        ] {
            let told = command(huge_pages, Numa::Local).expect("other pages");
            assert!(told.contains(switch) && told.ends_with("\"daggerboard\" \"search\" \"nim\""), "{told}");
        }
        let told = command(HugePages::On, Numa::Interleave).expect("other places");
        assert!(
            told.ends_with("\"numactl\" \"--interleave=all\" \"daggerboard\" \"search\" \"nim\""),
            "{told}"
        );
        assert!(!told.contains("MIMALLOC"), "{told}");
    }
}
