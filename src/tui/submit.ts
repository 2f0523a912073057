/** What was typed goes out: a command is run, a message is sent with the files it names. */
import { AttachmentError, attachFiles } from '../cli/input/attachments.ts'
import { runCommand } from './commands/run-command.ts'
import { clearAndRemember } from './input/editor.ts'
import { parseCommand } from './input/slash-commands.ts'
import type { ChatSession } from './session/chat-session.ts'
import { canRetry } from './state/chat-state.ts'

/** Resolves when the command is done or the reply has ended. What cannot go out stays where it was typed. */
export async function submit(room: ChatSession, text: string): Promise<void> {
  const { store: desk } = room
  if (text.trim() === '') return
  const called = parseCommand(text)
  if (called && 'problem' in called) return desk.addNote(called.problem, 'bad')
  if (called) {
    clearInput(room, text)
    return runCommand(room, called)
  }
  if (desk.state.transcript.isAwaitingReply) return desk.update({ hint: 'A reply is being written. Esc stops it.' })
  if (!desk.state.agent) return desk.addNote('Nobody is here to answer. /agents shows who could.', 'bad')
  const message = buildMessage(room, text)
  if (message === undefined) return
  clearInput(room, text)
  await sendMessage(room, text, message)
}

/** What is sent for a text: with the files it names. Undefined where that was doubted aloud; the same text again is meant as it stands. */
function buildMessage(room: ChatSession, text: string): string | undefined {
  const { store: desk, cwd, isPlain: plain } = room
  const meant = room.unconfirmedText === text
  room.unconfirmedText = undefined
  const doubt = (why: string, otherwise: string) => {
    room.unconfirmedText = text
    desk.addNote(`${why} ${plain ? 'The same line again' : 'Enter again'} sends ${otherwise}.`, 'bad')
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
    desk.addNote(error.message, 'bad')
  }
  return undefined
}

function clearInput({ store: desk }: ChatSession, text: string): void {
  desk.update({ editor: clearAndRemember(desk.state.editor, text), menu: undefined, files: [], panel: undefined })
}

async function sendMessage(room: ChatSession, text: string, message: string): Promise<void> {
  room.lastMessage = { text, message }
  room.store.dispatch({ kind: 'said', text })
  await room.replies.send(message)
}

/** Sends the last message again, after it failed. */
export async function retryLastMessage(room: ChatSession): Promise<void> {
  const { store: desk, lastMessage: last } = room
  if (!canRetry(desk.state.transcript)) return
  const said = desk.state.transcript.entries.findLast((entry) => entry.kind === 'said')
  if (said?.kind !== 'said') return
  await sendMessage(room, said.text, last?.text === said.text ? last.message : said.text)
}
