/** Reads what a question asks for: its question word, and the type of value that would answer it. English. */

/** Types by the words after "how", and by those after "what" and "which". */
const EXTENTS: readonly [ValueType, RegExp][] = [
  ['weight', /^heavy\b|^much\b.*\bweighs?\b/iu],
  ['length', /^(?:tall|wide|deep|thick|far(?!\s+(?:ahead|in advance|back|into)))\b/iu],
  ['price', /^much\b.*\b(?:budget|costs?|pay|charged?|price|fee|rent|deposit|fine|salary|bonus|refund(?:ed)?|worth)\b/iu],
  ['count', /^many\b/i],
  ['quantity', /^(?:much|old|far|big|large|high|fast|few|little)\b/i],
  ['time', /^(?:long|often|soon|late|early|frequently)\b/i],
]
/** "What is the …", and what follows a noun that no other noun restricts, unlike "number format". */
const IS_THE = String.raw`^(?:(?:is|are|was|were)\s+(?:the|our|my|your|its)\s+)?`
const NOUN_END = String.raw`(?=\W*$|\s+(?:of|for|in|on|at|to|by|is|are|was|were|do|does|did|should|must|can|will|has|have|the|i|we|you)\b)`
const createNoun = (nouns: string, before = 2) =>
  new RegExp(String.raw`${IS_THE}(?:[\p{L}'’]+\s+){0,${before}}?(?:${nouns})s?${NOUN_END}`, 'iu')
const NOUNS: readonly [ValueType, RegExp][] = [
  ['time', createNoun('date|day|month|year|time|century|deadline', 1)],
  ['percentage', createNoun('percentage|percent|interest rate|tax rate')],
  ['phone', createNoun('(?:tele|mobile )?phone(?: number)?')],
  ['email', createNoun('e-?mail addresse?')],
  ['variable', /^environment variable\b/iu],
  ['number', createNoun('port|version|age|number')],
  ['price', createNoun('price|cost|fee|rent')],
  ['price', /^(?:does|do|did|will|would)\b.*\bcosts?\b/iu],
  [
    'name',
    new RegExp(
      String.raw`^(?:[\p{L}-]+\s+){0,2}?(?:variable|option|flag|setting|parameter|property|field|key|function|method|hook|command|file` +
        String.raw`|package|module|header|class|event|attribute|directive)\b`,
      'iu',
    ),
  ],
]
const TYPES: Readonly<Record<string, readonly [ValueType, RegExp][]>> = {
  how: EXTENTS,
  what: NOUNS,
  which: NOUNS,
  when: [['time', /^/]],
  where: [['place', /^/]],
  who: [['person', /^/]],
  whom: [['person', /^/]],
  whose: [['person', /^/]],
}
/** The question word, after prepositions: "Until when …", "In which …". */
const QUESTION_WORD =
  /^\W*(?:(?:after|and|at|before|but|by|during|for|from|in|of|on|since|so|to|under|until|with|within)\s+){0,2}(wh\p{L}+|how)\b\s*(.*)$/isu
/** "When it rains, what …" does not ask when. */
const CLAUSE_BEFORE = /^\W*(?:when|where|if|while)\b[^,?]*,\s*(?=(?:\p{L}+\s+)?(?:what|which|who|whom|whose|how|where|when)\b)/iu

export type ValueType =
  | 'count'
  | 'quantity'
  | 'number'
  | 'time'
  | 'weight'
  | 'length'
  | 'price'
  | 'percentage'
  | 'phone'
  | 'email'
  | 'variable'
  | 'place'
  | 'person'
  | 'name'

interface AskedQuestion {
  /** In lower case; empty if there is none. */
  word: string
  /** The words after it. */
  rest: string
  type: ValueType | undefined
}

export function readQuestion(question: string): AskedQuestion {
  const [, first = '', rest = ''] = QUESTION_WORD.exec(question.replace(CLAUSE_BEFORE, '')) ?? []
  const word = first.toLowerCase()
  return { word, rest, type: TYPES[word]?.find(([, pattern]) => pattern.test(rest))?.[0] }
}
