/** Collects what the cells of a column have in common, to find its type. */

import type { ColumnType, Reading } from '../typed-table.ts'
import {
  type CellNumber,
  findDecimalMark,
  hasDayFirst,
  hasDottedDate,
  isCurrency,
  isEmptyCell,
  parseBoolean,
  parseDate,
  parseDuration,
  parseNumber,
} from './parse-cell.ts'

/** A column of text also has numbers or dates if this share of its cells starts with one. */
const MIN_READING_SHARE = 0.6
/** Cells after which a type that none of them has is no longer tried. */
const MAX_TRIALS = 500
const MAX_SCALE = 6

/** The numbers of a column, read with one of the decimal marks. */
interface Numbers {
  /** Cells that start with a number, and those that consist of one. */
  any: number
  whole: number
  scale: number
  /** The unit that all numbers have; null if they have several. */
  unit: string | null | undefined
}

const createNumbers = (): Numbers => ({ any: 0, whole: 0, scale: 0, unit: undefined })

export class ColumnTypeInference {
  isDayFirst = false
  hasEmptyCells = false
  /** Whether a date or number shows which decimal mark the document has. */
  hasDottedDates = false
  readonly decimalMarks = { comma: 0, point: 0 }
  #cells = 0
  #isPlainInteger = true
  readonly #numbers = { point: createNumbers(), comma: createNumbers() }
  readonly #whole = { date: 0, duration: 0, boolean: 0 }
  readonly #any = { date: 0, duration: 0 }

  add(cell: string): void {
    if (isEmptyCell(cell)) {
      this.hasEmptyCells = true
      return
    }
    this.#cells++
    this.#isPlainInteger &&= /^-?[1-9]\d{0,14}$|^0$/.test(cell)
    if (this.#isTried(this.#whole.boolean) && parseBoolean(cell) !== undefined) this.#whole.boolean++
    if (this.#isTried(this.#numbers.point.any)) this.#addNumber(cell)
    if (this.#isTried(this.#any.duration)) this.#count('duration', parseDuration(cell))
    if (this.#isTried(this.#any.date)) {
      this.isDayFirst ||= hasDayFirst(cell)
      this.hasDottedDates ||= hasDottedDate(cell)
      this.#count('date', parseDate(cell) ?? parseDate(cell, true))
    }
  }

  #isTried(hits: number): boolean {
    return hits > 0 || this.#cells <= MAX_TRIALS
  }

  #count(kind: 'date' | 'duration', found: { isWhole: boolean } | undefined): void {
    if (!found) return
    this.#any[kind]++
    if (found.isWhole) this.#whole[kind]++
  }

  #addNumber(cell: string): void {
    const number = parseNumber(cell)
    addNumber(this.#numbers.point, number)
    // Most numbers have no mark.
    const isMarked = /[.,]/.test(cell)
    addNumber(this.#numbers.comma, isMarked ? parseNumber(cell, true) : number)
    const mark = isMarked && number?.isWhole ? findDecimalMark(cell) : undefined
    if (mark) this.decimalMarks[mark]++
  }

  /** Returns the type, and the reading that a column of text has beside its text. */
  getType(hasDecimalComma: boolean): { type: ColumnType; unit: string; scale: number; reading?: Reading; isPlainInteger: boolean } {
    const plain = { unit: '', scale: 0, isPlainInteger: false }
    const isAll = (count: number) => this.#cells > 0 && count === this.#cells
    if (isAll(this.#whole.boolean)) return { type: 'boolean', ...plain }
    if (isAll(this.#whole.date)) return { type: 'date', ...plain }
    if (isAll(this.#whole.duration)) return { type: 'duration', ...plain }
    const { any, whole, scale, unit } = this.#numbers[hasDecimalComma ? 'comma' : 'point']
    if (isAll(whole) && typeof unit === 'string') {
      const type = unit === '%' ? 'percentage' : isCurrency(unit) ? 'currency' : scale > 0 ? 'decimal' : 'integer'
      return { type, unit, scale, isPlainInteger: this.#isPlainInteger }
    }
    const isMost = (count: number) => this.#cells > 0 && count / this.#cells >= MIN_READING_SHARE
    if (isMost(this.#any.date)) return { type: 'text', ...plain, reading: 'date' }
    if (isMost(this.#any.duration)) return { type: 'text', ...plain, reading: 'number' }
    if (isMost(any)) return { type: 'text', ...plain, scale, reading: 'number' }
    return { type: 'text', ...plain }
  }
}

function addNumber(numbers: Numbers, number: CellNumber | undefined): void {
  if (!number) return
  numbers.any++
  numbers.scale = Math.min(MAX_SCALE, Math.max(numbers.scale, number.scale))
  if (!number.isWhole) return
  numbers.whole++
  numbers.unit = numbers.unit === undefined || numbers.unit?.toLowerCase() === number.unit.toLowerCase() ? number.unit : null
}
