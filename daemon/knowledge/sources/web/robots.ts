/** What a site's robots.txt lets programs like us read, by RFC 9309. */

interface Rule {
  allow: boolean
  /** The pattern's text between its stars. */
  parts: string[]
  isAnchored: boolean
  length: number
}

export interface Robots {
  isAllowed(address: string): boolean
  /** Seconds between requests that the site asks for. */
  crawlDelay: number
}

export const ALLOW_ALL: Robots = { isAllowed: () => true, crawlDelay: 0 }
const USER_AGENT = 'cadre'

export function parseRobots(text: string): Robots {
  const groups = new Map<string, { rules: Rule[]; delay: number }>()
  let agents: string[] = []
  let collecting = false
  for (const line of text.replace(/^\ufeff/, '').split(/[\r\n]+/)) {
    const [, key = '', value = ''] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*)/.exec(line) ?? []
    const field = key.toLowerCase()
    if (field === 'user-agent') {
      agents = collecting ? [...agents, value.trim().toLowerCase()] : [value.trim().toLowerCase()]
      collecting = true
      for (const agent of agents) if (!groups.has(agent)) groups.set(agent, { rules: [], delay: 0 })
    } else if (field === 'allow' || field === 'disallow' || field === 'crawl-delay') {
      collecting = false
      for (const agent of agents) addRule(groups.get(agent), field, value.trim())
    }
  }
  const group = groups.get(USER_AGENT) ?? groups.get('*')
  if (!group) return ALLOW_ALL
  return { isAllowed: (address) => isPathAllowed(group.rules, address), crawlDelay: group.delay }
}

function addRule(group: { rules: Rule[]; delay: number } | undefined, field: string, value: string): void {
  if (!group || value === '') return
  if (field === 'crawl-delay') {
    group.delay = Math.max(group.delay, Number(value) || 0)
    return
  }
  const pattern = value.replace(/\$$/, '').replaceAll(/[^\x00-\x7f]+/g, encodeURIComponent)
  group.rules.push({ allow: field === 'allow', parts: pattern.split('*'), isAnchored: value.endsWith('$'), length: value.length })
}

/** The longest pattern decides; of two equally long, the one that allows. */
function isPathAllowed(rules: readonly Rule[], address: string): boolean {
  const { pathname, search } = new URL(address)
  const path = pathname + search
  if (path === '/robots.txt') return true
  let deciding: Rule | undefined
  for (const rule of rules) {
    if (!matchesRule(rule, path)) continue
    if (!deciding || rule.length > deciding.length || (rule.length === deciding.length && rule.allow)) deciding = rule
  }
  return deciding?.allow ?? true
}

/** Part after part from the left, which for stars is enough and takes no backtracking. */
function matchesRule({ parts, isAnchored: toEnd }: Rule, path: string): boolean {
  const [first = '', ...rest] = parts
  if (!path.startsWith(first)) return false
  let at = first.length
  const last = toEnd ? rest.pop() : undefined
  for (const part of rest) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  if (!toEnd) return true
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last)
}
