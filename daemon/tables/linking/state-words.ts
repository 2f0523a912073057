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
  ['former,quit,left,left us,resigned', 'left leaving exit termination terminated last_day', false],
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

export const CAPACITY = createLimit([
  'capacity maximum max seats limit',
  'registered booked attendees attended attendance enrolled participants occupied occupancy sold used registrations',
])
export const FULL_PHRASES: readonly string[] = ['sold out', 'fully booked', 'were full', 'was full', 'are full', 'is full']

/** Columns that limit others: the budget limits what is spent. */
const OTHER_LIMITS: readonly (readonly string[])[] = [
  ['budget planned plan estimate estimated forecast', 'spent actual cost expense spending'],
  ['target goal quota', 'actual sales revenue achieved result sold closed'],
  ['reorder minimum min threshold safety', 'stock hand quantity qty inventory available units'],
  ['entitlement entitled allowance quota', 'taken used'],
]

/** Headers of dates with which an employment or a contract starts. */
export const START_STEMS = toStems('hire hired joined join start started since employed entry member')
/** Headers of dates that were set, and of those when it happened. */
export const DUE_STEMS = toStems('due deadline promised expected planned scheduled')
export const ACTUAL_STEMS = toStems(
  'paid payment returned return delivered delivery arrived completed closed finished shipped resolved actual',
)
export const LIMITS: readonly Limit[] = [...OTHER_LIMITS.map(createLimit), CAPACITY, { limits: DUE_STEMS, measures: ACTUAL_STEMS }]

export const PUNCTUALITY: readonly (readonly [phrase: string, comparison: 'more' | 'at_most' | 'less'])[] = [
  ['late', 'more'],
  ['too late', 'more'],
  ['on time', 'at_most'],
  ['early', 'less'],
]
