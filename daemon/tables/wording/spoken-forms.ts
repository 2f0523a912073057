/** What people write around a question: contractions, fillers, exclusions, short numbers. Written as the rest of the parser reads it. */

import { NAMED_DEADLINE } from '../cells/header-words.ts'

type Phrases = readonly (readonly [phrase: RegExp, replacement: string])[]

/** Also without the apostrophe, where the result is no other word. */
const CONTRACTIONS: Phrases = [
  [/\b(do|does|did|has|have|had|is|are|was|were|could|would|should)(?:n['’`´]?t)\b/gi, '$1 not'],
  [/\b(?:can['’`´]t|cannot)\b/gi, 'can not'],
  [/\bwon['’`´]t\b/gi, 'will not'],
  [/\b(we|you|they|who)['’`´]?ve\b/gi, '$1 have'],
  [/\b(i)['’`´]ve\b/gi, '$1 have'],
  [/\b(we|you|they|who|what)['’`´]re\b/gi, '$1 are'],
  [/\b(\p{L}+)['’`´]ll\b/giu, '$1 will'],
  [/\b(who|what|that|it|there)(?:['’`´]s|(?<=who|what|that)s) (?=(?:been|done|had|got|gone|made|\p{L}+ed)\b)/giu, '$1 has '],
  [/\b(who|what|when|where|how|that|it|there|here)(?:['’`´]s|(?<=\b(?:who|what|that))s)\b/gi, '$1 is'],
]

const OWN = '(?:the|our) (?:club|company|firm|business|practice|parish|school|gym|organi[sz]ation|association|society)'

/** Words that add nothing. */
const FILLERS: Phrases = [
  [new RegExp(String.raw`\b(left|leave|leaves|leaving|joined|join|quit) ${OWN}\b`, 'gi'), '$1'],
  [new RegExp(String.raw`\bdoes ${OWN} (?=have|own|employ)`, 'gi'), 'do we '],
  [/\b(?:please|pls|plz|thanks|thank you|simply|basically|roughly|approximately|quickly|apparently|anyway)\b/gi, ' '],
  [/\b(?:actually|really)\b(?! (?:do|did|had|have|work|worked)\b)/gi, ' '],
  [/\b(?:on our books|of ours|by the way|as far as we know|for me|in the end|if at all)\b/gi, ' '],
  [/(?<!\bshould\b.*)\bby now\b|\b(?:(?:as of|up to) (?:now|today)|so far|to date|these days|nowadays|all in all|all in)\b/gi, ' '],
  [/\b(?:some|any)(?:body|one|thing)\b/gi, ' '],
  // "Overdue, i.e. not paid": both are read.
  [/(?<=\b(?:overdue|past due|late|later than \w+)),? (?:i\. ?e\.,?|meaning|that is,?|in other words,?)(?=\s)/gi, ' '],
  [/\bbeen (?:living|staying)(?: here| there)?\b/gi, 'been here'],
  [/\bbeen (?:lying|sitting|hanging|standing|waiting)(?: (?:around|about|here|there))*\b/gi, 'been'],
  [NAMED_DEADLINE, '$1 deadline'],
  [/\bstuff\b/gi, 'things'],
  [/\btowards?\b/gi, 'for'],
  // Verbs that say no more than "is".
  [
    /\b(?:(?:turn(?:s|ed)? out|prove[sdn]*|happen(?:s|ed)?|seem(?:s|ed)?|appear(?:s|ed)?) to be|end(?:s|ed)? up(?: as| being)?)\b/gi,
    'were',
  ],
  [/\balong\b(?! with)/gi, ' '],
  [/(?<=\b(?:does|do|did)\b.*) last(?=\s*(?:\?|$|on average|for\b|in total))/gi, ' take'],
  [/\bthe (?:others|rest)\b(?! of\b)/gi, 'the other'],
  [/\b(?:the |those )?ones\b/gi, ' '],
  [/(?<=\b(?:\p{L}{3,}est|last|first|best|worst|expensive|recent) )one\b(?! of\b)/giu, ' '],
  [/\b(?:whether )?(?:\p{L}+ or not)(?=\s*[?.,;)]|\s*$)/giu, ' '],
]

const VALUE = String.raw`(?:(?:the|any|all) )?((?:[\p{L}\p{N}-]+ ){1,3}?)`
const OUT = '(?:aside|left out|excluded|ignored|not counted|not included|(?:do|does|should|must) not count)'
const LEAVE_OUT = [
  '(?:leav(?:e|ing)|without|not) (?:out|counting|including)|exclud(?:e|ing)|ignor(?:e|ing)|disregard(?:ing)?|omit(?:ting)?',
  '(?:apart|aside) from|except(?: for)?|with the exception of|do not (?:count|include)',
].join('|')
const EXCLUDED = '(?:the|those|any|all|what|that|which|who|they|we|have|has|had|were|was|are|is|been)'

/** "Leaving out what they cancelled" and "expired contracts aside": one word for all. */
const EXCLUSIONS: Phrases = [
  [new RegExp(String.raw`(?<=[,.;:(?!–-]\s*)${VALUE}${OUT}\b`, 'giu'), 'excluding $1'],
  [new RegExp(String.raw`\b(?:${LEAVE_OUT})\b(?: ${EXCLUDED}\b)*`, 'gi'), 'excluding'],
  // What is counted, too, is not left out by other words.
  [/,? \b(?:count|counting|include|including)\b((?: \p{L}+){1,4}?) (?:too|as well)\b/giu, ' '],
  // Those that remain are named by the words after "only".
  [/\b(?:only (?:count|include|consider|take)|(?:count|include|counting|including) only)\b/gi, 'only'],
]

const SHARES: Phrases = [
  [/\bper cent\b/gi, 'percent'],
  [/(?<=\b(?:share|percentage|percent|proportion)\b.*),? (?:in|as a) (?:%|percent(?:age)?)/gi, ' '],
]

const MONEY = '(?:money|turnover|revenue|sales|income|amounts?|spend(?:ing)?|value)'
const MEASURED = '(?:going by|judging by|measured (?:by|in)|ranked by|in terms of)(?: (?:the|their|our))?'

/** What a question measures by: "in terms of money", "going by the weight". */
const MEASURES: Phrases = [
  [/,? \bmoney ?wise\b/gi, ' in euros'],
  [new RegExp(String.raw`,? \b${MEASURED}(?=(?: \p{L}+)?? ${MONEY}\b)`, 'giu'), ' for'],
  [new RegExp(String.raw`(?<=\b(?:best|biggest|largest|top|most)\b.*) by (?=${MONEY}\b)`, 'gi'), ' for '],
  [new RegExp(String.raw`\b${MEASURED}\b`, 'gi'), 'using'],
  [/\bcounted (?=from\b)/gi, ''],
]

const GROUPS: Phrases = [
  [/\b(day|week|month|quarter|year) (?:by|for) \1\b/gi, 'per $1'],
  [/\bhow (?:are|is|were|was) (.+?) (?:split|divided|distributed|spread)(?: up)? (?:between|among|across|over|by)\b/gi, 'number of $1 per'],
  [/\b(?:split|broken|break|group(?:ed)?|divided)(?: (?:it|them|up|down|out))* by\b/gi, 'per'],
  [/\b(?:break down|split up|(?:a |the )?(?:breakdown|split) of) (.+?) (?:by|per)\b/gi, '$1 per'],
  [/\bhow often\b/gi, 'how many times'],
  [/\bhow much time\b/gi, 'how many hours'],
  [/\b(most|least|more|less) time\b(?!s)/gi, '$1 hours'],
]

const MONTHS = 'january|february|march|april|may|june|july|august|september|october|november|december'
const CURRENCY = String.raw`\p{Sc}|(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|francs?)\b`
const COMPARED = String.raw`(?:than|over|above|under|below|least|most|between|and|to|of|about|around|for|\p{Sc})`
const FACTORS: Readonly<Record<string, number>> = { k: 1000, grand: 1000, thousand: 1000, mio: 1e6, m: 1e6, million: 1e6 }
/** "130k" after a comparison or with a currency: "4k" of "a 4k screen" is a name. */
const SHORT_NUMBERS = [
  new RegExp(String.raw`(?<=\b${COMPARED} ?)(\d+(?:[.,]\d+)?) ?(k|mio|m)(?![\p{L}\p{N}])`, 'giu'),
  new RegExp(String.raw`\b(\d+(?:[.,]\d+)?) ?(k|mio|m)(?= ?(?:${CURRENCY}))`, 'giu'),
  /\b(\d+(?:[.,]\d+)?) ?(grand|thousand|million)\b/gi,
]
/** "50.000 €" and "1.200.000": a number of money has no three decimals. */
const POINTS = new RegExp(String.raw`(?<![\d.,])\d{1,3}(?:(?:\.\d{3}){2,}|\.000|\.\d{3}(?= ?(?:${CURRENCY})))(?![\d.,]*\d)`, 'giu')

const writeNumbers = (text: string): string =>
  SHORT_NUMBERS.reduce(
    (written, pattern) =>
      written.replaceAll(pattern, (_, digits: string, factor: string) =>
        String(Number(digits.replace(',', '.')) * (FACTORS[factor.toLowerCase()] ?? 1)),
      ),
    text,
  ).replaceAll(POINTS, (digits) => digits.replaceAll('.', ''))

/** "In may" without a capital letter. */
const BEFORE_MAY = `in|of|since|during|until|till|from|before|after|last|this|per|(?:${MONTHS}) (?:and|or|to|than|vs)`
const MAY = new RegExp(String.raw`\b(${BEFORE_MAY}) may\b(?! (?:be|have|not|i|we|you)\b)`, 'gi')

/** Writes a question without what adds nothing, and with the words that the parser knows. */
export const writePlainly = (text: string): string =>
  [CONTRACTIONS, FILLERS, EXCLUSIONS, SHARES, MEASURES, GROUPS]
    .flat()
    .reduce((plain, [phrase, replacement]) => plain.replaceAll(phrase, replacement).replaceAll(/\s+/g, ' '), writeNumbers(text))
    .replaceAll(MAY, '$1 May')
    .trim()
