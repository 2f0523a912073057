/** Flags that can be repeated or have several values. */

/** A flag that can be repeated, with one value each time. */
export const repeatable = { multiple: true, multipleNonGreedy: true } as const

/** Splits values that are separated by commas. */
export const splitWords = (values: readonly string[]): string[] =>
  values
    .flatMap((value) => value.split(','))
    .map((word) => word.trim())
    .filter(Boolean)
