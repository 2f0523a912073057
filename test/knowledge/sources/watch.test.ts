import { EventEmitter, once } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { watchFolder } from '../../../daemon/knowledge/sources/find-documents.ts'

interface Context {
  root: string
  close: (() => void) | undefined
}
const test = suite<Context>('watching folders')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-watch-'))
})
test.after.each(({ root, close }) => {
  close?.()
  rmSync(root, { recursive: true, force: true })
})

/** Starts watching; `after` makes a change and waits for the call that must follow it. */
async function watched(context: Context, configuration: Record<string, unknown> = {}) {
  let calls = 0
  const events = new EventEmitter<{ changed: []; failed: [Error] }>()
  const failed = once(events, 'failed') as Promise<[Error]>
  const watching = watchFolder(
    { path: context.root, ...configuration },
    () => {
      calls++
      events.emit('changed')
    },
    (error) => events.emit('failed', error),
  )
  context.close = () => watching.close()
  await watching.ready
  return {
    failed: failed.then(([error]) => error),
    calls: () => calls,
    after: async (change: () => void) => {
      const changed = once(events, 'changed')
      change()
      await changed
    },
  }
}

test('adding, changing, renaming and deleting a file is noticed', async (context) => {
  const file = join(context.root, 'a.md')
  const { after } = await watched(context)
  await after(() => writeFileSync(file, 'one'))
  await after(() => appendFileSync(file, 'two'))
  await after(() => renameSync(file, join(context.root, 'b.md')))
  await after(() => unlinkSync(join(context.root, 'b.md')))
})

test('folders that were there, came later, or go away are watched too', async (context) => {
  mkdirSync(join(context.root, 'old/er'), { recursive: true })
  const { after } = await watched(context)
  await after(() => writeFileSync(join(context.root, 'old/er/a.md'), ''))
  await after(() => {
    mkdirSync(join(context.root, 'new/deep/down'), { recursive: true })
    writeFileSync(join(context.root, 'new/deep/down/b.md'), '')
  })
  await after(() => appendFileSync(join(context.root, 'new/deep/down/b.md'), 'more'))
  await after(() => renameSync(join(context.root, 'new'), join(context.root, 'moved')))
  await after(() => appendFileSync(join(context.root, 'moved/deep/down/b.md'), 'more'))
  await after(() => rmSync(join(context.root, 'old'), { recursive: true }))
})

test('a burst of changes is one call, and what the source does not read is none', async (context) => {
  mkdirSync(join(context.root, 'node_modules'))
  const { after, calls } = await watched(context)
  await after(() => {
    for (const at of Array(50).keys()) writeFileSync(join(context.root, `${at}.md`), '')
  })
  assert.is(calls(), 1)
  writeFileSync(join(context.root, 'node_modules/x.md'), '')
  writeFileSync(join(context.root, 'image.png'), '')
  writeFileSync(join(context.root, '.a.md.swp'), '')
  await after(() => writeFileSync(join(context.root, 'last.md'), ''))
  assert.is(calls(), 2)
})

test('.gitignore is a change, for it decides what is read', async (context) => {
  const { after } = await watched(context)
  await after(() => writeFileSync(join(context.root, '.gitignore'), 'drafts/'))
})

test('a folder that is gone is told, whether before or later', async (context) => {
  const { failed } = await watched(context)
  rmSync(context.root, { recursive: true })
  assert.match((await failed).message, 'is gone')
  const { failed: never } = await watched(context)
  assert.match((await never).message, 'There is nothing at')
})

test('nothing is called once it is closed', async (context) => {
  const { calls } = await watched(context)
  writeFileSync(join(context.root, 'a.md'), '')
  context.close?.()
  const other = await watched(context)
  await other.after(() => writeFileSync(join(context.root, 'b.md'), ''))
  assert.is(calls(), 0)
})

test.run()
