//! Ctrl-C and SIGTERM as an interrupt.
//!
//! The first one asks for a clean stop, the second one ends the process at once.

use reasoner::Interrupt;

use crate::failure::Failure;

/// What shells report for a process that Ctrl-C ended: 128 and the number of SIGINT.
const EXIT_INTERRUPTED: i32 = 130;

/// The interrupt that Ctrl-C raises. To be called once.
///
/// # Errors
/// If the system takes no handler.
pub fn on_ctrl_c() -> Result<Interrupt, Failure> {
    let stop = Interrupt::new();
    let raised = stop.clone();
    ctrlc::set_handler(move || {
        if raised.is_raised() {
            std::process::exit(EXIT_INTERRUPTED);
        }
        raised.raise();
        tracing::warn!("stopping; once more ends the process at once");
    })
    .map_err(Failure::work)?;
    Ok(stop)
}

/// Leaves Ctrl-C and SIGTERM to the process that started this one. To be called once.
///
/// # Errors
/// If the system takes no handler.
pub fn ignore_ctrl_c() -> Result<(), Failure> {
    ctrlc::set_handler(|| {}).map_err(Failure::work)
}
