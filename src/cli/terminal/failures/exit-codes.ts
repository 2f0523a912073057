/** Exit codes of commands. */

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  denied: 4,
  unreachable: 5,
  rateLimited: 7,
  evaluationFailed: 100,
  changesPlanned: 100,
  interrupted: 130,
} as const

/** Exit codes for the error codes of the API. */
export const EXIT_BY_CODE: Record<string, number> = {
  VALIDATION_ERROR: EXIT.usage,
  INVALID_JSON: EXIT.usage,
  NOT_FOUND: EXIT.notFound,
  UNAUTHENTICATED: EXIT.denied,
  FORBIDDEN: EXIT.denied,
  RATE_LIMITED: EXIT.rateLimited,
}
