/** States that columns imply, and columns that limit others. */
import { stem } from '../../language/content-words.ts'
import { list, toStems } from '../vocabulary.ts'

export interface State {
  pattern: RegExp
  headers: ReadonlySet<string>
  isMissing: boolean
  /** What the state may be called in a column that also has the opposite. */
  values?: ReadonlySet<string>
  opposites?: ReadonlySet<string>
}

const toPattern = (phrases: string): RegExp => new RegExp(String.raw`\b(?:${phrases})\b`, 'g')
const NOT_YET = '(?:(?:has|have|had|is|are|was|were) )?(?:not|never) (?:yet )?(?:been |gone |come )?'

/** "Customers that we have lost" */
export const LOST =
  String.raw`(?<=\b(?:customer|client|member|subscriber|account|patient|student|tenant|user)s? (?:that )?)` +
  '(?:have |did |has )?(?:we |i )?(?:lost|lose)'

/** Words for rows whose cells are empty or "no" in a column with one of the words in its header, or are not. */
export const STATES: readonly State[] = [
  [
    'unpaid|outstanding|ow(?:e|es|ed|ing)|unsettled|not (?:been )?settled|(?:still )?(?:waiting for|awaiting) payment|still open|' +
      `still (?:have|has|need|needs) to (?:be paid|pay)|${NOT_YET}(?:come in|in yet|paid)|not in yet`,
    'paid payment settled',
    true,
    'unpaid,open,outstanding,overdue,not paid,due,pending,sent,reminded,reminder sent,invoiced,past due',
    'paid,settled',
  ],
  ['settled|paid up|been paid', 'paid payment', false],
  ['finished|completed', 'finished completed completion', false],
  ['vacant|unoccupied|empty|unlet|unrented|free', 'tenant occupant guest renter resident lessee occupied rented let booked', true],
  ['pending|unapproved|not approved|not been approved|awaiting approval', 'approved approval', true],
  [
    'unassigned|not assigned|(?:nobody|no one) (?:is |has been |was )?(?:assigned|responsible|in charge|(?:working )?on (?:it|them))',
    'assigned assignee owner agent driver responsible technician guide',
    true,
  ],
  [
    'still out|on loan|checked out|not back|outstanding|not returned|(?:out )?on rental|out on loan|(?:rented|lent|loaned) out|' +
      `${NOT_YET}(?:back|returned|brought back|come back)`,
    'returned return came',
    true,
  ],
  [
    'open|unresolved|unsolved|ongoing|unfinished|incomplete|not finished',
    'closed resolved solved completed completion finished done',
    true,
  ],
  [
    `undelivered|not arrived|not come in|${NOT_YET}(?:arrived|delivered|received|here)|still waiting for`,
    'delivered delivery arrival arrived received',
    true,
  ],
  [
    `${NOT_YET}(?:sent|shipped|dispatched|out)(?: out| off)?|(?:have|has|need|needs) to (?:send|ship|go)(?: out| off)?|unshipped`,
    'shipped dispatched sent',
    true,
  ],
  [`${NOT_YET}(?:paid back|reimbursed|refunded)`, 'reimbursed refunded reimbursement refund', true],
  ['active|current|still employed|still with us|still work', 'left leaving exit termination terminated last_day', true],
  [`former|quit|left|left us|resigned|gone|${LOST}`, 'left leaving exit termination terminated last_day cancelled', false],
].map(([phrases, headers, isMissing, values, opposites]) => ({
  pattern: toPattern(String(phrases)),
  headers: new Set(list(String(headers)).map((header) => (header.includes('_') ? header : stem(header)))),
  isMissing: isMissing === true,
  ...(values ? { values: new Set(String(values).split(',')), opposites: new Set(String(opposites).split(',')) } : {}),
}))

/** Phrases for people with debts, and headers of columns with the amounts. */
export const IN_DEBT = toPattern(
  'in (?:arrears|debt)|behind (?:with|on) (?:the|their|its) (?:payments?|rent|fees?)|ow(?:e|es|ed|ing)(?: us)?(?: (?:any )?money)?|' +
    '(?:have|has|with) (?:an? |any )?(?:open |outstanding |unpaid )?(?:arrears|debts?|balance)',
)
export const DEBT_HEADERS = toStems('arrears debt outstanding owed owing unpaid overdue')

interface Limit {
  limits: ReadonlySet<string>
  measures: ReadonlySet<string>
}

const createLimit = ([limits, measures]: readonly string[]): Limit => ({ limits: toStems(limits), measures: toStems(measures) })

const CAPACITY = createLimit([
  'capacity maximum max seats limit spots places',
  'registered booked attendees attended attendance enrolled participants occupied occupancy sold used registrations',
])
const STOCK = createLimit(['reorder minimum min threshold safety', 'stock hand quantity qty inventory available units'])

/** Phrases for rows that have reached a limit: as much is sold as there is room for, or no more is left than the reorder level. */
export const LIMIT_STATES = [
  {
    pattern: toPattern('sold out|fully booked|(?:is|are|was|were) full'),
    comparison: 'at_least' as const,
    ...CAPACITY,
  },
  {
    pattern: toPattern(
      '(?:still )?(?:have|has|had|with) (?:still )?(?:any |some )?(?:(?:free|empty|open|available) )?(?:places?|seats?|spots?|room|space)' +
        '(?: (?:left|free|available))?|(?:is|are|was|were) not (?:yet )?(?:full|sold out|fully booked)',
    ),
    comparison: 'less' as const,
    ...CAPACITY,
  },
  {
    pattern: toPattern(
      '(?:running|run|getting|is|are) low|low (?:on|in) stock|low stock|running out|(?:almost|nearly) out of stock|' +
        'needs? re(?:ordering|stocking)|needs? to (?:be )?re(?:ordered|stocked|order|stock)|should we reorder',
    ),
    comparison: 'at_most' as const,
    ...STOCK,
  },
]

