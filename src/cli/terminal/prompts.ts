/** Interactive prompts on stderr; stdout is reserved for data. */
import type { Interface } from 'node:readline'
import { paint } from './color.ts'
import { ReportedError } from './failures/command-errors.ts'
import { EXIT } from './failures/exit-codes.ts'
import { sanitizeLine, truncate, wrap } from './text.ts'

export function canPrompt(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** A readline completer: the completions and the part of the input that they replace. */
type Completer = (typed: string) => [string[], string]

/** Columns reserved for the answer next to the question. */
const ANSWER_COLUMNS = 12

/** A series of prompts. Lines typed ahead answer the next prompts; Ctrl+C and Ctrl+D end the command. */
export class Dialog {
  readonly #readline: Interface
  readonly #typedAhead: string[] = []
  #pending: { resolve: (line: string) => void; reject: (error: Error) => void } | undefined
  #isClosed = false
  #completer: Completer | undefined

  private constructor(open: (completer: Completer) => Interface) {
    // Without a completer, Tab would insert a tab character.
    const readline = open((typed) => this.#completer?.(typed) ?? [[], typed])
    this.#readline = readline
    readline.on('SIGINT', () => {
      process.stderr.write('\n')
      process.emit('SIGINT')
    })
    readline.on('line', (line) => {
      const pending = this.#pending
      this.#pending = undefined
      if (pending) pending.resolve(line.trim())
      else this.#typedAhead.push(line.trim())
    })
    readline.once('close', () => {
      this.#isClosed = true
      this.#pending?.reject(new ReportedError(EXIT.interrupted))
    })
  }

  static async open(): Promise<Dialog> {
    const { createInterface } = await import('node:readline')
    return new Dialog((completer) => createInterface({ input: process.stdin, output: process.stderr, completer }))
  }

  /** Wraps long questions; the answer is typed after the last line. */
  async ask(text: string, completer?: Completer): Promise<string> {
    const lines = wrap(text.trimEnd(), Math.max(ANSWER_COLUMNS, (process.stderr.columns || 80) - ANSWER_COLUMNS))
    const question = `${lines.pop() ?? ''} `
    for (const line of lines) process.stderr.write(`${line}\n`)
    this.#completer = completer
    const ahead = this.#typedAhead.shift()
    if (ahead !== undefined) {
      process.stderr.write(`${question}${sanitizeLine(ahead)}\n`)
      return ahead
    }
    if (this.#isClosed) throw new ReportedError(EXIT.interrupted)
    this.#readline.setPrompt(question)
    this.#readline.prompt()
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#pending = { resolve, reject }
      })
    } catch (error) {
      process.stderr.write('\n') // Ctrl+D leaves the cursor on the line of the question
      throw error
    }
  }

  async askRequired(question: string): Promise<string> {
    for (;;) {
      const answer = await this.ask(question)
      if (answer !== '') return answer
    }
  }

  /** Prompts for entries of a numbered list; an empty answer selects none. */
  async choose<T>(
    question: string,
    options: readonly Option<T>[],
    { multiple, emptyLabel = 'Enter for none' }: ChoiceOptions,
  ): Promise<T[]> {
    const columns = (process.stderr.columns || 80) - 1
    for (const [index, { label, note }] of options.entries()) {
      const number = String(index + 1).padStart(String(options.length).length)
      process.stderr.write(`${truncate(`  ${number}  ${sanitizeLine(label)}${note ? ` – ${sanitizeLine(note)}` : ''}`, columns)}\n`)
    }
    const help = `${multiple ? 'numbers, all' : 'a number'}, or ${emptyLabel}`
    for (;;) {
      const numbers = parseNumbers(await this.ask(`${question} (${help}) `), options.length)
      if (numbers && (multiple || numbers.length <= 1)) return numbers.map((number) => (options[number - 1] as Option<T>).value)
      const correction = multiple
        ? `Enter numbers from 1 to ${options.length}, such as 1,3.`
        : `Enter one number from 1 to ${options.length}.`
      process.stderr.write(`${paint('yellow', correction)}\n`)
    }
  }

  close(): void {
    this.#readline.close()
  }
}

export async function withDialog<T>(work: (dialog: Dialog) => Promise<T>): Promise<T> {
  const dialog = await Dialog.open()
  try {
    return await work(dialog)
  } finally {
    dialog.close()
  }
}

export async function askYesNo(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await withDialog((dialog) => dialog.ask(`${question} [y/N] `)))
}

export interface Option<T> {
  value: T
  label: string
  note?: string
}

interface ChoiceOptions {
  multiple: boolean
  /** Effect of an empty answer, such as "Enter for none". */
  emptyLabel?: string
}

/** Parses answers such as `1,3` or `1-3`; returns undefined if invalid. */
export function parseNumbers(answer: string, most: number): number[] | undefined {
  if (/^(all|\*)$/i.test(answer)) return Array.from({ length: most }, (_, index) => index + 1)
  const numbers = new Set<number>()
  for (const part of answer.split(/[\s,]+/).filter(Boolean)) {
    const range = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part)
    const [from, to] = range ? [Number(range[1]), Number(range[2] ?? range[1])] : [0, 0]
    if (from < 1 || to > most || from > to) return undefined
    for (let number = from; number <= to; number++) numbers.add(number)
  }
  return [...numbers]
}
