//! The memory ordering of every site where one thread hands something to another, by name.
//!
//! They are parameters of a type so that the loom tests can run the very same code with one of them
//! weakened, and see it fail.

use crate::sync::Ordering;

/// One constant for each side of each hand-over. Everything else in the graph is `Relaxed`.
pub(crate) trait Orders: Send + Sync + 'static {
    /// Storing a child's id in an edge: the child's state was written before.
    const PUBLISH: Ordering = Ordering::Release;
    /// Loading a child's id from an edge. Partner of [`Orders::PUBLISH`].
    const FOLLOW: Ordering = Ordering::Acquire;
    /// Storing an id in a table: what it names was written before.
    const INSERT: Ordering = Ordering::Release;
    /// Loading an id from a table. Partner of [`Orders::INSERT`].
    const FIND: Ordering = Ordering::Acquire;
    /// Declaring a node open or terminal: its edges or goals were written before.
    const OPEN: Ordering = Ordering::Release;
    /// Asking whether a node is open or terminal. Partner of [`Orders::OPEN`].
    const ENTER: Ordering = Ordering::Acquire;
    /// Counting a finished playout: its values were added before.
    const COUNT: Ordering = Ordering::Release;
    /// Counting a finished playout at an edge that credits its node. Partner of itself: whoever gets the larger number
    /// sees what the others did to the child before they got theirs.
    const CREDIT: Ordering = Ordering::AcqRel;
    /// Reading the count before the values. Partner of [`Orders::COUNT`]; additions by others in between
    /// continue its release sequence.
    const WEIGH: Ordering = Ordering::Acquire;
    /// Declaring a part of the graph due for marking: a node of it was found before.
    const DECLARE: Ordering = Ordering::Release;
    /// Taking a part that is due, to look at what was found there. Partner of [`Orders::DECLARE`].
    const TAKE: Ordering = Ordering::Acquire;

    /// Whether a credit of `new` playouts replaces one of `held`. No ordering, but the rule that the orderings of
    /// credits are for: the tests take it away too.
    fn takes_credit(held: u64, new: u64) -> bool {
        held < new
    }

    /// Whether bounds are joined with what others have proven meanwhile. No ordering either: a store would lose theirs.
    fn joins_bounds() -> bool {
        true
    }
}

/// The orderings that the search uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sound;

impl Orders for Sound {}
