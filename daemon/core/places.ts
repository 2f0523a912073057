/** Names the places of a document that citations refer to: pages, slides, sheets. */

export type PlaceKind = 'page' | 'slide' | 'sheet' | 'cell' | 'mail'

/** What the numbered pages of a document are, if they are not just pages. */
export interface Places {
  kind: PlaceKind
  /** The name of each place, starting with number 1. Places without a name are numbered. */
  names?: readonly string[]
  /** Numbers of the pages whose text comes from text recognition. */
  recognized?: readonly number[]
}

/** Names are part of every search result; a mailbox can have a hundred thousand. */
const MAX_NAMES = 1_000
const MAX_NAME_LENGTH = 100

/** Returns `slide 3` or `sheet Budget`; undefined if the page number says it all. */
export function formatPlace(places: Places | null, number: number): string | undefined {
  if (!places) return undefined
  const isRecognized = places.recognized?.includes(number) ?? false
  if (places.kind === 'page' && !isRecognized) return undefined
  return `${places.kind} ${places.names?.[number - 1] || number}${isRecognized ? ', recognised text' : ''}`
}

/** Returns the place of a passage for a model: `slide 3`, or `page 3, changed since it was indexed`. */
export const formatPassagePlace = ({ place, page, stale }: PassagePlace): string =>
  `${place ?? `page ${page}`}${stale ? ', changed since it was indexed' : ''}`

interface PassagePlace {
  place?: string | undefined
  page: number
  stale?: boolean | undefined
}

/** Limits what is stored with a document. */
export function limitPlaces({ names, ...places }: Places): Places {
  return names ? { ...places, names: names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH)) } : places
}
