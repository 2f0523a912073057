/** Routes whose behaviour is not built yet: they are checked like all others, then answer 501. The one place that says so. */
export const PENDING: ReadonlySet<string> = new Set<string>()
