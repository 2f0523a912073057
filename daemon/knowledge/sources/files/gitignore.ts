/** Combines the rules of .gitignore files of all folder levels. */
import ignore, { type Ignore } from 'ignore'

// Like git: case-insensitive on file systems that usually are.
const ignorecase = process.platform === 'darwin' || process.platform === 'win32'

/** Copies rules without their cache, which keeps every checked path. */
export function copyRules(rules: Ignore | undefined): Ignore | undefined {
  return rules && ignore({ ignorecase }).add(rules)
}

/** Adds the rules of the .gitignore in `folder` ('' is the root) to those of its parents. */
export function addRules(parent: Ignore | undefined, folder: string, text: string): Ignore {
  const rules = ignore({ ignorecase })
  if (parent) rules.add(parent)
  return rules.add(
    text
      .replace(/^\ufeff/, '')
      .split(/\r?\n/)
      .filter((line) => !isSlow(line))
      .map((line) => anchorRule(line, folder)),
  )
}

/** How often a rule may match any number of folders. With three, a path of 200 folders takes seconds. */
const MAX_ANY_FOLDERS = 2

/** The library turns rules into regular expressions, whose backtracking could take forever. No real rule has as many stars. */
function isSlow(line: string): boolean {
  const hasManyStars = line.split('/').some((segment) => (segment.match(/\*+/g)?.length ?? 0) > 3)
  return hasManyStars || (line.match(/\*\*\//g)?.length ?? 0) > MAX_ANY_FOLDERS
}

/** Anchors a rule to its folder. A single list then keeps git's order: the last matching rule wins. */
function anchorRule(line: string, folder: string): string {
  if (folder === '' || line.startsWith('#') || line.trim() === '') return line
  const isNegated = line.startsWith('!')
  const pattern = isNegated ? line.slice(1) : line
  const isAnchored = /\/(?!\s*$)/.test(pattern)
  const prefix = folder.replaceAll(/[\\*?[\]!# ]/g, '\\$&')
  return `${isNegated ? '!' : ''}/${prefix}/${isAnchored ? '' : '**/'}${pattern.replace(/^\//, '')}`
}
