//! Any text in; the checks and the lowering have an answer, and a description that was printed and read
//! again has the same meaning.
#![no_main]

use daggerboard_gdl::check::{check_text, verdict};
use daggerboard_gdl::{CaseReading, Description, ReadOptions, Rules};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for case in [CaseReading::Auto, CaseReading::Exact, CaseReading::Ignored] {
        let options = ReadOptions { case };
        let (description, messages) = check_text(text, options);
        let _ = verdict(&messages);
        messages.iter().for_each(|message| assert!(!message.to_string().is_empty()));
        let Some(description) = description else { return };
        let printed = description.to_string();
        let again = match Description::read(&printed, options) {
            Ok(again) => again,
            Err(error) => panic!("what was printed is not read: {error}\n{printed}"),
        };
        assert_eq!(printed, again.to_string(), "printed again otherwise");
        assert_eq!(meaning(&description), meaning(&again), "another meaning under {case:?}:\n{printed}");
    }
});

/// What a description lowers to, as text: roles, facts and clauses, or what is wrong (but not where, since
/// printing moves it).
fn meaning(description: &Description) -> Result<Vec<String>, String> {
    let rules = match Rules::from_description(description) {
        Ok(rules) => rules,
        Err(error) => return Err(error.what),
    };
    let roles = rules.roles().iter().map(|role| format!("role {role}"));
    let facts = rules.facts().iter().map(|fact| {
        let args = fact.args.iter().map(|arg| format!(" {}", rules.term(arg)));
        format!("{}{}", rules.relation_name(fact.relation), args.collect::<String>())
    });
    let clauses = rules.rules().iter().map(|rule| rules.rule_text(rule));
    Ok(roles.chain(facts).chain(clauses).collect())
}
