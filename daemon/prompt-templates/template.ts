/** Parses and renders template text. */

/** Letters of every script, with their combining marks. */
const PLACEHOLDER = /\{\{\s*([\p{L}_][\p{L}\p{M}\p{N}_.-]{0,99})\s*\}\}/gu

/** The same word can be written with composed letters or with combining marks. */
export const normalizeName = (name: string): string => name.normalize('NFC')

/** Lists the variables in the order of their first use. */
export function listVariables(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name]) => normalizeName(name as string)))]
}

/**
 * Renders in one pass, so that placeholders within values are not replaced. Placeholders that are not variables of the template
 * remain: earlier versions stored {{größe}} as text.
 */
export function renderTemplate(template: string, variables: readonly string[], values: Record<string, unknown>): string {
  return template.replaceAll(PLACEHOLDER, (placeholder, given: string) => {
    const name = normalizeName(given)
    return variables.includes(name) ? formatValue(values[name]) : placeholder
  })
}

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