/** Columns that limit others: the budget limits what is spent. */
const OTHER_LIMITS: readonly (readonly string[])[] = [
  ['budget planned plan estimate estimated forecast', 'spent actual cost expense spending'],
  ['target goal quota', 'actual sales revenue achieved result sold closed'],
  ['entitlement entitled allowance quota', 'taken used'],
]

/** Headers of dates with which an employment or a contract starts. */
export const START_STEMS = toStems('hire hired joined join start started since employed entry member moved enrolled admitted')
/** Headers of dates that were set, and of those when it happened. */
export const DUE_STEMS = toStems('due deadline promised expected planned scheduled agreed')
export const ACTUAL_STEMS = toStems(
  'paid payment returned return delivered delivery arrived completed closed finished shipped resolved actual came settled done collected',
)
export const PAID_STEMS = toStems('paid payment settled reimbursed')
export const PAYING_STEMS = new Set([...PAID_STEMS, ...toStems('pay pays money')])
/** Headers of dates when something was arranged. */
export const CREATED_STEMS = toStems('booked ordered requested created registered opened issued submitted reported sent invited')
export const LIMITS: readonly Limit[] = [...OTHER_LIMITS.map(createLimit), STOCK, CAPACITY, { limits: DUE_STEMS, measures: ACTUAL_STEMS }]

const SHOULD = String.raw`should (?:already )?have (?:been )?\w+`
const BUT_NOT = 'but (?:is|are|has|have|was|were) not'

/** Phrases for dates before the day of the question. What is overdue is also not done yet. */
export const PAST_STATES = [
  {
    pattern: toPattern(
      'overdue|past due|' +
        String.raw`${SHOULD}(?: (?!by|already|before|but)\w+){0,4}? (?:by (?:now|today)|already|before [\w-]+)(?: ${BUT_NOT})?|` +
        String.raw`${SHOULD}(?: (?!but)\w+){0,5} ${BUT_NOT}`,
    ),
    headers: new Set([...DUE_STEMS, ...toStems('next')]),
    isOpen: true,
  },
  {
    pattern: toPattern(
      '(?:(?:has|have) )?(?:already )?(?:expired|run out|lapsed)|ran out|out of date|no longer valid|' +
        'past (?:its|their|the) (?:expiry|best before|sell by) date',
    ),
    headers: toStems('expiry expires expire expiration valid before until'),
    isOpen: false,
  },
]
const THEIR = '(?:the|its|their|our|his|her)'
/** Those beside which words name the date, after them (1) or before them (-1): "past their inspection date", "the due date has passed". */
export const PAST_DATES: readonly (readonly [pattern: RegExp, direction: 1 | -1])[] = [
  [toPattern(`(?:already |long )?(?:past|beyond|over) ${THEIR}`), 1],
  [toPattern('no longer under|out of|no(?= .* left)'), 1],
  [toPattern('(?:has|have|had) (?:already |long )?(?:passed|gone by|elapsed)|(?:is|are) (?:already |long )?(?:over|behind us)'), -1],
]
export const PAST_DATE_STEMS = new Set([...DUE_STEMS, ...toStems('next end ends expiry expires expire expiration valid until')])
/** Phrases for rows that happened before the day of the question, or will happen: one of them, or all. */
export const HAPPENED = toPattern('(?:have |has )?(?:already )?(?:taken place|happened|been held)|already took place|in the past')
export const UPCOMING = toPattern(
  'upcoming|ahead(?: of us)?|(?:coming|come|comes) up(?: next)?|still to come|in the future|from now on|yet to (?:come|take place)',
)
export const NEXT = toPattern(String.raw`(?:coming up |up )?next(?: \w+ (?:coming up|upcoming))?|soonest`)
/** What rows are called that are done. */
export const FINISHED: ReadonlySet<string> = new Set(
  'paid,settled,done,completed,complete,closed,finished,returned,delivered,resolved,cancelled,canceled,collected'.split(','),
)

const AGREED =
  '(?:promised|agreed|planned|due|expected|scheduled|arranged|supposed|it should(?: have(?: been)?)?|they should(?: have(?: been)?)?)'
/** `isNamed`: the words after the phrase name the date that was due. */
export const PUNCTUALITY: readonly (readonly [pattern: RegExp, comparison: 'more' | 'at_most' | 'less', isNamed?: true])[] = [
  [
    toPattern(`(?:too )?late|later than ${AGREED}|after (?:it|they) (?:is|are|was|were) due|behind schedule|over time|overran|overrun`),
    'more',
  ],
  [toPattern(`(?:after|beyond|missed|later than|(?<!(?:is|are|was|were|already|long) )past)(?: ${THEIR})?`), 'more', true],
  [toPattern('on time|in time|punctual(?:ly)?|as promised|as agreed|on schedule'), 'at_most'],
  [toPattern(`(?:by|within|no later than)(?: ${THEIR})?`), 'at_most', true],
  [toPattern(`early|earlier than ${AGREED}|before (?:it|they) (?:is|are|was|were) due`), 'less'],
  [toPattern(`(?:before|earlier than|ahead of)(?: ${THEIR})?`), 'less', true],
]
