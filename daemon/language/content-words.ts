/** Extracts the stemmed content words of questions and sentences, in any script. */
import { segmentText } from '../../src/segment-text.ts'

/** Words that are in very many texts and say nothing about them, so that searching for them takes long. Not those that are also names. */
const FREQUENT_WORDS = `a about all also an and any are as at be been being but by could did do does each for from had has have he
  her his how i if in into is it its me my no not of on or our out she should so some such than that the their them then there these
  they this those to up very was we were what when where which why will with would you your
  的 了 是 在 和 は が を に の と で`.split(/\s+/)
const STOP_WORDS = new Set([
  ...FREQUENT_WORDS,
  ...`am can define describe explain just let many may mean might much must off one other over own s shall somebody someone t too us
  use used using way who whom whose
  有 与 及 被 由 于 这 那 其 之 个 些 吗 呢 吧 什么 甚么 谁 哪里 哪儿 哪 哪个 哪些 哪年 多少 几 何时 何地 何 如何
  怎么 怎样 怎么样 怎 么 为什么 为何 时候 什么时候 多 的是 是什么
  も か です ます した する いる ある 誰 どこ いつ なぜ どう どの いくら
  อะไร ใคร ที่ไหน เมื่อไร เท่าไร ทำไม อย่างไร ที่ ของ และ เป็น คือ ใน มี`.split(/\s+/),
])

const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' })

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u

/** Joins consecutive single characters to overlapping pairs: they are usually a name that the segmenter does not know. */
export function joinSingleCharacters(words: readonly string[]): string[] {
  const isSingle = (word: string | undefined) => word !== undefined && [...word].length === 1 && UNSPACED.test(word)
  return words.flatMap((word, index) => {
    if (!isSingle(word)) return [word]
    if (isSingle(words[index + 1])) return [`${word}${words[index + 1]}`]
    return isSingle(words[index - 1]) ? [] : [word]
  })
}

/** In scripts without spaces, the text may be segmented differently than the question. */
export const containsWord = (text: string, words: ReadonlySet<string>, word: string): boolean =>
  words.has(word) || (text.includes(word) && UNSPACED.test(word))

/** Returns the stemmed words of a text without stop words, in order. */
export function extractContentWords(text: string): string[] {
  const segments = segmentWords(text.toLowerCase())
  // RATE_LIMIT counts as a word, and so do its parts.
  const words = segments.flatMap((segment) =>
    segment.includes('_') ? [segment, ...segment.split(/_+/).filter(Boolean)] : [segment.replace(/['’]s?$/, '')],
  )
  return words.flatMap((word) => (STOP_WORDS.has(word) ? [] : [stem(word)]))
}

/** Returns the words of a tokenized query without the most frequent ones, unless it has no others: their lists are long to search. */
export function selectQueryWords(tokens: string): string {
  const needed = tokens.split(' ').filter((word) => !FREQUENT_WORDS.includes(word))
  return needed.length === 0 ? tokens : needed.join(' ')
}

/** Uses a regular expression for scripts with spaces, which is several times as fast as the segmenter. */
function segmentWords(text: string): string[] {
  if (UNSPACED.test(text))
    return Array.from(segmentText(WORDS, text), ({ segment, isWordLike }) => (isWordLike ? segment : '')).filter((word) => word !== '')
  return text.match(/[\p{L}\p{M}\p{N}_]+(?:['’.](?=[\p{L}\p{N}])[\p{L}\p{M}\p{N}_]+)*/gu) ?? []
}

/** A minimal English stemmer; the search index has a complete one. */
export function stem(word: string): string {
  if (word.length < 3) return word
  const bare = word
    .replace(/(?<=..)ie[sd]$/, 'y')
    .replace(/(?<=..[^s])s$/, '')
    .replace(/(?<=...)(?:ing|ed|er|ation)$/, '')
    .replace(/(?<=..)e$/, '')
  return bare.replace(/([bdgklmnprt])\1$/, '$1').replace(/y$/, 'i')
}

const FOREIGN = new Set(
  `wie wer wem wen wessen wo wann warum welche welcher welches welchem welchen ist sind wurde wurden hat hatte waren der das dem des im
  ein eine einem einen einer ich wir kann muss darf habe haben gibt für nicht und von zu mit auf bei
  comment quel quelle quels quelles est les des une où pourquoi combien quand je nous qui que dans du au aux avec pour sur été
  cómo qué cuál cuáles cuándo dónde quién quiénes cuánto cuántos cuánta cuántas es el la los las una puedo hay para por con del al se fue
  come quale quali quando dove chi perché sono il gli posso della
  como qual quais onde quem quanto são os um uma não
  hoe wat waar wanneer welke het een ik wij moet van voor de en le`.split(/\s+/),
)
/** English words that other languages have too, so that they say nothing: "in welchem Jahr", "llegó a Roma". */
const SHARED = new Set('a also am an as has he her in me no of on one so was will'.split(' '))

/** Whether a question in the Latin script has words that only English has, or no words of other languages. */
export function isEnglish(question: string): boolean {
  const words = question.toLowerCase().match(/\p{L}+/gu) ?? []
  const isEnglishWord = (word: string) => STOP_WORDS.has(word) && !SHARED.has(word) && !FOREIGN.has(word)
  return words.some(isEnglishWord) || !words.some((word) => FOREIGN.has(word))
}

const ENGLISH = new Set('and are be by for from has have is it not of or that the this to was were which will with you'.split(' '))
/** Words of other languages that neither English nor configuration files contain. */
const FUNCTION_WORDS = new Set(
  `auch auf bei das dem der ein eine einem einen einer für ist mit nicht oder sich sind und von werden wird zu
  avec dans des est et les pour qui sur une del las los para por que una che della gli sono não uma een het van voor`.split(/\s+/),
)

/** Removes the stop words of other languages. In English questions, some of them are content words: "hat", "van", "pour". */
export function removeForeignStopWords(question: string): string {
  if (isEnglish(question)) return question
  const isStopWord = (word: string) => FOREIGN.has(word) || FUNCTION_WORDS.has(word)
  return question.replaceAll(/[\p{L}\p{M}]+/gu, (word) => (isStopWord(word.toLowerCase()) ? '' : word))
}

/** Of a text, the first characters are enough. */
const MAX_SAMPLE_LENGTH = 2_000
const MIN_FUNCTION_WORDS = 3

/** Whether a question is in English and the text in another language, or the reverse. Tables and code have no language. */
export function isOtherLanguage(question: string, text: string): boolean {
  // Names say nothing about the language: "Van Dijk", "Los Angeles".
  const words = text.slice(0, MAX_SAMPLE_LENGTH).match(/(?<![\p{L}\p{M}])\p{Ll}+(?![\p{L}\p{M}])/gu) ?? []
  const [english, foreign] = [ENGLISH, FUNCTION_WORDS].map((set) => words.filter((word) => set.has(word))) as [string[], string[]]
  // Nor does one word that is repeated, such as the "van" in a list of tasks.
  const isText = (own: readonly string[], other: readonly string[]) =>
    own.length >= MIN_FUNCTION_WORDS && new Set(own).size > 1 && own.length > 2 * other.length
  return isEnglish(question) ? isText(foreign, english) : isText(english, foreign)
}
