/** The same conversation line by line: for screen readers, pipes and terminals that cannot be drawn on. */
import { createInterface } from 'node:readline'
import { sanitizeLine } from '../cli/terminal/text.ts'
import type { Connection } from '../client/request.ts'
import { painted } from './markdown/styled-text.ts'
import { type Opening, open } from './open-conversation.ts'
import { argumentText } from './render/render-tool-call.ts'
import { BEGINNING, type Feed, fed } from './render/scrollback.ts'
import { Room } from './session/chat-session.ts'
import type { ChatState } from './state/chat-state.ts'
import { Desk } from './state/chat-store.ts'
import { asking } from './state/transcript-reducer.ts'
import { submit } from './submit.ts'

export interface PlainParts {
  connect: (start: boolean) => Promise<Connection>
  opening: Opening
  cwd: string
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream
}

/** Lines are as long as they are: whoever reads them breaks them better. */
const COLUMNS = 2_000

/** Resolves at the end of the input, or when the person leaves. */
export async function plainChat({ connect, opening, cwd, input, output }: PlainParts): Promise<void> {
  const printer = new Printer(output, input.isTTY === true)
  const desk = new Desk(() => printer.print(desk.state))
  desk.update({ size: { columns: COLUMNS, rows: 24 } })
  let leave = () => {}
  const room = new Room({ desk, connect, plain: true, cwd, leave: () => leave(), copy: async () => false })
  await open(room, opening)
  const { agent, model } = desk.state
  output.write(
    `${sanitizeLine(agent?.name ?? '')}${model ? `, ${sanitizeLine(model.name)}` : ''}. Type a message and press Enter; /help shows what else there is, quit leaves.\n`,
  )
  // Made last: lines that come before somebody waits for them are lost.
  const lines = createInterface({ input, terminal: false })
  leave = () => lines.close()
  const stop = () => void (room.session.stop() || lines.close())
  process.on('SIGINT', stop)
  let talking: Promise<void> = Promise.resolve()
  try {
    for await (const line of lines) {
      await Promise.race([Promise.all([talking, room.session.ended]), printer.asked()])
      const tool = asking(desk.state.transcript)
      if (tool) await room.session.answer(tool.id, /^y(es)?$/i.test(line.trim()))
      else talking = submit(room, line)
    }
    await Promise.all([talking, room.session.ended])
  } finally {
    process.off('SIGINT', stop)
    room.link.close()
  }
}

/** Prints what is finished, as soon as it is. */
class Printer {
  readonly #output: NodeJS.WritableStream
  readonly #echoed: boolean
  #feed: Feed = BEGINNING
  #drawing = 0
  #asking: string | undefined
  #trouble: string | undefined
  #waiting: (() => void)[] = []

  constructor(output: NodeJS.WritableStream, echoed: boolean) {
    this.#output = output
    this.#echoed = echoed
  }

  print({ drawing, transcript, now, trouble }: ChatState): void {
    // Told from its beginning, as after /resume and /history.
    if (drawing !== this.#drawing) this.#feed = BEGINNING
    this.#drawing = drawing
    // What was typed at a terminal stands there already.
    if (this.#echoed && transcript.awaiting && transcript.entries[this.#feed.entries]?.kind === 'said')
      this.#feed = { ...this.#feed, entries: this.#feed.entries + 1 }
    const { feed, done } = fed(this.#feed, transcript, { columns: COLUMNS, now, details: false })
    this.#feed = feed
    this.#say(done.map((each) => painted(each, false)))
    if (trouble !== undefined && trouble !== this.#trouble) this.#say([sanitizeLine(trouble)])
    this.#trouble = trouble
    const tool = asking(transcript)
    if (tool && tool.id !== this.#asking)
      this.#say([`${sanitizeLine(tool.name)} wants to run with ${argumentText(tool.arguments)}. Allow it? Type yes or no.`])
    this.#asking = tool?.id
    if (tool) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #say(lines: readonly string[]): void {
    if (lines.length > 0) this.#output.write(`${lines.join('\n')}\n`)
  }

  /** Settles when a tool asks whether it may be used. */
  asked(): Promise<void> {
    return this.#asking === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve()
  }
}
