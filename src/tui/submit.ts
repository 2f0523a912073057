/** What was typed goes out: a command is run, a message is sent with the files it names. */
import { AttachmentError, attachFiles } from '../cli/input/attachments.ts'
import { run } from './commands/run-command.ts'
import { sent } from './input/editor.ts'
import { calledIn } from './input/slash-commands.ts'
import type { Room } from './session/chat-session.ts'
import { canRetry } from './state/chat-state.ts'

/** Resolves when the command is done or the reply has ended. What cannot go out stays where it was typed. */
export async function submit(room: Room, text: string): Promise<void> {
  const { desk } = room
  if (text.trim() === '') return
  const called = calledIn(text)
  if (called && 'problem' in called) return desk.note(called.problem, 'bad')
  if (called) {
    accept(room, text)
    return run(room, called)
  }
  if (desk.state.transcript.awaiting) return desk.update({ hint: 'A reply is being written. Esc stops it.' })
  if (!desk.state.agent) return desk.note('Nobody is here to answer. /agents shows who could.', 'bad')
  const message = messageOf(room, text)
  if (message === undefined) return
  accept(room, text)
  await talk(room, text, message)
}

/** What is sent for a text: with the files it names. Undefined where that was doubted aloud; the same text again is meant as it stands. */
function messageOf(room: Room, text: string): string | undefined {
  const { desk, cwd, plain } = room
  const meant = room.doubted === text
  room.doubted = undefined
  const doubt = (why: string, otherwise: string) => {
    room.doubted = text
    desk.note(`${why} ${plain ? 'The same line again' : 'Enter again'} sends ${otherwise}.`, 'bad')
  }
  try {
    const { message, files, missing } = attachFiles(text, cwd)
    if (missing[0] !== undefined && !meant) {
      doubt(missing[0], 'the message as it stands')
      return undefined
    }
    if (files.length === 0 || !desk.state.model?.onlyQuotes) return message
    // It would search for the words of the file, and not read it.
    if (meant) return text
    const named = files.join(', ')
    doubt(
      `${desk.state.model.name} only quotes the agent's documents, and does not read ${named}. /model chooses one that does.`,
      'the question without it',
    )
  } catch (error) {
    if (!(error instanceof AttachmentError)) throw error
    desk.note(error.message, 'bad')
  }
  return undefined
}

function accept({ desk }: Room, text: string): void {
  desk.update({ editor: sent(desk.state.editor, text), menu: undefined, files: [], panel: undefined })
}

async function talk(room: Room, text: string, message: string): Promise<void> {
  room.last = { text, message }
  room.desk.happen({ kind: 'said', text })
  await room.session.send(message)
}

/** Sends the last message again, after it failed. */
export async function retry(room: Room): Promise<void> {
  const { desk, last } = room
  if (!canRetry(desk.state.transcript)) return
  const said = desk.state.transcript.entries.findLast((entry) => entry.kind === 'said')
  if (said?.kind !== 'said') return
  await talk(room, said.text, last?.text === said.text ? last.message : said.text)
}
