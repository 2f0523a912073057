import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expandContainer } from '../../../daemon/knowledge/readers/containers/expand-container.ts'
import type { SourceDocument } from '../../../daemon/knowledge/sources/source-document.ts'
import { ContainerExpander } from '../../../daemon/knowledge/sync/container-expander.ts'
import type { KnownDocument } from '../../../daemon/knowledge/sync/discovery-store.ts'
import type { ParserPool } from '../../../daemon/knowledge/sync/parser-pool.ts'
import { loadContent } from '../../../daemon/store/original-store.ts'

const test = suite('growing mailboxes')

/** Bytes that were expanded, by every expansion. */
const expanded: number[] = []
const pool = {
  async expand(input, { selection, earlier }, onDocuments) {
    expanded.push(input.size)
    const documents = []
    for await (const document of expandContainer(await loadContent(await input.read()), input.name, selection, earlier))
      documents.push(document)
    await onDocuments(documents)
  },
} as Pick<ParserPool, 'expand'> as ParserPool

function createMail(subject: string, text: string): string {
  const header = ['From: Mia <mia@example.com>', `Subject: ${subject}`, 'Date: Mon, 4 Mar 2024 10:15:00 +0000']
  return ['From mia@example.com Mon Mar  4 10:15:00 2024', ...header, '', text, '', ''].join('\n')
}

/** Expands the mailbox as a sync does, and returns what it stored, with the container. */
async function expand(mailbox: string, known: readonly KnownDocument[] = []): Promise<KnownDocument[]> {
  const stored: SourceDocument[] = []
  const bytes = Buffer.from(mailbox)
  const container = { name: 'inbox.mbox', fingerprint: `${bytes.length} bytes`, read: async () => bytes }
  const previous = known.find(({ name }) => name === container.name)
  const expander = new ContainerExpander(pool, {}, known)
  const store = async (document: SourceDocument) => stored.push(document) > 0
  stored.push(await expander.expand(container, previous, store, new AbortController().signal))
  return stored.map(
    ({ name, fingerprint }) =>
      ({ id: name, name, fingerprint, content_hash: '', status: 'indexed', error: null, origin: 'found' }) as KnownDocument,
  )
}

const first = createMail('Report', 'one') + createMail('Report', 'two') + createMail('Regatta (2)', 'three')

test('only mails that were appended are read, with the names that they have in the whole mailbox', async () => {
  const appended = createMail('Report', 'four') + createMail('Regatta (2)', 'five') + createMail('Pier', 'six')
  const before = await expand(first)
  expanded.length = 0
  const grown = await expand(first + appended, before)
  assert.equal(expanded, [appended.length])
  assert.equal(grown, await expand(first + appended))
  assert.equal(grown.slice(0, 3), before.slice(0, 3))
  expanded.length = 0
  assert.equal(await expand(first + appended, grown), grown)
  assert.equal(expanded, [], 'an unchanged mailbox is not read')
})

test('a mailbox whose earlier mails have changed, or that lacks a document, is read completely', async () => {
  const before = await expand(first)
  const appended = createMail('Pier', 'six')
  for (const [mailbox, known] of [
    [first.replace('one', 'One') + appended, before],
    [first.trimEnd() + appended, before],
    [first + appended, before.slice(1)],
    [createMail('Pier', 'six'), before],
  ] as const) {
    expanded.length = 0
    assert.equal(await expand(mailbox, known), await expand(mailbox))
    assert.equal(expanded, [mailbox.length, mailbox.length])
  }
})

test.run()
