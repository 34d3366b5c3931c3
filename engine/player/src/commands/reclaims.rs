//! What a search has reclaimed of its graph, and how its table grew, for people and in JSON.

use search::{Reclaims, TableReport};
use serde_json::{Value, json};

pub(super) fn reclaims_json(reclaims: &Reclaims) -> Value {
    json!({
        "times": reclaims.times,
        "nodes": reclaims.nodes,
        "bytes": reclaims.bytes,
        "live_nodes": reclaims.live_nodes,
        "last_s": reclaims.last_seconds,
        "longest_s": reclaims.longest_seconds,
        "seconds": reclaims.seconds,
    })
}

pub(super) fn table_json(table: &TableReport) -> Value {
    json!({
        "slots": table.slots,
        "fill": table.fill,
        "growths": table.growths,
        "growth_s": table.growth_seconds,
    })
}

/// One line; none if nothing was reclaimed.
pub(super) fn reclaims_text(reclaims: &Reclaims) -> Option<String> {
    (reclaims.times > 0).then(|| {
        format!(
            "{} times out of room: {} nodes forgotten, {} left by the last time; pauses of {:.0} ms in all, the longest {:.0} ms",
            reclaims.times,
            reclaims.nodes,
            reclaims.live_nodes,
            reclaims.seconds * 1e3,
            reclaims.longest_seconds * 1e3
        )
    })
}
