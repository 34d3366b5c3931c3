//! How our pages of HTML look: on a screen, on a phone and on paper.

/// The style sheet. Wide tables go into `div.wide`, which scrolls on a phone.
pub const STYLE: &str = "
body { font: 16px/1.4 system-ui, sans-serif; max-width: 70rem; margin: 1rem auto; padding: 0 1rem; color: #222; }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; } th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.bad { color: #b00020; } @media print { .wide { overflow: visible; } }";
