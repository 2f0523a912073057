/** The words of questions over tables: comparisons, numbers, triggers of operations, synonyms. */
import { stem } from '../language/content-words.ts'

export const list = (text: string) => text.trim().split(/\s+/)
/** The words of a text. */
export const toWords = (text: string): ReadonlySet<string> => new Set(list(text))
export const toStems = (text = ''): ReadonlySet<string> => new Set(list(text).map(stem))
/** Without a prototype: "constructor" is a word, too. */
const createLookup = <T>(values: Record<string, T>): Readonly<Record<string, T>> => Object.assign(Object.create(null), values)

/** Words without content: they are not searched for in cells or headers, and need not be covered by a query. */
export const STOP_WORDS =
  toWords(`a an the of in on at by for from to with and or is are was were be been being do does did done has have had having
  it its this that these those there their them they he she his her who whom whose what which when where why how many much
  as than then not no yes me i we you us my our your please tell give show name list find all each every any some
  would could can will shall should may might must also only just about into up out per if so such between both
  's s t according chart table listed list number total amount`)

/** Words without content that are also names of columns. */
export const COLUMN_WORDS = toWords('number total amount name list')

/** Each phrase compares with the number or date that follows it, or precedes it if the phrase starts with "…". */
export type Comparison = 'more' | 'less' | 'at_least' | 'at_most' | 'between' | 'equal'
const compare = (comparison: Comparison, phrases: string) => phrases.split(', ').map((phrase) => [phrase, comparison] as const)
/** The first one counts: "no more than" precedes "more than". */
export const COMPARISONS: readonly (readonly [string, Comparison])[] = [
  ...compare('at_least', 'on or after'),
  ...compare('at_most', 'on or before'),
  ...compare('at_least', 'no earlier than, not earlier than'),
  ...compare('at_most', 'no later than, not later than, no more than, not more than'),
  ...compare('at_least', 'no less than, no fewer than, not less than'),
  ...compare('more', 'more than, greater than, larger than, higher than, bigger than, longer than, taller than, older than, better than'),
  ...compare('more', 'later than, in excess of, exceeding, exceed, exceeds, exceeded, over, above, after, past'),
  ...compare('less', 'less than, fewer than, lower than, smaller than, shorter than, earlier than, under, below, before, prior to'),
  ...compare('at_least', 'at least, a minimum of, since, starting from, starting with'),
  ...compare('at_most', 'at most, a maximum of, up to, until, by the end of'),
  ...compare('at_least', '… or more, … or higher, … or greater, … or above, … or better, … or later, … or over'),
  ...compare('at_least', '… and above, … and over, … and later'),
  ...compare('at_most', '… or less, … or fewer, … or lower, … or below, … or under, … or earlier'),
]

export const NUMBER_WORDS = createLookup<number>(
  Object.fromEntries(
    list(
      `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty`,
    ).map((word, number) => [word, number]),
  ),
)

/** "Twice" is two times. */
export const TIMES = createLookup<number>({ once: 1, twice: 2, thrice: 3 })

export const ORDINAL_WORDS = createLookup<number>(
  Object.fromEntries(list('zeroth first second third fourth fifth sixth seventh eighth ninth tenth').map((word, number) => [word, number])),
)

const SHARES = list('percentage percent share proportion fraction')
export const SHARE_WORDS: ReadonlySet<string> = new Set(SHARES)

/** An operation is considered only if the question has one of its words. Words ending in "*" are prefixes. */
export const TRIGGERS = {
  count: list('many number count amount total times often frequently'),
  sum: list(
    'total combined sum altogether overall together all many much collectively add added amount revenue spent spend turnover cost pay paid',
  ),
  average: list('average mean avg typical'),
  median: list('median'),
  share: SHARES,
  extreme: list(`most least highest lowest largest smallest biggest greatest longest shortest fewest best worst top bottom maximum minimum
    max min oldest youngest earliest latest newest recent fastest slowest heaviest lightest tallest more less fewer higher lower longer
    shorter larger smaller bigger greater older younger earlier later first last better worse taller heavier faster slower cheapest
    expensive highly peak closest farthest furthest deepest widest final leading leader winner ranked ranking top-ranked
    busiest quietest coldest warmest hottest youngest strongest`),
  edge: list(
    `first last final top bottom initial latest earliest recent start begin end oldest newest second third fourth fifth
    previous original originally listed`,
  ),
  neighbor: list(`next after before previous prior following follow follows followed above below preceding preceded precedes precede
    directly immediately right succeeding succeeded subsequent subsequently later earlier came comes come`),
  group: list(
    `best worst most least often frequently common fewest more times each per by every more highest largest top biggest lowest greatest
    busiest quietest`,
  ),
  difference: list(
    'difference more less between longer older taller higher fewer larger many much greater margin gap older younger farther apart',
  ),
  same: list('same also besides other share shared another else tied equal identical'),
  contrast: list('versus vs compared compare comparison'),
  boolean: list('is are was were did does do has have had can will'),
} as const

/** Verbs, units and names for rows that add nothing to a question over a table. Verbs for states, such as "cancelled", do. */
const GENERIC_STEMS =
  toStems(`work place take took taken happen occur get got make made receive belong go went gone exist currently now today ever far entry
    row record company our employ include contain display see seen know compute calculate sell sold buy bought purchase order ordered spend
    spent pay paid cost earn euro eur dollar usd pound gbp unit piece date day month quarter year
    use used using usage consume consumption deliver supply supplied provide handle issue bring brought generate produce own hold held cover
    carry serve run ran offer need require want reach achieve gain collect raise come came live create register submit file log report
    book add enter host involve account stand lie figure data value case thing overview breakdown cause problem move build built
    station locate base situate keep kept store still already yet single over under via through during within across around square
    weekday here but although though while whereas however even everything anything something mark marked label labelled flag flagged tag
    tagged put stay stayed give given somebody someone anybody anyone everybody everyone`)

