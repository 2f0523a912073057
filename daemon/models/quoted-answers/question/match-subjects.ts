/** Finds the settings, and the items and sections about options and functions, that a question names. */
import { classifyConfigLine } from '../../../language/classify-config-line.ts'
import type { Block, Part } from '../parse-passage.ts'
import { createNameMatcher } from './match-names.ts'

interface PartSet {
  /** Headings above the content. */
  headings: string
  content: string
  blocks: readonly Block[]
  parts: readonly Part[]
}

/** Another one is the answer: "Which option overrides --foo?" */
const ASKS_FOR_OTHER =
  /\b(?:which|what|another|other)\s+(?:\w+\s+)?(?:option|flag|switch|setting|property|function|method|parameter|field)/i
const OPTION = /(?<![\p{L}\p{N}-])--?[a-z][\w-]*/giu
/** An item that describes options: "- `-m`/`--method METHOD`: …". */
const OPTION_ITEM = /^\s*(?:[-*+]\s+)?(?:[`*]*--?[a-z][\w-]*[`*]*[\s,/|]{0,3})+/i
/** An item that describes a setting, property or function: "- `time.isoTime`: …". */
const NAME_ITEM = /^\s*[-*+]\s+[`*]*((?:[\w$]+\.)*([a-z$][\w$]*))(?:\([^)\n]{0,200}\))?[`*]*(?:\s|:|$)/i
/** Other words may be the beginning of a sentence. */
const IS_NAME = /[a-z][A-Z]|_|\./
/** "`server.maxHeaderSize`", "depthLimit (Number)", "SESSION_COOKIE_NAME", "--keep-last", ".hijack()" */
const HEADING_NAME = /^[#\s]*([`*]{0,3})\.?(?:[\w$]+\.)*(-{0,2}[a-z][\w$-]*)(\()?/i
/** As a heading, "macOS", "iPhone" or "GitHub" is a product, and "team.txt" a file. */
const IS_HEADING_NAME = /_|^--|^[a-z]{2,}(?:[A-Z][a-z\d]+)+$|^(?:[A-Z][a-z\d]+){3,}$/
const SETTING_NAME = /^[\s#;/]*([\w.$-]+)/
const ASKS_STATE = /\b(?:on|off|enabled|disabled|active|inactive)(?: by default)?\W*$/i
const SWITCH = /[\s=:](?:yes|no|on|off|true|false)\s*$/i
/** "Is append only persistence on by default?" is about a switch with most of these words. */
const MIN_SWITCH_SHARE = 0.5

type MatchName = ReturnType<typeof createNameMatcher>

/** Returns the names of the option that an item describes. */
export const findOption = ({ block }: Pick<Part, 'block'>, content: string): string | undefined =>
  block.kind === 'item' ? OPTION_ITEM.exec(content.slice(block.start, block.end))?.[0] : undefined

/** Returns true for the settings with the name in the question, and false for settings, items and sections with other names. */
export function matchSubjects(question: string, sets: readonly PartSet[]): Map<Part, boolean> {
  if (ASKS_FOR_OTHER.test(question)) return new Map()
  const matchName = createNameMatcher(question)
  return new Map([...matchSettings(question, matchName, sets), ...findOthers(question, matchName, sets)])
}

function matchSettings(question: string, matchName: MatchName, sets: readonly PartSet[]): [Part, boolean][] {
  const asksState = ASKS_STATE.test(question)
  const matchLine = (line: string) => {
    const name = classifyConfigLine(line, '', '').kind === 'setting' ? SETTING_NAME.exec(line)?.[1] : undefined
    return name === undefined ? 0 : matchName(name, asksState && SWITCH.test(line) ? MIN_SWITCH_SHARE : undefined)
  }
  const settings = sets.flatMap(({ content, parts }) =>
    parts
      .filter(({ block }) => block.kind === 'setting')
      .map((part) => ({ part, count: Math.max(...content.slice(part.start, part.end).split('\n').map(matchLine)) })),
  )
  const most = settings.reduce((max, { count }) => Math.max(max, count), 0)
  return most > 0 ? settings.map(({ part, count }) => [part, count === most]) : []
}

/** Returns the parts of items and sections about names that the question lacks, if others are about a name that it has. */
function findOthers(question: string, matchName: MatchName, sets: readonly PartSet[]): [Part, false][] {
  const names = (question.match(/[\w$]+/g) ?? []).filter((word) => IS_NAME.test(word))
  const asked = new Set([...(question.match(OPTION) ?? []), ...names])
  const match = (name: string) => (asked.size === 0 ? matchName(name) : Number(asked.has(name)))
  const described = sets.flatMap((set) => {
    const counts = listSubjects(set).map((subjects) => subjects?.reduce((sum, name) => sum + match(name), 0))
    return set.parts.flatMap((part) => {
      const count = counts[part.blockIndex]
      return count === undefined ? [] : [{ part, count }]
    })
  })
  const most = described.reduce((max, { count }) => Math.max(max, count), 0)
  return most > 0 ? described.flatMap(({ part, count }) => (count < most ? [[part, false]] : [])) : []
}

/** Returns the names that each block of text and the section around it describe; undefined if there are none. */
function listSubjects({ headings, content, blocks }: PartSet): (string[] | undefined)[] {
  let section = readHeading(headings.trim().split(' › ').at(-1) ?? '')
  return blocks.map((block) => {
    const text = content.slice(block.start, block.end)
    if (block.kind === 'heading') section = readHeading(text)
    const item = block.kind === 'item' ? readItem(block, content) : undefined
    if (item) return [...item, ...(section ?? [])]
    return /^(?:text|item|heading)$/.test(block.kind) ? section : undefined
  })
}

function readHeading(heading: string): string[] | undefined {
  const [, mark = '', name = '', call] = HEADING_NAME.exec(heading) ?? []
  return name !== '' && (mark.includes('`') || call !== undefined || IS_HEADING_NAME.test(name)) ? [name] : undefined
}

function readItem(block: Block, content: string): string[] | undefined {
  const options = findOption({ block }, content)?.match(OPTION)
  if (options) return options
  const [, path = '', name = ''] = NAME_ITEM.exec(content.slice(block.start, block.end)) ?? []
  return IS_NAME.test(path) ? [name] : undefined
}
