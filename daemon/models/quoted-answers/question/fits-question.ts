/** Checks whether a short answer is of the type that the question word asks for: a person, a time, a quantity, a name. English. */
import { extractContentWords } from '../../../language/content-words.ts'
import { expandQuery } from '../../../language/expand-query.ts'
import { isPlural } from './detect-question-type.ts'

interface ShortAnswer {
  text: string
  /** The quoted text that contains it. */
  quote: string
  /** The quoted text up to the answer. */
  before: string
}

const list = (words: string) => String.raw`\b(?:${words.replaceAll(/\s+/g, '|')})\b`
const NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen ' +
  'twenty thirty forty fifty sixty seventy eighty ninety hundreds? thousands? millions? billions? dozen half twice once quarters?'
/** "16" is a quantity; "'databases'-1" and "GPT-4" are not. */
const QUANTITY = new RegExp(`(?<![\\p{L}'’_]-\\d*)\\d|${list(`${NUMBERS} no(?!\\.) none nothing free unlimited all full`)}`, 'iu')
/** A code such as "CZ-204" is a number, but no quantity. */
const NUMBER = new RegExp(`\\d|${QUANTITY.source}`, 'iu')
/** A number with the two words after it. */
const COUNT = new RegExp(String.raw`(?<![\p{L}\p{N}.,])(?:\d+(?:[.,]\d+)*|${list(NUMBERS)})\s*(\p{L}+|%)?(?:\s+(\p{L}+))?`, 'giu')
/** What "how many" asks for. */
const COUNTED = /^many\s+(?:\p{L}+\s+)??(\p{L}+s|people|children|men|women)\b/iu
const UNIT = /^(?:second|minute|hour|day|week|month|year|percent|%)$/i
const TIME = new RegExp(
  `\\d|${list(
    `${NUMBERS} first second third fourth last next
    january february march april may june july august september october november december
    mondays? tuesdays? wednesdays? thursdays? fridays? saturdays? sundays? weekdays? weekends? spring summer autumn fall winter
    today tomorrow yesterday noon midnight mornings? afternoons? evenings? nights? immediately now always never forever indefinitely
    hourly daily weekly monthly quarterly annually yearly every each after before until during when while within by upon since
    seconds? minutes? hours? days? weeks? months? years? quarters? decades? century centuries start beginning end early late time`,
  )}`,
  'i',
)
/** Nouns of people and groups, by their endings or as words. */
const PERSON = new RegExp(
  String.raw`\p{Lu}|\p{L}{2}(?:er|or|ist|ant|ent|ee|ian|man|men)s?\b|${list(
    `people person persons parents? child children team teams group committee board body company department office staff government
    court council chair head lead user users guest guests we you they i it everyone anyone everybody anybody nobody someone`,
  )}`,
  'u',
)
const CONDITION = /^(?:if|unless|provided)\b/i
/** A person after one of these is not the one who acts, unlike after "by". */
const OBJECT_BEFORE = /\b(?:through|from|with|via|at|of|for|to|in|on|under|into|about)\s+(?:(?:the|an?|our|your)\s+)?$/i
const AUXILIARY = /^(?:am|are|be|been|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will|would)$/i
/** The question word, after prepositions: "Until when …", "In which …". */
const QUESTION_WORD =
  /^\W*(?:(?:after|and|at|before|but|by|during|for|from|in|of|on|since|so|to|under|until|with|within)\s+){0,2}(wh\p{L}+|how)\b\s*(.*)$/isu
/** "When it rains, what …" does not ask when. */
const CLAUSE_BEFORE = /^\W*(?:when|where|if|while)\b[^,?]*,\s*(?=(?:\p{L}+\s+)?(?:what|which|who|whom|whose|how|where|when)\b)/iu
const EXTENT = /^(?:many|much|old|far|big|large|high|tall|deep|wide|fast|heavy|few|little)\b/i
const DURATION = /^(?:long|often|soon|late|early|frequently)\b/i
/** "When does it end?" may be answered by what ends it. */
const OCCASION = /\b(?:if|unless|provided|once|whenever|as soon as|in an?|in the (?:case|event))\b/iu
/** "What is the …", and what follows a noun that no other noun restricts, unlike "number format". */
const IS_THE = String.raw`^(?:(?:is|are|was|were)\s+(?:the|our|my|your|its)\s+)?`
const NOUN_END = String.raw`(?=\W*$|\s+(?:of|for|in|on|at|to|by|is|are|was|were|do|does|did|should|must|can|will|has|have|the|i|we|you)\b)`
const TIME_NOUN = new RegExp(String.raw`${IS_THE}(?:\p{L}+\s+)?(?:date|day|month|year|time|century|deadline)s?${NOUN_END}`, 'iu')
const NUMBER_NOUN = new RegExp(String.raw`${IS_THE}(?:\p{L}+\s+){0,2}?(?:port|version|percentage|percent|age|number)s?${NOUN_END}`, 'iu')
const PRICE_NOUN = new RegExp(String.raw`${IS_THE}(?:\p{L}+\s+){0,2}?(?:price|cost|fee|rent)s?${NOUN_END}`, 'iu')
const ASKS_FOR_COST = /^(?:does|do|did|will|would)\b.*\bcosts?\b/iu
const NAME_NOUN = new RegExp(
  String.raw`^(?:[\p{L}-]+\s+){0,2}?(?:variable|option|flag|setting|parameter|property|field|key|function|method|hook|command|file` +
    String.raw`|package|module|header|class|event|attribute|directive)\b`,
  'iu',
)
const IDENTIFIER = /(?:--?)?[\p{L}$@][\p{L}\p{N}$@]*(?:[_.:/-][\p{L}\p{N}$@]+|\p{Lu}[\p{L}\p{N}]*)+|--?\p{L}[\p{L}-]*/gu