export const DISTINCT_WORDS = toWords('different distinct unique')

/** Words that ask for groups: "average salary per department". */
export const GROUP_WORDS = toWords('per by each every monthly quarterly yearly')

/** Words that ask for an operation. */
const OPERATION_WORDS: ReadonlySet<string> = new Set([
  ...Object.values(TRIGGERS).flat(),
  ...DISTINCT_WORDS,
  ...list('had once twice thrice exactly popular recently'),
])

/** Whether a query need not explain a word otherwise, because it asks for an operation or says nothing. */
export const isOperationWord = (word: { text: string; stem: string }): boolean =>
  !AGENT_NOUN.test(word.text) && (OPERATION_WORDS.has(word.text) || GENERIC_STEMS.has(word.stem) || MONEY_STEMS.has(word.stem))

/** "Supplier" asks for more than "supply" does. */
const AGENT_NOUN = /^(?:suppli|own|us|work|buy|sell|provid|produc|build|hold|mak|carri|hand?l|brew|clean|bak|deliver)ers?$/

export const AVERAGES = toWords('average mean avg')

/** Words for sums and averages: with one of them, the column that is added up need not be named. */
export const AGGREGATE_WORDS = toWords('total sum average mean avg median combined overall altogether together')

/** Words that ask for amounts of money. */
export const MONEY_STEMS = toStems(
  'revenue sales turnover sell sold spend spent pay paid cost earn income money raise collect donate gave bill charge owe worth',
)

export const CURRENCY_STEMS = toStems('euro eur dollar usd pound gbp franc chf')

/** Those that also ask for the share of an amount: people who pay are counted. */
export const AMOUNT_STEMS = toStems('revenue sales turnover sell sold spend spent cost expense income money budget raise')

/** Words that ask for what is paid, not for what is received. */
export const EXPENSE_STEMS = toStems('cost spend spent buy bought purchase expense pay paid deposit')

/** Words for what is allowed or necessary, which is in texts. */
export const MODAL_WORDS = toWords('can could may might must should shall')

export const COUNTING_SUPERLATIVES = toWords('most fewest least')

/** Words that ask for the smallest value of some columns, such as a rank, and the largest of others. */
export const AMBIGUOUS_DIRECTIONS = toWords('best fastest')

/** Superlatives of sizes, which are numbers, and of times. */
export const SIZE_WORDS = toWords(`highest lowest largest smallest biggest greatest fewest expensive cheapest`)
export const TIME_WORDS = toWords('latest newest earliest recent recently')

/** The order that a word asks for: the largest or the smallest first. */
export const DIRECTIONS: Readonly<Record<'max' | 'min', ReadonlySet<string>>> = {
  max: new Set(
    list(`most highest largest biggest greatest longest best top maximum max latest newest recent fastest heaviest tallest more higher
    longer larger bigger greater later last final oldest older better expensive peak widest deepest
    farthest furthest leading heavier taller busiest warmest hottest strongest`),
  ),
  min: new Set(
    list(`least lowest smallest shortest fewest worst bottom minimum min earliest slowest lightest less fewer lower shorter smaller earlier
    first youngest younger cheapest initial closest original oldest best fastest quietest coldest`),
  ),
}

export const isSuperlative = ({ text }: { text: string }): boolean => DIRECTIONS.max.has(text) || DIRECTIONS.min.has(text)

/** Superlatives of the number of rows. */
export const BUSY_WORDS = toWords('busiest quietest')
export const FREQUENCY_WORDS: ReadonlySet<string> = new Set([...BUSY_WORDS, ...list('often frequently popular')])

/** Superlatives that measure something particular: a column must say what. */
export const PARTICULAR_SUPERLATIVES = toWords(
  'longest shortest tallest heaviest lightest fastest slowest deepest widest strongest cheapest expensive coldest warmest hottest',
)

/** Superlatives that a row operation, such as a list, cannot answer. */
export const EXTREME_WORDS: ReadonlySet<string> = new Set([
  ...SIZE_WORDS,
  ...TIME_WORDS,
  ...PARTICULAR_SUPERLATIVES,
  ...list('oldest youngest best worst busiest quietest'),
])

/** The order of ages that a word asks for. */
export const AGE_DIRECTIONS = createLookup<'max' | 'min'>({ oldest: 'max', older: 'max', youngest: 'min', younger: 'min' })

/** Phrases for a column that is zero. */
export const ZERO_PHRASES: readonly (readonly [phrase: string, columns: ReadonlySet<string>])[] = [
  ['out of stock', new Set(list('stock quantity inventory hand available'))],
  ['sold out', new Set(list('stock quantity inventory hand available'))],
]

/** Words that a condition must explain. */
export const NEGATIONS = toWords('not without except excluding never owe owes owed owing')

/** Words for an empty cell, before or after the name of a column. */
export const EMPTY_WORDS = toWords('without missing no empty blank lack lacks lacking never unset not waiting awaiting pending')

/** Words for "no" in a column: "failed" for "passed". */
export const OPPOSITES = createLookup<string>({
  failed: 'passed',
  fail: 'pass',
  part: 'full',
  offline: 'online',
  absent: 'present',
})
