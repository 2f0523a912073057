/** Rules of .gitignore files, those of deeper folders over those above, as git reads them. */
import ignore, { type Ignore } from 'ignore'

// git compares names as the file system does.
const ignorecase = process.platform === 'darwin' || process.platform === 'win32'

/** A copy without what the original remembers: every path it was asked about stays in it, and trees are large. */
export function copyRules(rules: Ignore | undefined): Ignore | undefined {
  return rules && ignore({ ignorecase }).add(rules)
}

/** The rules above with those that a .gitignore in `folder` ('' is the root) adds. */
export function addRules(above: Ignore | undefined, folder: string, text: string): Ignore {
  const rules = ignore({ ignorecase })
  if (above) rules.add(above)
  return rules.add(
    text
      .replace(/^\ufeff/, '')
      .split(/\r?\n/)
      .map((line) => anchorRule(line, folder)),
  )
}

/** One list for all levels keeps git's order (the last rule that matches wins) only if every rule says where it holds. */
function anchorRule(line: string, folder: string): string {
  if (folder === '' || line.startsWith('#') || line.trim() === '') return line
  const negative = line.startsWith('!')
  const pattern = negative ? line.slice(1) : line
  const anchored = /\/(?!\s*$)/.test(pattern)
  const place = folder.replaceAll(/[\\*?[\]!# ]/g, '\\$&')
  return `${negative ? '!' : ''}/${place}/${anchored ? '' : '**/'}${pattern.replace(/^\//, '')}`
}
