/** Submits the input: runs a slash command or sends a message with its attached files. */
import { type AttachedDocument, AttachmentError, attachFiles } from '../cli/input/attachments.ts'
import { appendDocuments } from '../cli/input/read-documents.ts'
import { toFailure } from '../cli/terminal/failures/describe-failure.ts'
import { formatFailure } from '../cli/terminal/failures/format-failure.ts'
import { runCommand } from './commands/run-command.ts'
import { clearAndRemember } from './input/line-editor.ts'
import { parseCommand } from './input/slash-commands.ts'
import type { ChatSession } from './session/chat-session.ts'
import { queueMessage } from './session/message-queue.ts'
import { sendMessage } from './session/send-message.ts'
import type { OutgoingText } from './state/chat-state.ts'

/** A line such as `!ls`, which other chats run in a shell. `!=`, Markdown images and pasted code of several lines are messages. */
const SHELL_COMMAND = /^!\s*[\w.~/$].*$/

/** Resolves when the command is done or the reply has ended. Text that cannot be sent stays in the input. */
export async function submit(session: ChatSession, text: string): Promise<void> {
  const { store } = session
  if (text.trim() === '') return
  const command = parseCommand(text)
  if (command && 'problem' in command) return store.addNote(command.problem, 'bad')
  if (command) {
    clearInput(session, text)
    return runCommand(session, command)
  }
  if (!store.state.agent) return store.addNote('No agent is selected. To select one: /agents', 'bad')
  const built = buildMessage(session, text)
  if (built === undefined) return
  const message = built.documents.length === 0 ? built.message : await readDocuments(session, text, built)
  if (message === undefined) return
  const outgoing = { text, message, images: built.images }
  if (store.state.transcript.isAwaitingReply) {
    if (queueMessage(session, outgoing)) clearInput(session, text)
    else store.update({ hint: 'The queue is full. Wait for the reply, or press Esc to stop it.' })
    return
  }
  const replace = store.state.replacesLast
  clearInput(session, text)
  await sendMessage(session, outgoing, { replace })
}

interface BuiltMessage extends Omit<OutgoingText, 'text'> {
  documents: AttachedDocument[]
}

/** Returns the message with the text of its documents; undefined if one cannot be read, or if the input was changed meanwhile. */
async function readDocuments(session: ChatSession, text: string, { message, documents }: BuiltMessage): Promise<string | undefined> {
  const { store, isPlain } = session
  if (session.isReadingDocuments) return undefined
  session.isReadingDocuments = true
  store.update({ hint: `Reading ${documents.map(({ path }) => path).join(', ')}…` })
  try {
    const complete = await appendDocuments(await session.client.getConnection(), message, documents)
    return isPlain || store.state.editor.text === text ? complete : undefined
  } catch (error) {
    store.addNote(error instanceof AttachmentError ? error.message : formatFailure(toFailure(error)), 'bad')
    return undefined
  } finally {
    session.isReadingDocuments = false
    store.update({ hint: undefined })
  }
}

/** Attaches files. Returns undefined and adds a note for a problem or a shell command; submitting the same text again skips the check. */
function buildMessage(session: ChatSession, text: string): BuiltMessage | undefined {
  const { store, cwd, isPlain } = session
  const isConfirmed = session.unconfirmedText === text
  session.unconfirmedText = undefined
  const askToConfirm = (problem: string, sent: string) => {
    session.unconfirmedText = text
    store.addNote(`${problem} ${isPlain ? 'Enter the same line' : 'Press Enter'} again to send ${sent}.`, 'bad')
  }
  if (SHELL_COMMAND.test(text.trim()) && !isConfirmed) {
    const advice = 'Run the command in a terminal. To ask about its output, write it to a file and attach that, such as @output.txt.'
    askToConfirm(`Cadre has no shell, so "!" runs nothing. ${advice}`, 'the message as it is')
    return undefined
  }
  try {
    const { message, images, documents, files, missing } = attachFiles(text, cwd)
    if (missing[0] !== undefined && !isConfirmed) {
      askToConfirm(missing[0], 'the message as it is')
      return undefined
    }
    if (files.length === 0 || !store.state.model?.onlyQuotes) return { message, images, documents }
    // Such a model would search for the text of the file.
    if (isConfirmed) return { message: text, images: [], documents: [] }
    const names = files.join(', ')
    askToConfirm(
      `${store.state.model.name} only quotes the agent's documents and does not read ${names}. To select another model: /model.`,
      'the question without it',
    )
  } catch (error) {
    if (!(error instanceof AttachmentError)) throw error
    store.addNote(error.message, 'bad')
  }
  return undefined
}

/** Clears the input. As in shells, a line that starts with a space is not stored. */
function clearInput({ store, history }: ChatSession, text: string): void {
  try {
    if (!text.startsWith(' ')) history?.append(text)
  } catch {
    // optional: the history of this chat is kept in memory
  }
  store.update({ editor: clearAndRemember(store.state.editor, text), menu: undefined, files: [], panel: undefined, replacesLast: false })
}
