/** Templates as text: which variables they hold, and filling them in. */

const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_.-]{0,99})\s*\}\}/g

/** The variables of a template, in the order of their first use. */
export function listVariables(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name]) => name as string))]
}

/** Fills a template in one pass, so that a value is text and never a template itself. */
export function renderTemplate(template: string, values: Record<string, unknown>): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string) => formatValue(values[name]))
}

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
