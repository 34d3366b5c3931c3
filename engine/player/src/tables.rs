//! Tables on the terminal, all alike.

use comfy_table::{Row, Table};

/// An empty table with its header.
pub fn with_header(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(header);
    table
}
