import { EventEmitter, once } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FolderWatcher } from '../../../daemon/knowledge/sources/files/folder-watcher.ts'

interface Context {
  root: string
  close: (() => void) | undefined
}
const test = suite<Context>('folder watcher')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-watch-'))
})
test.after.each(({ root, close }) => {
  close?.()
  rmSync(root, { recursive: true, force: true })
})

/** Starts watching; `after` makes a change and waits for the call that follows. */
async function startWatching(context: Context, configuration: Record<string, unknown> = {}) {
  let calls = 0
  const events = new EventEmitter<{ changed: []; failed: [Error] }>()
  const failed = once(events, 'failed') as Promise<[Error]>
  const watcher = new FolderWatcher(
    { path: context.root, ...configuration },
    () => {
      calls++
      events.emit('changed')
    },
    (error) => events.emit('failed', error),
  )
  context.close = () => watcher.close()
  await watcher.start()
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

test('adding, changing, renaming and deleting a file are reported', async (context) => {
  const file = join(context.root, 'a.md')
  const { after, calls } = await startWatching(context)
  await after(() => writeFileSync(file, 'one'))
  await after(() => appendFileSync(file, 'two'))
  await after(() => renameSync(file, join(context.root, 'b.md')))
  await after(() => unlinkSync(join(context.root, 'b.md')))
  assert.is(calls(), 4)
})

test('existing, new, moved and deleted folders are watched', async (context) => {
  mkdirSync(join(context.root, 'old/er'), { recursive: true })
  const { after, calls } = await startWatching(context)
  await after(() => writeFileSync(join(context.root, 'old/er/a.md'), ''))
  await after(() => {
    mkdirSync(join(context.root, 'new/deep/down'), { recursive: true })
    writeFileSync(join(context.root, 'new/deep/down/b.md'), '')
  })
  await after(() => appendFileSync(join(context.root, 'new/deep/down/b.md'), 'more'))
  await after(() => renameSync(join(context.root, 'new'), join(context.root, 'moved')))
  await after(() => appendFileSync(join(context.root, 'moved/deep/down/b.md'), 'more'))
  await after(() => rmSync(join(context.root, 'old'), { recursive: true }))
  assert.ok(calls() >= 6, `${calls()} calls`)
})

test('a burst of changes is reported once, and excluded files never', async (context) => {
  mkdirSync(join(context.root, 'node_modules'))
  const { after, calls } = await startWatching(context)
  await after(() => {
    for (const index of Array(50).keys()) writeFileSync(join(context.root, `${index}.md`), '')
  })
  assert.is(calls(), 1)
  writeFileSync(join(context.root, 'node_modules/x.md'), '')
  writeFileSync(join(context.root, 'song.mp3'), '')
  writeFileSync(join(context.root, '.a.md.swp'), '')
  await after(() => writeFileSync(join(context.root, 'last.md'), ''))
  assert.is(calls(), 2)
})

test('a change of .gitignore is reported', async (context) => {
  const { after, calls } = await startWatching(context)
  await after(() => writeFileSync(join(context.root, '.gitignore'), 'drafts/'))
  assert.is(calls(), 1)
})

test('a folder that is missing or removed later is reported', async (context) => {
  const { failed } = await startWatching(context)
  rmSync(context.root, { recursive: true })
  assert.match((await failed).message, 'was removed')
  const { failed: never } = await startWatching(context)
  assert.match((await never).message, 'does not exist')
})

test('a closed watcher reports nothing', async (context) => {
  const { calls } = await startWatching(context)
  writeFileSync(join(context.root, 'a.md'), '')
  context.close?.()
  const other = await startWatching(context)
  await other.after(() => writeFileSync(join(context.root, 'b.md'), ''))
  assert.is(calls(), 0)
})

test.run()
