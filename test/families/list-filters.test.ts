/** Tests of the filters of lists by fields that have a fixed set of values. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FAMILIES } from '../../src/contract/routes.ts'
import { getFields, getScalarType } from '../../src/contract/schemas/fields.ts'
import { expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('filters of lists')
let server: TestServer
let resources: Resources
test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

async function expectValues(path: string, field: string, schema: object): Promise<void> {
  const { error } = await expectError(server.get(`${path}?${field}=nope`), 'VALIDATION_ERROR')
  const words = (schema as { enum: unknown[] }).enum.filter((word) => word !== null)
  for (const word of words) assert.match(error, String(word))
  assert.is((await server.get(`${path}?${field}=${words[0]}`)).status, 200)
}

for (const { name, path, resource, computedFields = [] } of FAMILIES)
  test(`${name}: a filter with a value that the field cannot have is rejected with its values`, async () => {
    for (const [field, schema] of Object.entries(getFields(resource)))
      if ('enum' in schema && getScalarType(schema) && !computedFields.includes(field)) await expectValues(path, field, schema)
  })

test('documents: a status that no document has is rejected', async () => {
  const { id } = await resources.source()
  await expectValues(`/knowledge-sources/${id}/documents`, 'status', { enum: ['waiting', 'indexed', 'skipped'] })
})

test('an unknown parameter is rejected', async () => {
  await expectError(server.get('/agents?nope=1'), 'VALIDATION_ERROR')
})

test.run()
