/** Who may call what, from the contract: the text of docs/roles.md. */
import { ACCESS, type Access, type Route } from '../src/contract/route.ts'
import { ALL_ROUTES } from '../src/contract/routes.ts'

const ROLES = ['admin', 'editor', 'member', 'viewer'] as const

export function rolesDocument(): string {
  const groups = new Map<string, { base: string; access: Access; routes: Route[] }>()
  for (const route of ALL_ROUTES) {
    const base = `/${route.path.split('/')[1]}`
    const key = `${base} ${route.access}`
    const group = groups.get(key) ?? { base, access: route.access, routes: [] }
    groups.set(key, { ...group, routes: [...group.routes, route] })
  }
  const rows = [...groups.values()].map(({ base, access, routes }) => {
    const cells = ROLES.map((role) => (access === 'open' ? 'no token' : (ACCESS[access] as readonly string[]).includes(role) ? 'yes' : ''))
    return `| \`${base}\` | ${calls(base, routes)} | ${cells.join(' | ')} |`
  })
  return `# Roles

Written by \`npm run openapi\` from the contract; for each route, \`x-roles\` in [openapi.json](openapi.json) says the same. Paths are below \`/api\`, and \`…\` stands for an identifier. What a role may do within a call is told in [the guide](guides/rest.md#roles).

| Path | Calls | ${ROLES.join(' | ')} |
|---|---|${'---|'.repeat(ROLES.length)}
${rows.join('\n')}
`
}

/** Each path once, with its methods. */
function calls(base: string, routes: readonly Route[]): string {
  const methods = new Map<string, string[]>()
  for (const { path, method } of routes) {
    const below = path.slice(base.length).replaceAll(/\{\w+\}/g, '…')
    methods.set(below, [...(methods.get(below) ?? []), method])
  }
  return [...methods].map(([below, names]) => `${names.join(', ')}${below === '' ? '' : ` \`${below}\``}`).join('; ')
}
