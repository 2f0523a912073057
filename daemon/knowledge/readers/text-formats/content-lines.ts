/** Reads the lines of calendars and contacts: `NAME;PARAMETER=VALUE:VALUE`, folded over several lines. */
import { decodeQuotedPrintable } from '../mail/decode-words.ts'

export interface ContentLine {
  /** In upper case, without a group. */
  name: string
  parameters: string
  value: string
}

/** Longer values are pictures and attachments. */
const MAX_LINE_LENGTH = 100_000

export function* readContentLines(source: string): Generator<ContentLine> {
  let line = ''
  for (const next of source.split('\n')) {
    // vCard 2.1 continues quoted-printable text with an equals sign at the end.
    const isContinued = /^[ \t]/.test(next) || (line.endsWith('=') && /;ENCODING=QUOTED-PRINTABLE/i.test(line))
    if (isContinued) line = line.length > MAX_LINE_LENGTH ? line : line.replace(/=$/, '') + next.replace(/^[ \t]/, '')
    else {
      yield* parseLine(line)
      line = next
    }
  }
  yield* parseLine(line)
}

function* parseLine(line: string): Generator<ContentLine> {
  if (line.length > MAX_LINE_LENGTH) return
  const [, group, parameters = '', value = ''] = /^(?:[\w-]+\.)?([\w-]+)((?:;(?:"[^"]*"|[^":])*)?):(.*)$/s.exec(line) ?? []
  if (group === undefined) return
  const isEncoded = /;ENCODING=QUOTED-PRINTABLE/i.test(parameters)
  const text = isEncoded ? decodeQuotedPrintable(Buffer.from(value)).toString('utf8') : value
  yield { name: group.toUpperCase(), parameters, value: text }
}

/** Resolves the escapes of commas, semicolons and newlines. */
export const decodeValue = (value: string): string =>
  value.replaceAll(/\\([nN,;\\])/g, (_, mark: string) => (/n/i.test(mark) ? '\n' : mark)).trim()

/** Splits at semicolons that are not escaped. */
export const splitValue = (value: string): string[] => value.split(/(?<!\\);/).map(decodeValue)

export const getParameter = (parameters: string, name: string): string | undefined =>
  new RegExp(`;${name}=(?:"([^"]*)"|([^;:]*))`, 'i')
    .exec(parameters)
    ?.slice(1)
    .find((value) => value !== undefined)
