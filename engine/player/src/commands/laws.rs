//! What walking through the whole graph has found, as it is printed.

use reasoner::Interrupt;
use search::{Gap, GraphSummary, Report, Searcher, VerifyError};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::output;

/// A graph at rest, or why there is no summary of it.
#[derive(Debug)]
pub(crate) struct Verified(Result<GraphSummary, VerifyError>);

impl Verified {
    /// Walks through the graph, which takes time and memory as the graph does, until `stop` is raised.
    pub(crate) fn of<R: reasoner::Reasoner>(
        searcher: &Searcher<R>,
        report: &Report,
        stop: &Interrupt,
    ) -> Verified {
        output::progress(format_args!(
            "verifying {} nodes and {} edges, {:.0} MiB",
            report.nodes,
            report.edges,
            report.bytes as f64 / f64::from(1 << 20)
        ));
        let verified = searcher.verify(stop);
        if let Err(VerifyError::Interrupted) = verified {
            output::progress("stopped before the graph's laws were all checked");
        }
        Verified(verified)
    }

    /// A broken law is a failure, and so is a walk that was stopped.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.0.is_ok() { Outcome::Done } else { Outcome::Failed }
    }

    pub(crate) fn json(&self) -> Value {
        match &self.0 {
            Ok(summary) => json!({
                "holds": true,
                "nodes": summary.nodes,
                "dead_nodes": summary.dead_nodes,
                "open_nodes": summary.open_nodes,
                "terminal_nodes": summary.terminal_nodes,
                "edges": summary.edges,
                "joint_moves": summary.joint_moves,
                "bounded_nodes": summary.bounded_nodes,
                "solved_nodes": summary.solved_nodes,
                "stale_proof_numbers": summary.stale_proof_numbers,
                "own_visits": summary.own_visits,
                "node_visits": summary.node_visits,
                "credit_gap": summary.credit_gap.map(gap_json),
                "adapted_gap": summary.adapted_gap.map(gap_json),
            }),
            Err(VerifyError::Broken(complaints)) => json!({ "holds": false, "complaints": complaints }),
            Err(VerifyError::Interrupted) => json!({ "holds": null, "complaints": [] }),
        }
    }

    pub(crate) fn print(&self) -> Result<(), Failure> {
        self.lines().iter().try_for_each(output::line)
    }

    fn lines(&self) -> Vec<String> {
        let summary = match &self.0 {
            Ok(summary) => summary,
            Err(VerifyError::Interrupted) => return Vec::new(),
            Err(VerifyError::Broken(complaints)) => {
                let head = "the graph breaks its laws:".to_owned();
                return std::iter::once(head).chain(complaints.iter().map(|it| format!("  {it}"))).collect();
            }
        };
        let mut lines = vec![
            "the graph keeps its laws:".to_owned(),
            format!(
                "  {} nodes ({} open, {} terminal), {} dead, {} edges, {} joint moves",
                summary.nodes,
                summary.open_nodes,
                summary.terminal_nodes,
                summary.dead_nodes,
                summary.edges,
                summary.joint_moves
            ),
            format!("  {} node visits, {} of them own visits", summary.node_visits, summary.own_visits),
        ];
        if summary.bounded_nodes > 0 {
            let GraphSummary { bounded_nodes, solved_nodes, .. } = summary;
            lines.push(format!("  {bounded_nodes} nodes with proven bounds, {solved_nodes} of them solved"));
        }
        if let Some(n) = summary.stale_proof_numbers {
            lines.push(format!("  {n} nodes whose proof numbers are not those of what is below them"));
        }
        let gaps = [("credit", summary.credit_gap), ("adapted", summary.adapted_gap)];
        lines.extend(gaps.into_iter().filter_map(|(name, gap)| Some(gap_line(name, &gap?))));
        lines
    }
}

fn gap_json(gap: Gap) -> Value {
    json!({ "n": gap.n, "mean": gap.mean, "p90": gap.p90, "max": gap.max })
}

/// Six digits: under `ucd-incremental` what is left is rounding.
fn gap_line(name: &str, gap: &Gap) -> String {
    let Gap { n, mean, p90, max } = gap;
    format!("  {name} gap in goal points: mean {mean:.6}, p90 {p90:.6}, max {max:.6}, of {n}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_law_is_told_and_is_a_failure() {
        let complaints = vec!["node 7: 1 in flight".to_owned(), "node 8: dead, but visited".to_owned()];
        let broken = Verified(Err(VerifyError::Broken(complaints)));
        assert_eq!(broken.outcome(), Outcome::Failed);
        assert_eq!(
            broken.json(),
            json!({ "holds": false, "complaints": ["node 7: 1 in flight", "node 8: dead, but visited"] })
        );
        let lines = broken.lines();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], "  node 7: 1 in flight");
    }

    #[test]
    fn a_walk_that_was_stopped_says_nothing_about_the_laws() {
        let stopped = Verified(Err(VerifyError::Interrupted));
        assert_eq!(stopped.outcome(), Outcome::Failed);
        assert_eq!(stopped.json()["holds"], Value::Null);
        assert!(stopped.lines().is_empty());
    }

    #[test]
    fn gaps_are_told_where_there_are_any() {
        let gap = Gap { n: 5, mean: 0.25, p90: 0.5, max: 1.0 };
        let summary = GraphSummary { nodes: 3, credit_gap: Some(gap), ..GraphSummary::default() };
        let whole = Verified(Ok(summary));
        assert_eq!(whole.outcome(), Outcome::Done);
        assert_eq!(whole.json()["credit_gap"], json!({ "n": 5, "mean": 0.25, "p90": 0.5, "max": 1.0 }));
        assert_eq!(whole.json()["adapted_gap"], Value::Null);
        let told = whole.lines().join("\n");
        assert!(
            told.contains("credit gap in goal points: mean 0.250000") && !told.contains("adapted"),
            "{told}"
        );
    }
}
