/** A mailbox of 10,000 messages: its sync relative to the same messages as text files, a second sync, a new message, and memory. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMemory } from '../../attack/support/daemon.ts'
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { ScriptedEmbedder } from '../../test/knowledge/scripted-embedder.ts'
import { request, withDaemon, withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds } from '../support/figures.ts'
import { measureSync } from '../support/sync-source.ts'

const MESSAGES = 10_000
const MB = 1024 * 1024
const MAX_MEMORY_MB = 600
const WORDS = 'the meeting about travel costs moved to the large room so bring your notes and the list of open questions'.split(' ')

export const mailbox: Benchmark = {
  name: 'mailbox',
  run: () =>
    withHome((home) =>
      withDaemon(home, async (daemon): Promise<Figure[]> => {
        // The embedded model would take most of the time.
        const embedder = await ScriptedEmbedder.start()
        try {
          const model = await create(daemon, '/api/models', { name: 'embedder', model_id: 'scripted', ...embedder.model })
          const path = join(home, 'mail')
          const mails = writeFolder(path, { 'inbox.mbox': Array.from({ length: MESSAGES }, (_, number) => createMail(number)).join('') })
          const first = await measureSync(daemon, await createFolder(daemon, 'mail', mails, model))
          const memory = readMemory(daemon.child.pid, 'VmHWM')
          const source = await findSource(daemon, 'mail')
          const second = await measureSync(daemon, source)
          appendFileSync(join(path, 'inbox.mbox'), createMail(MESSAGES))
          const appended = await measureSync(daemon, source)
          const texts = Object.fromEntries(Array.from({ length: MESSAGES }, (_, number) => [`${number}.txt`, createBody(number)]))
          const files = await measureSync(daemon, await createFolder(daemon, 'files', writeFolder(join(home, 'files'), texts), model))
          return [
            {
              name: 'mailbox of 10,000 messages, relative to text files',
              figure: `${formatMilliseconds(first.totalMs)} to ${formatMilliseconds(files.totalMs)} for ${first.chunks} chunks`,
              ratio: first.totalMs / files.totalMs,
              bar: { most: 2 },
            },
            {
              name: 'second sync of the mailbox, relative to the first',
              figure: formatMilliseconds(second.totalMs),
              ratio: second.totalMs / first.totalMs,
              bar: { most: 0.05 },
            },
            {
              name: 'sync after a new message, relative to the first',
              figure: formatMilliseconds(appended.totalMs),
              ratio: appended.totalMs / first.totalMs,
              bar: { most: 0.2 },
            },
            {
              name: `memory of the daemon, relative to ${MAX_MEMORY_MB} MB`,
              figure: `${Math.round(memory / MB)} MB`,
              ratio: memory / MB / MAX_MEMORY_MB,
              bar: { most: 1 },
            },
          ]
        } finally {
          await embedder.close()
        }
      }),
    ),
}

function writeFolder(folder: string, files: Record<string, string>): string {
  mkdirSync(folder)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

/** Creates a folder source whose only index uses the embedding model. */
async function createFolder(daemon: DaemonProcess, name: string, path: string, model: string): Promise<string> {
  const id = await create(daemon, '/api/knowledge-sources', { name, type: 'folder', configuration: { path } })
  await create(daemon, '/api/retrieval-tools', { name: `find-${name}`, knowledge_source_ids: [id], embedding_model: model })
  return id
}

async function create(daemon: DaemonProcess, path: string, body: object): Promise<string> {
  return (await request<{ data: { id: string } }>(daemon, 'POST', path, body)).data.id
}

async function findSource(daemon: DaemonProcess, name: string): Promise<string> {
  const { data } = await request<{ data: { id: string; name: string }[] }>(daemon, 'GET', '/api/knowledge-sources')
  return data.find((source) => source.name === name)?.id ?? ''
}

/** About 1,500 characters, different for every number. */
function createBody(number: number): string {
  const sentences = Array.from({ length: 16 }, (_, sentence) => {
    const words = Array.from({ length: 15 }, (_, word) => WORDS[(number * 7 + sentence * 13 + word * (1 + (number % 11))) % WORDS.length])
    return `${words.join(' ')} ${number}.`
  })
  return `${sentences.join('\n')}\n`
}

function createMail(number: number): string {
  const header = [
    'From person@example.com Mon Mar  4 10:15:00 2024',
    `From: Person ${number % 50} <person${number % 50}@example.com>`,
    'To: team@example.com',
    `Subject: Report ${number}`,
    `Date: ${new Date(Date.UTC(2024, 0, 1) + number * 3_600_000).toUTCString()}`,
    `Message-ID: <${number}@example.com>`,
    'Content-Type: text/plain; charset=utf-8',
  ]
  const quote = createBody(number + 1).replaceAll(/^(?=.)/gm, '> ')
  return `${header.join('\n')}\n\n${createBody(number)}\nOn Monday, Person 7 wrote:\n${quote}\n\n`
}
