//! Tables on the terminal, all alike.

use comfy_table::Table;

/// An empty table with its header.
pub fn with_header<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(header);
    table
}
