/** What a question asks for, as far as its words tell, and which of them say what it is about. */

export interface QuestionAnalysis {
  /** Its words that mean something, stemmed. */
  words: readonly string[]
  kind: QuestionKind
  /** Of a definition: the words of what is to be defined, in their order. */
  subject: readonly string[]
}

/** A definition ("What is X?"), a way to do something ("How do I …?"), an amount, how long or how often, a moment, somebody; or none that words tell. */
export type QuestionKind = 'definition' | 'way' | 'amount' | 'duration' | 'moment' | 'person' | 'other'

const WAY =
  /^\W*(?:(?:how|where) (?:do|can|could|should|would|must|may|shall|might) (?:i|we|you|one|people|somebody|someone)\b|how to\b|(?:what is|what's) the (?:best )?(?:way|command) to\b)/i
const DEFINITION =
  /^\W*(?:(?:what|who)(?:'s|’s| is| are| was| were)|what does|what do|define|explain|describe|meaning of) (.{1,80}?)(?: (?:mean|do|stand for|all about|about))?\W*$/i
const AMOUNT =
  /\b(?:how (?:many|much|old|far|tall|large|big|high|fast|deep|heavy|wide)|(?:what|which) (?:percent|percentage|number|amount|share|size|port)|maximum|minimum)\b/i
const DURATION = /\bhow (?:long|often|soon|frequently)\b/i
const MOMENT = /\bwhen\b|\b(?:what|which) (?:year|years|date|day|month|century|decade|time)\b/i
const PERSON = /^\W*(?:who|whom|whose)\b/i

export function analyzeQuestion(question: string): QuestionAnalysis {
  const text = question.trim()
  const words = [...new Set(joined(extractContentWords(text)))]
  const subject = extractContentWords(DEFINITION.exec(text)?.[1] ?? '')
  const kind = WAY.test(text)
    ? 'way'
    : DURATION.test(text)
      ? 'duration'
      : AMOUNT.test(text)
        ? 'amount'
        : MOMENT.test(text)
          ? 'moment'
          : subject.length > 0 && subject.length <= 4 && subject.length === words.length
            ? 'definition'
            : PERSON.test(text)
              ? 'person'
              : 'other'
  return { words, kind, subject: kind === 'definition' ? subject : [] }
}

/** Words of questions and of every sentence, which say nothing of what it is about. */
const COMMON = new Set(
  `a about all also am an and any are as at be been being but by can could define describe did do does each explain for from had has have he her his how i if in into is it its
  just let many may me mean might much must my no not of off on one or other our out over own s shall she should so some somebody someone such t than that the
  their them then there these they this those to too up us use used using very was way we were what when where which who whom whose why will with would you your
  的 了 是 在 有 和 与 及 被 由 于 这 那 其 之 个 些 吗 呢 吧 什么 甚么 谁 哪里 哪儿 哪 哪个 哪些 多少 几 何时 何地 何 如何 怎么 怎样 怎么样 为什么 为何 怎 么 哪年 时候 什么时候 多 么
  は が を に の と で も か です ます した する いる ある 何 誰 どこ いつ なぜ どう どの いくら 的是 是什么 อะไร ใคร ที่ไหน เมื่อไร เท่าไร ทำไม อย่างไร ที่ ของ และ เป็น คือ ใน มี`.split(
    /\s+/,
  ),
)

const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' })

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u

/** Single characters that follow each other are most often a name that no dictionary has: it is known by its pairs. */
function joined(words: readonly string[]): string[] {
  const single = (word: string | undefined) => word !== undefined && [...word].length === 1 && UNSPACED.test(word)
  return words.flatMap((word, at) => {
    if (!single(word)) return [word]
    if (single(words[at + 1])) return [`${word}${words[at + 1]}`]
    return single(words[at - 1]) ? [] : [word]
  })
}

/** Where no spaces stand between words, they may be told apart otherwise in the question than in the text. */
export const containsWord = (text: string, words: ReadonlySet<string>, word: string): boolean =>
  words.has(word) || (UNSPACED.test(word) && text.includes(word))

/** The words that mean something, in their order, so far stemmed that most forms of a word meet. */
export function extractContentWords(text: string): string[] {
  const segments = segmentsOf(text.toLowerCase())
  // A name such as RATE_LIMIT is a word, and so are its parts.
  const words = segments.flatMap((segment) =>
    segment.includes('_') ? [segment, ...segment.split(/_+/).filter(Boolean)] : [segment.replace(/['’]s?$/, '')],
  )
  return words.flatMap((word) => (COMMON.has(word) ? [] : [stem(word)]))
}

/** Where there are spaces, several times as fast as the segmenter, with much the same words. */
function segmentsOf(text: string): string[] {
  if (UNSPACED.test(text)) return [...WORDS.segment(text)].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []))
  return text.match(/[\p{L}\p{M}\p{N}_]+(?:['’.](?=[\p{L}\p{N}])[\p{L}\p{M}\p{N}_]+)*/gu) ?? []
}

/** The search itself has a real stemmer. */
function stem(word: string): string {
  if (word.length < 3) return word
  const bare = word
    .replace(/(?<=..)ie[sd]$/, 'y')
    .replace(/(?<=..[^s])s$/, '')
    .replace(/(?<=...)(?:ing|ed|er|ation)$/, '')
    .replace(/(?<=..)e$/, '')
  return bare.replace(/([bdgklmnprt])\1$/, '$1').replace(/y$/, 'i')
}
