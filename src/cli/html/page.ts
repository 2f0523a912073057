/** A report as one HTML file: no scripts, nothing loaded from elsewhere, light and dark. */
import { createHash } from 'node:crypto'
import { version } from '../../version.ts'
import { Html, html } from './html.ts'
import { STYLES } from './styles.ts'

/** Only the style sheet of the page is allowed, by its hash: markup that got in despite the escaping could load and run nothing. */
const createPolicy = () =>
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLES).digest('base64')}'; base-uri 'none'; form-action 'none'`

export interface Page {
  title: string
  /** Line below the title. */
  subtitle: string
  body: readonly Html[]
}

export function formatPage({ title, subtitle, body }: Page, now = new Date()): string {
  const created = `${now.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${createPolicy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Html(STYLES)}</style>
</head>
<body>
<header>
<h1 dir="auto">${title}</h1>
<p class="quiet" dir="auto">${subtitle}</p>
</header>
<main>
${body}
</main>
<footer class="quiet">Created ${created} with Cadre ${version}</footer>
</body>
</html>
`.markup
}
