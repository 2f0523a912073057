import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../../harness/hooks.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'

const test = suite('stored globs')
const folder = new TemporaryFolder()
let knowledge: KnowledgeFixture

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
  }),
)
test.after(
  reportFailure(async () => {
    await knowledge.close()
    folder.remove()
  }),
)

test('a glob that was stored before there were limits fails the sync with its reason', async () => {
  folder.write({ [`${'a'.repeat(60)}.md`]: 'text' })
  const source = await knowledge.createSource('folder', { path: folder.path, watch: true })
  const configuration = JSON.stringify({ ...source.configuration, include: [`${'{a,aa}'.repeat(40)}c.md`] })
  await knowledge.service.database.write((transaction) =>
    transaction.run('UPDATE knowledge_sources SET configuration = ? WHERE id = ?', [configuration, source.id]),
  )
  knowledge = await knowledge.restart()
  const { status, error } = await knowledge.sync(source.id)
  assert.is(status, 'error')
  assert.match(error, /has too many braces/)
  const rejected = await knowledge.service.post('/knowledge-sources', {
    name: 'Too many braces',
    type: 'folder',
    configuration: JSON.parse(configuration),
  })
  assert.equal([rejected.status, rejected.body.details[0].field], [400, 'configuration.include'])
})

test.run()