type ValueType = 'quantity' | 'number' | 'time' | 'place' | 'person' | 'name'

/** What a text must have to answer a question of a type. */
const VALUES: Partial<Record<ValueType, RegExp>> = { quantity: QUANTITY, number: NUMBER, time: TIME }

export function fitsQuestion(question: string, answer: ShortAnswer): boolean {
  const { word, rest, type } = readQuestion(question)
  const { text } = answer
  switch (type) {
    case 'quantity':
      return QUANTITY.test(text) && !countsOther(rest, text)
    case 'number':
      return NUMBER.test(text)
    case 'time':
      return TIME.test(text) && (word !== 'when' || !CONDITION.test(text) || saysAll(rest, answer.quote))
    case 'place':
      return /\p{L}/u.test(text)
    case 'person':
      return PERSON.test(text) && isActor(rest, answer)
    case 'name':
      return isBestName(question, answer)
    default:
      return true
  }
}

/** Whether a question asks for a quantity or a time, and the quoted text has none. */
export function lacksAskedValue(question: string, quote: string): boolean {
  const { word, rest, type } = readQuestion(question)
  const value = type && VALUES[type]
  if (type === 'quantity' && countsOther(rest, quote)) return true
  return value !== undefined && !value.test(quote) && !(word === 'when' && OCCASION.test(quote))
}

/** Reads the question word, the words after it, and the type of answer that both ask for. */
function readQuestion(question: string): { word: string; rest: string; type: ValueType | undefined } {
  const [, first = '', rest = ''] = QUESTION_WORD.exec(question.replace(CLAUSE_BEFORE, '')) ?? []
  const word = first.toLowerCase()
  return { word, rest, type: detectType(word, rest) }
}

function detectType(word: string, rest: string): ValueType | undefined {
  switch (word) {
    case 'how':
      return EXTENT.test(rest) ? 'quantity' : DURATION.test(rest) ? 'time' : undefined
    case 'when':
      return 'time'
    case 'where':
      return 'place'
    case 'who':
    case 'whom':
    case 'whose':
      return 'person'
    case 'what':
    case 'which':
      if (TIME_NOUN.test(rest)) return 'time'
      if (NUMBER_NOUN.test(rest)) return 'number'
      if (PRICE_NOUN.test(rest) || ASKS_FOR_COST.test(rest)) return 'quantity'
      return NAME_NOUN.test(rest) ? 'name' : undefined
    default:
      return undefined
  }
}

/** Whether each number of a text counts something else: "up to one minute" does not say how many attempts there are. */
function countsOther(rest: string, text: string): boolean {
  const [, noun = ''] = COUNTED.exec(rest) ?? []
  const counted = [...text.matchAll(COUNT)].map(([, first = '', second = '']) => [first, second])
  if (noun === '' || counted.length === 0) return false
  const forms = new Set([noun, ...expandQuery(noun)].flatMap(extractContentWords))
  const isSame = (word: string) => extractContentWords(word).some((stem) => forms.has(stem))
  // "Eight developers" are people.
  const isOther = (word: string) => UNIT.test(word) || (isPlural(word) && !PERSON.test(word))
  return counted.every((words) => !words.some(isSame) && words.some(isOther))
}

/** "The nomination passes if nobody opposes it" does not say when it fails. */
function saysAll(words: string, quote: string): boolean {
  const said = new Set(extractContentWords(quote))
  const isSaid = (word: string) => [word, ...expandQuery(word)].some((form) => extractContentWords(form).every((stem) => said.has(stem)))
  return words.split(/\s+/).every(isSaid)
}

/** Whether the quote says who does what the question asks for: the insurer is not the one who pays. */
function isActor(rest: string, { quote, before }: ShortAnswer): boolean {
  const words = rest.match(/[\p{L}\p{N}'’-]+/gu) ?? []
  const verb = words.find((word) => !AUXILIARY.test(word)) ?? ''
  const isPassive = AUXILIARY.test(words[0] ?? '')
  if (!isPassive && OBJECT_BEFORE.test(before)) return false
  const said = new Set(extractContentWords(quote))
  const forms = [verb, ...expandQuery(verb)].map(extractContentWords)
  return forms.some((stems) => stems.every((stem) => said.has(stem)))
}

/** Whether no other name of the quote has more words of the question: RESTIC_PASSWORD_FILE is the password file, not RESTIC_PASSWORD. */
function isBestName(question: string, { text, quote }: ShortAnswer): boolean {
  const words = new Set(extractContentWords(question))
  const count = (name: string) => {
    const parts = name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    return new Set(extractContentWords(parts).filter((part) => words.has(part))).size
  }
  const own = count(text)
  return !(quote.match(IDENTIFIER) ?? []).some((name) => !text.includes(name) && count(name) > own)
}
