//! Says what to install where the `swipl` crate would only fail.

use std::env;
use std::path::Path;
use std::process::Command;

/// Versions that the `swipl` crate is known to build with: from the first (both inclusive) to the second
/// (exclusive), which is reported not to.
const WORKS: [[u32; 3]; 2] = [[9, 0, 0], [9, 3, 11]];

const HINT: &str = "On Debian and Ubuntu: apt-get install swi-prolog-core libclang-dev (or run ci/setup). \
                    To build without Prolog: --no-default-features.";

fn main() {
    println!("cargo::rerun-if-env-changed=SWIPL");
    println!("cargo::rerun-if-env-changed=PATH");
    if env::var_os("CARGO_FEATURE_PROLOG").is_some()
        && let Err(what) = check()
    {
        println!("cargo::error={what} {HINT}");
    }
}

fn check() -> Result<(), String> {
    let swipl = env::var("SWIPL").unwrap_or_else(|_| "swipl".to_owned());
    let run = |arg: &str| match Command::new(&swipl).arg(arg).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(format!("{swipl} {arg} failed ({}).", output.status)),
        Err(error) => Err(format!("SWI-Prolog is missing: {swipl}: {error}.")),
    };
    // "SWI-Prolog version 9.0.4 for x86_64-linux"
    let text = run("--version")?;
    let numbers = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let version: Vec<u32> = numbers
        .into_iter()
        .flat_map(|word| word.split(['.', '-']))
        .map_while(|part| part.parse().ok())
        .collect();
    if version.len() < 3 || version[..] < WORKS[0][..] || version[..] >= WORKS[1][..] {
        let [from, to] = WORKS.map(|version| version.map(|part| part.to_string()).join("."));
        let found = text.trim();
        return Err(format!(
            "SWI-Prolog from {from} to before {to} is needed, and this is {found:?}; set SWIPL to the swipl of \
             another version."
        ));
    }
    let variables = run("--dump-runtime-variables")?;
    let home = variables.lines().find_map(|line| line.strip_prefix("PLBASE=\"")?.strip_suffix("\";"));
    let header = Path::new(home.unwrap_or_default()).join("include/SWI-Prolog.h");
    if !header.exists() {
        return Err(format!("SWI-Prolog's header {} is missing.", header.display()));
    }
    Ok(())
}
