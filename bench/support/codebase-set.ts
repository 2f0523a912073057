/** A small built-in retrieval set, for machines without the public ones. */
export interface RetrievalSet {
  name: string
  documents: { id: string; text: string }[]
  queries: { id: string; text: string }[]
  /** Relevance grades of documents by query. */
  relevant: Map<string, Map<string, number>>
}

const DOCUMENTS: Record<string, string> = {
  leave:
    '# Leave\n\nEvery employee gets twenty-five days of paid annual leave. ' +
    'Unused days expire on 31 March of the following year.\n\n## Sick leave\n\nA doctor’s note is needed from the third day.',
  travel:
    '# Travel\n\nTrains are booked in second class. A hotel may cost at most 140 euros a night in Lisbon and 180 in Zurich. ' +
    'Taxis need a reason.',
  security:
    '# Security\n\nPasswords are never rotated; hardware keys are mandatory. ' +
    'A lost key is reported to the security desk within one hour.',
  onboarding:
    '# The first week\n\nA laptop waits at the reception on the first morning. ' +
    'The buddy shows the building, the kitchen and where the coffee is.',
  expenses: '# Expenses\n\nReceipts are photographed and sent within thirty days. Meals with guests need the names of all who were there.',
  parking: '# Parking\n\nBicycles go to the cellar, cars to level two. Chargers for electric cars are free until the evening.',
  releases: '# Releases\n\nA release is cut every second Tuesday. Hotfixes may go out at any time when two engineers agree.',
  oncall: '# On call\n\nThe pager changes hands on Monday at ten. Whoever is woken at night starts later the next day.',
  parser:
    'export function parseHeader(line: string): Header {\n  const colon = line.indexOf(":")\n' +
    '  return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() }\n}',
  retry:
    'async function withRetry<T>(work: () => Promise<T>, tries: number): Promise<T> {\n' +
    '  // waits twice as long after each failure\n  for (let wait = 100; ; wait *= 2) {\n' +
    '    try { return await work() } catch (error) { if (--tries === 0) throw error; await sleep(wait) }\n  }\n}',
  zh: '# 休假\n\n每位员工每年享有二十五天带薪年假。未使用的假期于次年三月三十一日失效。',
  ja: '# 出張\n\n電車は二等車で予約します。リスボンのホテルは一泊百四十ユーロまでです。',
}
const QUESTIONS: [string, string][] = [
  ['How many vacation days do I have per year?', 'leave'],
  ['When do I need a certificate from a physician?', 'leave'],
  ['maximum price of a hotel room in Lisbon', 'travel'],
  ['Which class may I take on the train?', 'travel'],
  ['I lost my hardware token, whom do I tell?', 'security'],
  ['Where do I get my computer on day one?', 'onboarding'],
  ['How long do I have to hand in receipts?', 'expenses'],
  ['Where can I leave my bike?', 'parking'],
  ['How often do we ship a new version?', 'releases'],
  ['Who carries the pager this week?', 'oncall'],
  ['split a header into name and value', 'parser'],
  ['exponential backoff', 'retry'],
  ['年假有多少天', 'zh'],
  ['ホテルの上限はいくらですか', 'ja'],
]

export const OWN_SET: RetrievalSet = {
  name: 'own',
  documents: Object.entries(DOCUMENTS).map(([id, text]) => ({ id, text })),
  queries: QUESTIONS.map(([text], at) => ({ id: String(at), text })),
  relevant: new Map(QUESTIONS.map(([, id], at) => [String(at), new Map([[id, 1]])])),
}
