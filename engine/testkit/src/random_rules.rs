//! x
/// x
pub fn random_rules(_: u64, _: u32) -> String {
    String::new()
}
