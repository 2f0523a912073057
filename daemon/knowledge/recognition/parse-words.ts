/** Turns the words that Tesseract found into text. */

export interface RecognizedText {
  text: string
  /** Mean confidence of the words, from 0 to 100. */
  confidence: number
  /** Letters and digits in words that are most likely right. */
  certainCharacters: number
}

/** Lines below this confidence come from pictures and stains. */
const MIN_LINE_CONFIDENCE = 30
const MIN_CERTAIN_CONFIDENCE = 60

interface Line {
  paragraph: string
  words: { text: string; confidence: number }[]
}

/** @param table Tesseract's table of words: tab-separated, one row per page, block, paragraph, line and word */
export function parseWords(table: string): RecognizedText {
  const lines = readLines(table).filter(({ words }) => computeMean(words) >= MIN_LINE_CONFIDENCE)
  let text = ''
  let paragraph = ''
  for (const line of lines) {
    if (text !== '') text += line.paragraph === paragraph ? '\n' : '\n\n'
    text += line.words.map((word) => word.text).join(' ')
    paragraph = line.paragraph
  }
  const words = lines.flatMap((line) => line.words)
  const certain = words.filter((word) => word.confidence >= MIN_CERTAIN_CONFIDENCE && /[\p{L}\p{N}]{2}/u.test(word.text))
  return {
    text,
    confidence: words.length === 0 ? 0 : Math.round(computeMean(words)),
    certainCharacters: certain.reduce((sum, word) => sum + word.text.length, 0),
  }
}

function readLines(table: string): Line[] {
  const lines = new Map<string, Line>()
  for (const row of table.split('\n')) {
    const [level, page, block, paragraph, line, , , , , , confidence, ...text] = row.split('\t')
    if (level !== '5') continue
    const word = text.join(' ').trim()
    if (word === '') continue
    const place = `${page} ${block} ${paragraph}`
    const key = `${place} ${line}`
    const found = lines.get(key) ?? { paragraph: place, words: [] }
    found.words.push({ text: word, confidence: Number(confidence) })
    lines.set(key, found)
  }
  return [...lines.values()]
}

const computeMean = (words: readonly { confidence: number }[]) =>
  words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(words.length, 1)
