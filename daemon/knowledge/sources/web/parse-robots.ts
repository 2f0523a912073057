/** Parses robots.txt (RFC 9309). */
import { matchesWildcards } from '../../../core/match-wildcards.ts'

interface Rule {
  allow: boolean
  /** Ends with a star unless it must match to the end of the path. */
  pattern: string
  /** As written. */
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
  const pattern = value.endsWith('$') ? value.slice(0, -1) : `${value}*`
  group.rules.push({ allow: field === 'allow', pattern: pattern.replaceAll(/[^\x00-\x7f]+/g, encodeURIComponent), length: value.length })
}

/** The longest matching pattern wins; of two equally long ones, the one that allows. */
function isPathAllowed(rules: readonly Rule[], url: string): boolean {
  const { pathname, search } = new URL(url)
  const path = pathname + search
  if (path === '/robots.txt') return true
  let winner: Rule | undefined
  for (const rule of rules) {
    if (!matchesWildcards(rule.pattern, path)) continue
    if (!winner || rule.length > winner.length || (rule.length === winner.length && rule.allow)) winner = rule
  }
  return winner?.allow ?? true
}
