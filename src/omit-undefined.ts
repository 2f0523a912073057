/** Omits the fields without a value, so that they do not replace those of another object. */
export const omitUndefined = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>
