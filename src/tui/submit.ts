/** What was typed goes out: a command is run, a message is sent with the files it names. */
import { run } from './actions.ts'
import { withFiles } from './attachments.ts'
import { calledIn } from './commands.ts'
import { sent } from './editor.ts'
import type { Room } from './room.ts'
import { canRetry } from './state.ts'

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
  try {
    const { message } = withFiles(text, room.cwd)
    accept(room, text)
    await talk(room, text, message)
  } catch (error) {
    desk.note((error as Error).message, 'bad')
  }
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
