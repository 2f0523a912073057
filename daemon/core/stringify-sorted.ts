/** Serializes JSON with the fields of all objects in the order of their names. */
export const stringifySorted = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part === null || typeof part !== 'object' || Array.isArray(part)
      ? part
      : Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
