//! What is wrong with a rulesheet, and what to do about it.
