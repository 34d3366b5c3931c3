//! The reference material beside the repository, which may be absent.
#![allow(dead_code, reason = "no test uses all of it")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

use std::path::{Path, PathBuf};

/// The folder that `DAGGERBOARD_SHARED` names, else `shared` beside the workspace; none, with a printed reason,
/// where it is absent.
pub fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("DAGGERBOARD_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: there is no folder {}", folder.display());
    None
}

/// The files of a folder with that ending, with their texts, in the order of their names.
pub fn texts(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    files.iter().map(|path| (name(path), text(path))).collect()
}
