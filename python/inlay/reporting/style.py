"""How a report looks: in light and in dark, on a telephone and on paper."""

STYLE = """
:root { color-scheme: light dark; --page: #fbfaf7; --card: #fff; --ink: #1a1d21; --soft: #565c66; --rule: #e1ddd4;
  --link: #0a5299; --track: #ebe8e1; --help-edge: #3d7a45;
  --kernel: #2f74b5; --call: #b8620a; --host: #b72d4c; --copy: #39803f; --other: #6d7480; --work: #836a4b;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace }
@media (prefers-color-scheme: dark) { :root { --page: #14161a; --card: #1c1f25; --ink: #e8eaed; --soft: #a9b0bb;
  --rule: #343941; --link: #86bdff; --track: #2b3038; --help-edge: #6cb878;
  --kernel: #5ea0de; --call: #e0954a; --host: #ec7f98; --copy: #6dbb74; --other: #969ead; --work: #b89b77 } }
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-behavior: smooth }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto } }
body { margin: 0 auto; max-width: 76rem; padding: 0 1.25rem 3rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere }
a { color: var(--link); text-underline-offset: .15em; text-decoration-thickness: 1px }
a:hover { text-decoration-thickness: 2px }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--card) }
.skip:focus { left: 1rem; top: 1rem; z-index: 1 }
header { padding: 2rem 0 0 }
.mark { margin: 0; color: var(--soft); font-size: .8rem; font-weight: 600; letter-spacing: .08em;
  text-transform: uppercase }
h1 { margin: .2rem 0 .4rem; font: 600 1.35rem/1.3 var(--mono); }
.under { margin: 0; color: var(--soft); font-size: .875rem }
nav { margin: 1.25rem 0 0; border-block: 1px solid var(--rule) }
nav ul { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; margin: 0; padding: .45rem 0; list-style: none;
  font-size: .875rem }
nav a { display: inline-block; padding: .25rem 0; text-decoration: none }
nav a:hover { text-decoration: underline }
section { padding-top: 2rem }
h2 { margin: 0 0 .75rem; font-size: 1.3rem; line-height: 1.25 }
h3 { margin: 1.5rem 0 .4rem; font-size: 1rem }
p { margin: .4rem 0; max-width: 75ch }
code, pre { font-family: var(--mono); font-size: .875em }
a code { color: inherit }
small { color: var(--soft); font-size: .8125rem }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; margin: 0 }
.figures div { padding: .7rem .9rem; background: var(--card); border: 1px solid var(--rule); border-radius: 8px }
.figures dt { color: var(--soft); font-size: .8125rem }
.figures dd { margin: 0; font-size: 1.25rem; font-weight: 600; line-height: 1.3; font-variant-numeric: tabular-nums }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 0 2.5rem }
.columns > div { min-width: 0 }
.top, .reasons, .formulas { margin: .6rem 0; padding: 0; list-style: none }
.top li { margin: .6rem 0; line-height: 1.4 }
.bar { display: inline-block; width: 5rem; height: .6rem; margin-right: .5rem; background: var(--track);
  border-radius: 2px; overflow: hidden; vertical-align: .02em }
.bar i { display: block; height: 100%; min-width: 1px }
i.kernel { background: var(--kernel) } i.call { background: var(--call) } i.host { background: var(--host) }
i.copy { background: var(--copy) } i.work { background: var(--work) } i.other { background: var(--other) }
.share { display: inline-block; font-weight: 600; font-variant-numeric: tabular-nums }
.top .share { min-width: 3.6em }
.reasons { display: grid; gap: .6rem }
.reasons li { padding: .5rem .9rem; background: var(--card); border: 1px solid var(--rule); border-radius: 8px }
.reasons p { margin: .15rem 0 }
.help { padding-left: .6rem; border-left: 3px solid var(--help-edge) }
table { width: 100%; margin: .5rem 0 1.25rem; border-collapse: collapse; font-size: .875rem;
  font-variant-numeric: tabular-nums }
caption { padding: .4rem 0; text-align: left; color: var(--soft); font-size: .875rem }
th, td { min-width: 4.5rem; padding: .45rem .9rem .45rem 0; text-align: left; vertical-align: top;
  border-top: 1px solid var(--rule); font-weight: 400 }
thead th { color: var(--soft); font-size: .8125rem; border-top: 0; padding-block: .2rem }
tbody tr:last-child > * { border-bottom: 1px solid var(--rule) }
.steps .number { display: inline-block; min-width: 1.3em; margin-right: .2em; color: var(--soft) }
.steps tbody th { min-width: 10rem }
.steps thead th:nth-child(n + 3) { min-width: 5.4rem }
.steps thead th:nth-child(3) { min-width: 9rem }
.steps thead th:nth-child(4), .steps thead th:nth-child(5) { min-width: 6.4rem }
.steps td small { white-space: nowrap }
.steps td:nth-child(2) { min-width: 12rem }
.steps td small { display: block }
.steps .bar { display: block; width: 7rem; margin: .35rem 0 .2rem }
.steps .time { margin-left: .6em; white-space: nowrap }
.formulas { margin: 0; font-size: .95em }
.note { margin: .2rem 0 0; color: var(--soft); font-size: .8125rem }
.dot { display: inline-block; width: .6rem; height: .6rem; margin-right: .4rem; border-radius: 2px }
tr:target > *, pre span:target { background: var(--track) }
.more { color: var(--soft); font-size: .875rem }
details { margin: .4rem 0; border: 1px solid var(--rule); border-radius: 8px; background: var(--card) }
summary { padding: .5rem .9rem; cursor: pointer; border-radius: 8px }
details > :not(summary) { margin-inline: .9rem }
pre { overflow-x: auto; padding: .75rem .9rem; margin: 0 0 .9rem; line-height: 1.45; font-size: .8125rem; tab-size: 2;
  background: var(--page); border-radius: 6px }
pre code { font-size: inherit; overflow-wrap: normal; white-space: pre }
figure { margin: .75rem 0 }
.plot { display: grid; grid-template-columns: 5.2rem minmax(0, 1fr) }
.plot svg { display: block; width: 100%; font-size: 11px }
.plot .boxes { grid-column: 2; outline: 1px solid var(--rule); background: var(--card) }
.plot .times { grid-column: 2 }
.plot text { fill: var(--soft) } .plot .bytes text { text-anchor: end } .plot .times text { text-anchor: middle }
.plot .grid { stroke: var(--rule) }
.boxes rect { stroke: var(--card); stroke-width: 2px }
.boxes text { fill: #14161a; font-size: 12px } .boxes text.size { font-size: 11px }
rect.kernel, i.box.kernel { fill: #9cc4ea; background: #9cc4ea }
rect.call, i.box.call { fill: #f2c48d; background: #f2c48d }
rect.host, i.box.host { fill: #f2a9ba; background: #f2a9ba }
rect.copy, i.box.copy { fill: #aed7ae; background: #aed7ae }
rect.work, i.box.work { fill: #d8c7ae; background: #d8c7ae }
rect.other, i.box.other { fill: #c6c9d3; background: #c6c9d3 }
figcaption { color: var(--soft); font-size: .8125rem; margin-top: .25rem }
figcaption span { display: inline-block; margin: 0 1.2em 0 .4em }
i.box { display: inline-block; width: 1em; height: .75em; margin-right: .4em; border: 1px solid var(--other) }
footer { margin-top: 3rem; color: var(--soft); font-size: .8125rem; border-top: 1px solid var(--rule) }
@media (max-width: 48rem) {
  body { padding-inline: .9rem }
  header { padding-top: 1.25rem }
  h1 { font-size: 1.1rem }
  .wide { display: none }
  .figures { grid-template-columns: 1fr 1fr; gap: .5rem }
  .figures dd { font-size: 1.0625rem }
  .plot { grid-template-columns: 4.4rem minmax(0, 1fr) }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .stack, .stack tbody, .stack caption { display: block }
  .stack tr { display: grid; grid-template-columns: 1fr 1fr; gap: .3rem .9rem; margin: .6rem 0; padding: .6rem .8rem;
    background: var(--card); border: 1px solid var(--rule); border-radius: 8px }
  .stack th, .stack td, .stack tbody tr:last-child > * { display: block; min-width: 0; padding: 0; border: 0 }
  .stack tbody th, .stack td { grid-column: 1 / -1 }
  .stack tbody tr > td:empty { display: none }
  .stack td::before { content: attr(data-label) / ""; display: block; color: var(--soft); font-size: .75rem }
  .steps td:nth-child(n + 4) { grid-column: auto }
  .steps td:nth-child(-n + 3)::before { display: none }
  .steps .bar { width: 100% }
}
@media print { :root { color-scheme: light } body { max-width: none; font-size: 10pt } nav, .skip { display: none }
  tr, figure, .reasons li { break-inside: avoid }
  .bar i, rect, i.box, .dot { print-color-adjust: exact; -webkit-print-color-adjust: exact } }
@media (forced-colors: active) { .bar i { background: CanvasText } .bar { border: 1px solid CanvasText } }
"""
