//! Our pages of HTML: one file each with everything inside, for a screen, a phone and paper.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// How all of them look. Wide tables go into `div.wide`, which scrolls on a phone.
const STYLE: &str = "
body { font: 16px/1.4 system-ui, sans-serif; max-width: 70rem; margin: 1rem auto; padding: 0 1rem; color: #222; }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; } th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.bad { color: #b00020; } @media print { .wide { overflow: visible; } }";

/// The page of a title and a body; `style` is what it adds to the style of all.
pub fn render(title: &str, style: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body {
                h1 { (title) }
                (body)
            }
        }
    };
    page.into_string()
}
