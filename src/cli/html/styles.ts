/** The style sheet of reports, for wide and narrow screens, light and dark, and print. */
export const STYLES = `
:root {
  color-scheme: light dark;
  --text: #1b1f24; --quiet: #59636e; --page: #ffffff; --card: #f6f8fa; --line: #d1d9e0; --accent: #0969da; --bar: #54a0ee;
  --good: #116329; --good-fill: #dafbe1; --bad: #a40e26; --bad-fill: #ffebe9; --warn: #7d4e00; --string: #0a5e2a; --word: #8250df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --quiet: #9ba6b2; --page: #0d1117; --card: #161b22; --line: #30363d; --accent: #6cb2ff; --bar: #2f7fd6;
    --good: #7ee2a0; --good-fill: #12361f; --bad: #ffa198; --bad-fill: #4a1b1d; --warn: #e8b04b; --string: #7ee2a0; --word: #d2a8ff;
  }
}
* { box-sizing: border-box; }
body {
  max-width: 72rem; margin: 0 auto; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere;
}
h1 { margin: .5rem 0 0; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 2rem 0 .5rem; font-size: 1.2rem; }
h3, h4, h5, h6 { margin: 1rem 0 .25rem; font-size: 1rem; }
p { margin: .5rem 0; }
a { color: var(--accent); }
footer { margin-top: 3rem; padding-top: .75rem; border-top: 1px solid var(--line); font-size: .85rem; }
.quiet { color: var(--quiet); }
.good { color: var(--good); }
.bad { color: var(--bad); }
.warn { color: var(--warn); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1rem 0; }
.figures > div { padding: .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); }
.figures dt { color: var(--quiet); font-size: .85rem; }
.figures dd { margin: 0; font-size: 1.15rem; font-weight: 600; }
.figures dd small { display: block; color: var(--quiet); font-size: .85rem; font-weight: 400; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td { min-width: 3.5em; }
th { overflow-wrap: normal; color: var(--quiet); font-size: .85rem; font-weight: 600; }
.number { text-align: right; white-space: nowrap; overflow-wrap: normal; }
.scores td:nth-child(-n+2) { width: 1%; white-space: nowrap; overflow-wrap: normal; }
.share { width: 30%; min-width: 4rem; padding-right: 0; vertical-align: middle; }
.share svg { display: block; width: 100%; height: .75rem; }
.columns { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--line); }
svg rect { fill: var(--bar); }
svg rect.current { fill: var(--word); }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; }
summary { padding: .5rem .75rem; cursor: pointer; }
summary::marker { color: var(--quiet); }
details > :not(summary) { margin-left: .75rem; margin-right: .75rem; }
details > :last-child:not(summary) { margin-bottom: .75rem; }
details details { background: var(--page); }
.case > summary > b { font-weight: 600; }
pre {
  margin: .25rem 0; padding: .5rem .75rem; border-radius: .35rem; background: var(--card); font-size: .85rem;
  white-space: pre-wrap; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em; }
.pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .75rem; }
.pair h4 { margin-top: .5rem; }
ins, del, .added, .removed { text-decoration: none; border-radius: .2rem; }
ins, .added { background: var(--good-fill); color: var(--good); }
del, .removed { background: var(--bad-fill); color: var(--bad); }
.message { margin: 1rem 0; padding: .25rem 1rem .75rem; border: 1px solid var(--line); border-radius: .75rem; }
.message.user { background: var(--card); }
.message h2 { margin: .5rem 0; font-size: 1rem; }
.message h2 time { color: var(--quiet); font-size: .85rem; font-weight: 400; }
.plain { white-space: pre-wrap; }
blockquote { margin: .5rem 0; padding-left: .75rem; border-left: .25rem solid var(--line); color: var(--quiet); white-space: pre-wrap; }
blockquote.prose { white-space: normal; }
hr { border: 0; border-top: 1px solid var(--line); }
.dim { color: var(--quiet); }
.green { color: var(--string); }
.yellow, .cyan { color: var(--accent); }
.magenta { color: var(--word); }
.red { color: var(--bad); }
@media (max-width: 40rem) {
  body { padding: .75rem; }
  .pair { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .figures { grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .5rem; }
  .share { display: none; }
  .message { padding: .25rem .75rem .5rem; }
}
@media print { body { max-width: none; } }
`
