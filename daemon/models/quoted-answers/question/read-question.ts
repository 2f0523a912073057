/** Reads what a question asks for: its question word, and the type of value that would answer it. English. */

/** "How much is the rent?" asks for a price, "How much notice must be given before the rent rises?" does not. */
const MUCH =
  String.raw`much\s+(?:(?:money|rent|salary|deposit)\s+)?` +
  String.raw`(?:is|are|was|were|does|do|did|will|would|can|could|must|should|has|have)\b`
/** Types by the words after "how", and by those after "what" and "which". */
const EXTENTS: readonly [ValueType, RegExp][] = [
  ['weight', /^heavy\b/iu],
  ['length', /^tall\b/iu],
  [
    'price',
    new RegExp(String.raw`^${MUCH}.*\b(?:budget|costs?|pay|charged?|price|fee|rent|deposit|fine(?=\W*$)|salary|bonus|worth)\b`, 'iu'),
  ],
  ['price', /^many\s+(?:euros|dollars|pounds|cents|francs)\b/iu],
  ['count', /^many\b/iu],
  ['quantity', /^(?:much|old|far|big|large|high|deep|wide|fast|few|little)\b/iu],
  ['time', /^(?:long|often|soon|late|early|frequently)\b/iu],
]
/** "What is the …" */
const IS_THE = String.raw`(?:(?:is|are|was|were)|['’]s)\s+(?:the|our|my|your|its|his|her|their)\s+(?:[\p{L}'’]+\s+){0,2}?`
/** A noun ends here unless another one follows, as in "number format". */
const NOUN_END = String.raw`(?=\W*$|\s+(?:of|for|in|on|at|to|by|is|are|was|were|do|does|did|should|must|can|will|has|have|the|i|we|you)\b)`
const createNoun = (nouns: string) =>
  new RegExp(String.raw`^(?:${IS_THE}|(?!(?:is|are|was|were|if)\s)[\p{L}'’]+\s+)?(?:${nouns})${NOUN_END}`, 'iu')
const NOUNS: readonly [ValueType, RegExp][] = [
  ['time', createNoun('(?:date|day|month|year|time|deadline)s?|century|centuries')],
  ['percentage', createNoun('percentage|percent|interest rate|tax rate')],
  ['phone', new RegExp(`^${IS_THE}(?:tele|mobile )?phone(?: number)?${NOUN_END}`, 'iu')],
  ['email', new RegExp(`^${IS_THE}e-?mail address${NOUN_END}`, 'iu')],
  ['variable', /^environment variable\b/iu],
  ['number', createNoun('(?:port|version|number)s?|age')],
  ['price', createNoun('prices?|costs?|fee|rent')],
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
