//! What a search has found, as it is printed.

use reasoner::{Role, Session};
use search::{Counters, MoveReport, Options, Proven, Report};
use serde_json::{Value, json};

use crate::commands::laws::Verified;
use crate::commands::reclaims::{reclaims_json, reclaims_text, table_json};
use crate::failure::Failure;
use crate::output;

/// A report as it is printed.
pub(super) struct Shown<'a, S: Session> {
    pub(super) report: &'a Report,
    pub(super) role: Role,
    pub(super) session: &'a mut S,
    /// If the graph was verified.
    pub(super) verified: Option<&'a Verified>,
}

/// What was searched, and how.
pub(super) struct Asked<'a> {
    pub(super) game: &'a str,
    /// Who answered.
    pub(super) reasoner: &'a str,
    /// Seconds until the search could begin.
    pub(super) set_up_s: f64,
    /// Why `auto` did without the propnet, if it did.
    pub(super) refused: Option<&'a str>,
    pub(super) options: &'a Options,
    /// Also if none was asked for.
    pub(super) seed: u64,
}

impl<S: Session> Shown<'_, S> {
    /// Moves and what is known of them, in the order of the final move.
    fn moves(&mut self) -> Vec<(String, MoveReport)> {
        let moves = self.report.roles.get(self.role.idx()).map_or(&[][..], |role| &role.moves);
        moves.iter().map(|it| (self.session.move_term(it.a_move).to_string(), *it)).collect()
    }

    /// What is proven of the position, if anything is.
    fn proven(&self) -> Option<Proven> {
        self.report.roles.get(self.role.idx()).and_then(|role| role.proven)
    }

    fn best(&mut self) -> Option<String> {
        self.report.best(self.role).map(|a_move| self.session.move_term(a_move).to_string())
    }

    pub(super) fn json(mut self, asked: &Asked<'_>) -> Value {
        let moves: Vec<Value> =
            self.moves().into_iter().map(|(a_move, report)| move_json(&a_move, &report)).collect();
        let report = self.report;
        let best_line = report.best_line.as_ref().map(|line| {
            let texts: Vec<Vec<String>> = line
                .joint_moves
                .iter()
                .map(|moves| moves.iter().map(|&it| self.session.move_term(it).to_string()).collect())
                .collect();
            json!({ "value": line.value, "moves": texts })
        });
        let mut told = json!({
            "game": asked.game,
            "reasoner": asked.reasoner,
            "set_up_s": asked.set_up_s,
            "refused": asked.refused,
            "config": asked.options.config.to_string(),
            "options": options_json(asked),
            "role": self.session.roles()[self.role.idx()].to_string(),
            "best": self.best(),
            "moves": moves,
            "solved": report.is_solved,
            "proven": self.proven().map(proven_json),
            "playouts": report.playouts,
            "visits_per_playout": report.visits_per_playout,
            "seconds": report.seconds,
            "playouts_per_s": rate(report),
            "leaves_per_s": rate(report),
            "rollouts_per_s": report.counters.rollouts as f64 / report.seconds.max(f64::EPSILON),
            "time_shares": time_shares(report),
            "nodes": report.nodes,
            "edges": report.edges,
            "bytes": report.bytes,
            "bytes_per_node": share(report.bytes, report.nodes),
            "bytes_per_edge": share(report.bytes, report.edges),
            "is_full": report.is_full,
            "table": table_json(&report.table),
            "reclaims": reclaims_json(&report.reclaims),
            "counters": counters(report),
            "best_line": best_line,
            "last_error": report.errors.last,
        });
        if let Some(verified) = self.verified {
            told["verify"] = verified.json();
        }
        told
    }

    pub(super) fn print(mut self) -> Result<(), Failure> {
        let report = self.report;
        for (a_move, MoveReport { visits, value, top, proven, .. }) in self.moves() {
            let top = top.map_or_else(String::new, |top| format!("top {top:>6.2}  "));
            let proven = proven.map_or_else(String::new, |proven| format!("  {}", proven_text(&proven)));
            output::line(format_args!("{visits:>12} visits  value {value:>6.2}  {top}{a_move}{proven}"))?;
        }
        let weight = match report.visits_per_playout {
            1 => String::new(),
            n => format!(" of {n} visits each"),
        };
        output::line(format_args!(
            "{} playouts{weight}, {:.0} a second, {} nodes, {} edges, {:.0} MiB",
            report.playouts,
            rate(report),
            report.nodes,
            report.edges,
            report.bytes as f64 / f64::from(1 << 20)
        ))?;
        if let Some(text) = reclaims_text(&report.reclaims) {
            output::line(text)?;
        }
        if let Some(error) = &report.errors.last {
            output::line(format_args!("{} playouts failed: {error}", report.errors.playouts))?;
        }
        let role = self.session.roles()[self.role.idx()].to_string();
        if report.is_solved {
            let proven = self.proven().map_or_else(|| "nothing proven".to_owned(), |it| proven_text(&it));
            output::line(format_args!("solved: {role} has {proven}"))?;
        }
        output::line(format_args!("best for {role}: {}", self.best().unwrap_or_default()))?;
        self.verified.map_or(Ok(()), Verified::print)
    }
}

