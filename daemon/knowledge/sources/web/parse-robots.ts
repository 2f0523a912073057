/** Parses robots.txt (RFC 9309). Matching takes linear time, because patterns come from remote sites. */

interface Rule {
  allow: boolean
  /** The pattern, split at its stars. */
  parts: string[]
  isAnchored: boolean
  length: number
}

export interface Robots {
  isAllowed(url: string): boolean
  /** Seconds between two requests. */
  crawlDelay: number
}

export const ALLOW_ALL: Robots = { isAllowed: () => true, crawlDelay: 0 }
const USER_AGENT = 'cadre'

export function parseRobots(text: string): Robots {
  const groups = new Map<string, { rules: Rule[]; delay: number }>()
  let agents: string[] = []
  let isInAgentLines = false
  for (const line of text.replace(/^\ufeff/, '').split(/[\r\n]+/)) {
    const [, key = '', value = ''] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*)/.exec(line) ?? []
    const field = key.toLowerCase()
    if (field === 'user-agent') {
      agents = isInAgentLines ? [...agents, value.trim().toLowerCase()] : [value.trim().toLowerCase()]
      isInAgentLines = true
      for (const agent of agents) if (!groups.has(agent)) groups.set(agent, { rules: [], delay: 0 })
    } else if (field === 'allow' || field === 'disallow' || field === 'crawl-delay') {
      isInAgentLines = false
      for (const agent of agents) addRule(groups.get(agent), field, value.trim())
    }
  }
  const group = groups.get(USER_AGENT) ?? groups.get('*')
  if (!group) return ALLOW_ALL
  return { isAllowed: (url) => isPathAllowed(group.rules, url), crawlDelay: group.delay }
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

/** The longest matching pattern wins; of two equally long ones, the one that allows. */
function isPathAllowed(rules: readonly Rule[], url: string): boolean {
  const { pathname, search } = new URL(url)
  const path = pathname + search
  if (path === '/robots.txt') return true
  let winner: Rule | undefined
  for (const rule of rules) {
    if (!matchesRule(rule, path)) continue
    if (!winner || rule.length > winner.length || (rule.length === winner.length && rule.allow)) winner = rule
  }
  return winner?.allow ?? true
}

/** Matches the parts from left to right, which needs no backtracking. */
function matchesRule({ parts, isAnchored }: Rule, path: string): boolean {
  const [first = '', ...rest] = parts
  if (!path.startsWith(first)) return false
  let index = first.length
  const last = isAnchored ? rest.pop() : undefined
  for (const part of rest) {
    const found = path.indexOf(part, index)
    if (found < 0) return false
    index = found + part.length
  }
  if (!isAnchored) return true
  return last === undefined ? index === path.length : path.length - last.length >= index && path.endsWith(last)
}
