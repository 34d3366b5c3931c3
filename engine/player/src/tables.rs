//! Tables on the terminal, all alike.

use comfy_table::{Row, Table};

/// An empty table with its header.
pub fn with_header<const N: usize>(header: [&str; N]) -> Table {
    with_columns(header)
}

/// An empty table with a header of any number of columns.
pub fn with_columns(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(header);
    table
}