fn move_json(a_move: &str, report: &MoveReport) -> Value {
    let mut told = json!({ "move": a_move, "visits": report.visits, "value": report.value });
    if let Some(top) = report.top {
        told["top"] = json!(top);
    }
    if let Some(proven) = report.proven {
        told["proven"] = proven_json(proven);
    }
    told
}

/// Such as `proven 100, 3 steps to the end`, or `proven 0 to 50`.
fn proven_text(proven: &Proven) -> String {
    let Proven { least, most, steps } = proven;
    let steps = match steps {
        None => String::new(),
        Some(1) => ", 1 step to the end".to_owned(),
        Some(steps) => format!(", {steps} steps to the end"),
    };
    match proven.value() {
        Some(value) => format!("proven {value:.0}{steps}"),
        None => format!("proven {least:.0} to {most:.0}"),
    }
}

fn proven_json(proven: Proven) -> Value {
    json!({ "least": proven.least, "most": proven.most, "steps": proven.steps })
}

/// The options; what was left to the search is null.
fn options_json(asked: &Asked<'_>) -> Value {
    let options = asked.options;
    json!({
        "payoffs": options.payoffs.map(|it| it.to_string()),
        "aim": options.aim.to_string(),
        "discount": options.discount,
        "unexplored": options.unexplored.to_string(),
        "in_flight": options.in_flight.to_string(),
        "simultaneous": options.simultaneous.to_string(),
        "final_move": options.final_move.map(|it| it.to_string()),
        "solver": options.solver,
        "rave_bias": options.rave_bias,
        "pn_bias": options.pn_bias,
        "batch": options.batch,
        "rollouts": options.rollouts,
        "hot_levels": options.hot_levels.map_or(json!("auto"), |levels| json!(levels)),
        "c": options.exploration,
        "threads": options.threads,
        "seed": asked.seed,
        "memory": options.max_bytes,
    })
}

/// The shares of descents, expansions, rollouts and backups in the time of the batches that were timed; null if none was.
fn time_shares(report: &Report) -> Value {
    let Counters { descent_ns, expansion_ns, rollout_ns, backup_ns, .. } = report.counters;
    let all = descent_ns + expansion_ns + rollout_ns + backup_ns;
    match all {
        0 => Value::Null,
        all => {
            let share = |part: u64| part as f64 / all as f64;
            json!({
                "descents": share(descent_ns),
                "expansions": share(expansion_ns),
                "rollouts": share(rollout_ns),
                "backups": share(backup_ns),
            })
        }
    }
}

fn rate(report: &Report) -> f64 {
    report.playouts as f64 / report.seconds.max(f64::EPSILON)
}

/// All bytes, shared out among the nodes, or among the edges; none if there are none.
fn share(bytes: u64, n: u64) -> Option<f64> {
    (n > 0).then(|| bytes as f64 / n as f64)
}

/// The counters by name.
fn counters(report: &Report) -> Value {
    macro_rules! by_name {
        ($($name:ident)*) => { json!({ $(stringify!($name): report.counters.$name,)* }) };
    }
    by_name!(
        failed_playouts interrupted_playouts depth_sum max_depth rollouts rollout_steps nodes_made edges_made openings
        lost_claims same_leaf duplicates cas_failures transpositions lookups probes max_probes table_full too_wide
        cut_paths unrepeatable_lines
    )
}
