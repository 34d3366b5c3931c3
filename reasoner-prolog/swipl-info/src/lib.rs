//! Where SWI-Prolog is installed, for the build script of `swipl-fli`.
//!
//! In goes the program `swipl`, or the one that the variable `SWIPL` names; out comes what `swipl-fli` wants to know. It
//! stands in place of the crate of the same name (`[patch.crates-io]`): where SWI-Prolog is missing or of another
//! version, that one ends the build with a panic that does not say so, before any other build script can speak.
#![forbid(unsafe_code)]

use std::env;
use std::path::Path;
use std::process::Command;

/// Versions that `swipl` and `swipl-fli` are known to build with: from the first (inclusive) to the second
/// (exclusive), which is reported not to.
const WORKS: [[u32; 3]; 2] = [[9, 0, 0], [9, 3, 11]];

const HINT: &str = "On Debian and Ubuntu: apt-get install swi-prolog-core libclang-dev (or run ci/setup). \
                    To build without Prolog: --no-default-features.";

/// What `swipl-fli` wants to know.
#[derive(Debug)]
pub struct SwiplInfo {
    /// The library to link with.
    pub lib_name: String,
    /// The folder of the library.
    pub lib_dir: String,
    /// The folder of `SWI-Prolog.h`.
    pub header_dir: String,
}

/// Asks the installed SWI-Prolog. Where there is none that works, this ends the build script with a message.
pub fn get_swipl_info() -> SwiplInfo {
    match ask() {
        Ok(info) => info,
        Err(problem) => fail(&problem),
    }
}

#[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
fn fail(problem: &str) -> ! {
    println!("cargo::error={problem} {HINT}");
    std::process::exit(1);
}

fn ask() -> Result<SwiplInfo, String> {
    let swipl = env::var("SWIPL").unwrap_or_else(|_| "swipl".to_owned());
    let run = |arg: &str| match Command::new(&swipl).arg(arg).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(format!("{swipl} {arg} failed ({}).", output.status)),
        Err(error) => Err(format!("SWI-Prolog is missing: {swipl}: {error}.")),
    };
    check_version(&run("--version")?)?;
    let variables = run("--dump-runtime-variables")?;
    let home = variable(&variables, "PLBASE").ok_or("swipl does not tell where it is installed.")?;
    let lib_dir = variable(&variables, "PLLIBDIR").ok_or("swipl does not tell where its library is.")?;
    let header_dir = format!("{home}/include");
    if !Path::new(&header_dir).join("SWI-Prolog.h").exists() {
        return Err(format!("SWI-Prolog's header {header_dir}/SWI-Prolog.h is missing."));
    }
    Ok(SwiplInfo { lib_name: "swipl".to_owned(), lib_dir: lib_dir.to_owned(), header_dir })
}

/// Whether the answer to `--version` names a version that works: "SWI-Prolog version 9.0.4 for x86_64-linux".
fn check_version(text: &str) -> Result<(), String> {
    let numbers = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let version: Vec<u32> = numbers
        .into_iter()
        .flat_map(|word| word.split(['.', '-']))
        .map_while(|part| part.parse().ok())
        .collect();
    if version.len() >= 3 && version[..] >= WORKS[0][..] && version[..] < WORKS[1][..] {
        return Ok(());
    }
    let [from, to] = WORKS.map(|version| version.map(|part| part.to_string()).join("."));
    let found = text.trim();
    Err(format!(
        "SWI-Prolog from {from} to before {to} is needed, and this is {found:?}; set SWIPL to the swipl of another \
         version."
    ))
}

/// The value in a line `NAME="VALUE";`.
fn variable<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix("\";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_work_are_told_from_others() {
        let answer =
            |version: &str| check_version(&format!("SWI-Prolog version {version} for x86_64-linux\n"));
        for version in ["9.0.0", "9.0.4", "9.2.9", "9.3.10", "9.0.4-12-gabc"] {
            assert_eq!(answer(version), Ok(()), "{version}");
        }
        for version in ["8.4.3", "9.3.11", "9.10.0", "10.0.0", "9", "", "x"] {
            let problem = answer(version).expect_err(version);
            assert!(problem.contains("from 9.0.0 to before 9.3.11"), "{problem}");
        }
    }

    #[test]
    fn variables_have_values() {
        let text = "CC=\"gcc\";\nPLBASE=\"/usr/lib/swi-prolog\";\nPLLIBDIR=\"/usr/lib\";\n";
        assert_eq!(variable(text, "PLBASE"), Some("/usr/lib/swi-prolog"));
        assert_eq!(variable(text, "PLLIBDIR"), Some("/usr/lib"));
        assert_eq!(variable(text, "PL"), None);
    }
}
