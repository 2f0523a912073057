/** Parses and renders template text. */

const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_.-]{0,99})\s*\}\}/g

/** Lists the variables in the order of their first use. */
export function listVariables(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name]) => name as string))]
}

/** Renders in one pass, so that placeholders within values are not replaced. */
export function renderTemplate(template: string, values: Record<string, unknown>): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string) => formatValue(values[name]))
}

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
