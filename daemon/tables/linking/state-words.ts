/** States that columns imply, and columns that limit others. */
import { stem } from '../../language/content-words.ts'
import { list, toStems } from '../vocabulary.ts'

export interface State {
  phrases: readonly string[]
  headers: ReadonlySet<string>
  isMissing: boolean
  /** What the state may be called in a column that also has the opposite. */
  values?: ReadonlySet<string>
  opposites?: ReadonlySet<string>
}

/** Words for rows whose cells are empty or "no" in a column with one of the words in its header, or are not. */
export const STATES: readonly State[] = [
  [
    'unpaid,outstanding,owe,owes,owed,owing,unsettled,not settled,waiting for payment,awaiting payment',
    'paid payment settled',
    true,
    'unpaid,open,outstanding,overdue,not paid,due,pending,sent',
    'paid,settled',
  ],
  ['settled,paid up,been paid', 'paid payment', false],
  ['finished,completed', 'finished completed completion', false],
  ['vacant,unoccupied,empty,unlet,unrented,free', 'tenant occupant guest renter resident lessee occupied rented let booked', true],
  ['pending,unapproved,not approved,not been approved,awaiting approval', 'approved approval', true],
  ['unassigned,not assigned', 'assigned assignee owner agent driver responsible technician', true],
  ['still out,on loan,checked out,not back,outstanding,not returned', 'returned return', true],
  ['out on rental,on rental,out on loan,rented out,lent out,loaned out', 'returned return', true],
  ['not come back,not been returned,not been brought back', 'returned return', true],
  [
    'open,unresolved,unsolved,ongoing,unfinished,incomplete,not finished',
    'closed resolved solved completed completion finished done',
    true,
  ],
  [
    'undelivered,not arrived,not come in,not been delivered,not been received,still waiting for',
    'delivered delivery arrival arrived received',
    true,
  ],
  ['active,current,still employed,still with us,still work', 'left leaving exit termination terminated last_day', true],
  ['former,quit,left,left us,resigned', 'left leaving exit termination terminated last_day cancelled', false],
].map(([phrases, headers, isMissing, values, opposites]) => ({
  phrases: String(phrases).split(','),
  headers: new Set(list(String(headers)).map((header) => (header.includes('_') ? header : stem(header)))),
  isMissing: isMissing === true,
  ...(values ? { values: new Set(String(values).split(',')), opposites: new Set(String(opposites).split(',')) } : {}),
}))

interface Limit {
  limits: ReadonlySet<string>
  measures: ReadonlySet<string>
}

const createLimit = ([limits, measures]: readonly string[]): Limit => ({ limits: toStems(limits), measures: toStems(measures) })

const CAPACITY = createLimit([
  'capacity maximum max seats limit',
  'registered booked attendees attended attendance enrolled participants occupied occupancy sold used registrations',
])
const STOCK = createLimit(['reorder minimum min threshold safety', 'stock hand quantity qty inventory available units'])

/** Phrases for rows that have reached a limit: as much is sold as there is room for, or no more is left than the reorder level. */
export const LIMIT_STATES = [
  {
    phrases: ['sold out', 'fully booked', 'were full', 'was full', 'are full', 'is full'],
    comparison: 'at_least' as const,
    ...CAPACITY,
  },
  {
    phrases: [
      ...['running low', 'run low', 'getting low', 'low on stock', 'low in stock', 'low stock', 'are low', 'is low', 'running out'],
      ...['need reordering', 'needs reordering', 'need to reorder', 'need to be reordered', 'needs to be reordered', 'should we reorder'],
      ...['almost out of stock', 'nearly out of stock', 'need restocking', 'need to restock', 'need to be restocked'],
    ],
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
export const START_STEMS = toStems('hire hired joined join start started since employed entry member')
/** Headers of dates that were set, and of those when it happened. */
export const DUE_STEMS = toStems('due deadline promised expected planned scheduled')
export const ACTUAL_STEMS = toStems(
  'paid payment returned return delivered delivery arrived completed closed finished shipped resolved actual',
)
export const LIMITS: readonly Limit[] = [...OTHER_LIMITS.map(createLimit), STOCK, CAPACITY, { limits: DUE_STEMS, measures: ACTUAL_STEMS }]

/** Phrases for dates before the day of the question. What is overdue is also not done yet. */
export const PAST_STATES = [
  { phrases: ['overdue', 'past due', 'past their due date'], headers: new Set([...DUE_STEMS, ...toStems('next')]), isOpen: true },
  {
    phrases: ['expired', 'have run out', 'has run out', 'lapsed', 'out of date', 'past their expiry date', 'past their best before date'],
    headers: toStems('expiry expires expire expiration valid before until'),
    isOpen: false,
  },
]
/** What rows are called that are done. */
export const FINISHED: ReadonlySet<string> = new Set(
  'paid,settled,done,completed,complete,closed,finished,returned,delivered,resolved,cancelled,canceled,collected'.split(','),
)

export const PUNCTUALITY: readonly (readonly [phrase: string, comparison: 'more' | 'at_most' | 'less'])[] = [
  ['late', 'more'],
  ['too late', 'more'],
  ['on time', 'at_most'],
  ['early', 'less'],
]
