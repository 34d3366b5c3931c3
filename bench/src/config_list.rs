//! Search configurations of a command line, separated by commas that are not within parentheses.

use std::fmt;
use std::str::FromStr;

use player::brain::split_outside_parentheses;
use search::Config;

/// One configuration or more, each once: `uct,ucd(inf,0,1)`.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigList(pub Vec<Config>);

/// A list that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigListError {
    /// An element names no configuration.
    #[error(transparent)]
    Config(#[from] search::ConfigError),
    /// An element is there again.
    #[error("{0} is named twice; name it once")]
    Twice(Config),
}

impl FromStr for ConfigList {
    type Err = ConfigListError;

    fn from_str(text: &str) -> Result<ConfigList, ConfigListError> {
        let mut configs = Vec::new();
        for element in split_outside_parentheses(text) {
            let config: Config = element.trim().parse()?;
            if configs.contains(&config) {
                return Err(ConfigListError::Twice(config));
            }
            configs.push(config);
        }
        Ok(ConfigList(configs))
    }
}

impl fmt::Display for ConfigList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let list = text.parse::<ConfigList>().map_err(|error| error.to_string())?;
        Ok(list.0.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn commas_within_parentheses_separate_nothing() {
        let names = ["uct", "ucd(inf,0,1)", "rave-ucd(1,0)", "update-all"];
        assert_eq!(read(&names.join(",")), Ok(names.map(str::to_owned).to_vec()));
        assert_eq!(read(" uct , uct+t"), Ok(vec!["uct".to_owned(), "uct+t".to_owned()]));
    }

    #[test]
    fn an_element_that_is_no_configuration_or_is_there_again_is_named() {
        for (text, word) in [
            ("uct,magic", "\"magic\""),
            ("", "\"\""),
            ("uct,", "\"\""),
            ("ucd(1,0,1", "\"(1,0,1\""),
            ("uct),rave", "\"uct)\""),
            ("uct,ucd(0,0,0),uct1", "ucd(0,0,0) is named twice"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
