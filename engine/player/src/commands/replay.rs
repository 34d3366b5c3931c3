//! `daggerboard replay`: plays given moves and tells every state on the way.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use reasoner::{GoalAnswer, Interrupt, Limits, Move, Reasoner, Role, Session};
use serde_json::{Map, Value, json};

use super::moves_file::{self, Played};
use crate::failure::{Failure, Outcome};
use crate::game_source::GameArgs;
use crate::golden_text;
use crate::moves::{Found, find_legal};
use crate::output;
use crate::position::{Position, PositionArgs};
use crate::reasoners::{self, ReasonerKind, SetUp, WithReasoner};
use crate::stop;

/// Play given moves and tell every state on the way
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '[[\"(fill e)\", \"wait\"]]' > moves.json
  daggerboard replay tic-tac-toe --moves moves.json
  daggerboard replay tic-tac-toe --moves moves.json --full --json

The file holds a JSON list of joint moves, each a list of KIF texts in role order; or it is a record that \
`daggerboard match` left in its folder. With --full --json final_state is what --state of other commands takes.")]
pub struct ReplayArgs {
    #[command(flatten)]
    game: GameArgs,
    /// The moves
    #[arg(long, value_name = "FILE")]
    moves: PathBuf,
    /// Tell the roles, and the facts and the legal moves of the last state, too
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    position: PositionArgs,
    #[arg(long, default_value = "auto", value_name = "NAME", help = format!("Who answers questions about the rules: {}; auto is the interpreter here", reasoners::NAMES))]
    reasoner: ReasonerKind,
}

impl ReplayArgs {
    /// Plays and prints.
    ///
    /// # Errors
    /// If a move is illegal, or anything cannot be had.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let game = self.game.load()?;
        let played = moves_file::read(&self.moves)?;
        if played.rules_hash.as_ref().is_some_and(|hash| *hash != game.rules_hash()) {
            tracing::warn!("the record was made with another version of the rulesheet");
        }
        let stop = stop::on_ctrl_c()?;
        let position = self.position.read()?;
        let replaying = Replaying { args: self, played, position, as_json, stop: &stop };
        self.reasoner.for_few_questions().with(Arc::clone(&game.rules), &SetUp::shown(&stop), replaying)?
    }
}

struct Replaying<'a> {
    args: &'a ReplayArgs,
    played: Played,
    position: Position,
    as_json: bool,
    stop: &'a Interrupt,
}

impl WithReasoner for Replaying<'_> {
    type Output = Result<Outcome, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let mut session = reasoner.session(Limits::default(), self.stop)?;
        let mut state = self.position.load(&mut session)?;
        let mut steps = Vec::new();
        for (step_idx, terms) in self.played.moves.iter().enumerate() {
            let in_step = |failure: Failure| failure.context(format_args!("step {}", step_idx + 1));
            let (step, joint_move) = step(&mut session, &state, terms).map_err(in_step)?;
            if !self.as_json {
                output::line(format_args!(
                    "{:>4} {} {}",
                    step_idx + 1,
                    step["h"].as_str().unwrap_or(""),
                    step["m"]
                ))?;
            }
            steps.push(step);
            state = session.next_state(&state, &joint_move).map_err(|error| in_step(error.into()))?;
        }
        self.finish(&mut session, &state, steps)
    }
}

impl Replaying<'_> {
    /// Prints the end.
    fn finish<S: Session>(
        &self,
        session: &mut S,
        state: &S::State,
        steps: Vec<Value>,
    ) -> Result<Outcome, Failure> {
        let facts = golden_text::facts(session, state);
        let terminal = session.is_terminal(state)?;
        let mut goals = Vec::new();
        session.goals(state, &mut goals)?;
        let goals: Vec<Option<u32>> = goals.into_iter().map(|goal| shown_goal(goal, terminal)).collect();
        let mut end = json!({
            "steps": steps,
            "final_h": golden_text::state_hash(&facts),
            "final_n": facts.len(),
            "terminal": terminal,
            "goals": goals,
        });
        if self.args.full {
            let roles = golden_text::roles(session.roles());
            let legal = golden_text::legal(session, state)?;
            let by_role: Map<String, Value> =
                roles.iter().cloned().zip(legal.into_iter().map(Value::from)).collect();
            end["roles"] = json!(roles);
            end["final_state"] = json!(facts);
            end["final_legal"] = Value::Object(by_role);
        }
        if self.as_json {
            output::json(&end)?;
        } else {
            let ended = if terminal { "terminal" } else { "not terminal" };
            output::line(format_args!(
                "     {} {ended}, goals {}",
                end["final_h"].as_str().unwrap_or(""),
                end["goals"]
            ))?;
            if self.args.full {
                facts.iter().try_for_each(output::line)?;
                output::line(&end["final_legal"])?;
            }
        }
        Ok(Outcome::Done)
    }
}

/// One step in the keys of the golden data, and its joint move.
fn step<S: Session>(
    session: &mut S,
    state: &S::State,
    terms: &[gdl::Term],
) -> Result<(Value, Vec<Move>), Failure> {
    let roles = session.roles().to_vec();
    if terms.len() != roles.len() {
        return Err(Failure::work(format!("{} moves for {} roles", terms.len(), roles.len()))
            .hint("a joint move has one move per role, in the order of the role facts"));
    }
    let (mut texts, mut played, mut joint_move) = (Vec::new(), Vec::new(), Vec::new());
    for role in Role::all(roles.len()) {
        let mut legal = Vec::new();
        session.legal_moves(state, role, &mut legal)?;
        let term = &terms[role.idx()];
        match find_legal(session, &legal, term) {
            Found::Legal(a_move) => joint_move.push(a_move),
            found => {
                let what =
                    if found == Found::Ambiguous { "fits several legal moves" } else { "is not legal" };
                let some: Vec<String> = golden_text::moves(session, &legal).into_iter().take(8).collect();
                return Err(Failure::work(format!("{term} of role {} {what}", roles[role.idx()]))
                    .hint(format!("{} moves are legal: {} ...", legal.len(), some.join(" "))));
            }
        }
        played.push(term.to_lower_case());
        texts.push(golden_text::moves(session, &legal));
    }
    let step = json!({
        "h": golden_text::state_hash(&golden_text::facts(session, state)),
        "n": texts.iter().map(Vec::len).collect::<Vec<_>>(),
        "l": golden_text::legal_hash(&texts),
        "m": played,
    });
    Ok((step, joint_move))
}

/// A number, or null where none or several hold; at the end the largest of several.
fn shown_goal(goal: GoalAnswer, terminal: bool) -> Option<u32> {
    if terminal { goal.at_end() } else { goal.only() }
}
