import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('prompt templates')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const render = (id: string, variables?: Record<string, unknown>, as = 'admin') =>
  server.post(`/prompt-templates/${id}/render`, variables && { variables }, { as })

test('variables default to those of the text, in order and without duplicates', async () => {
  const { variables, type, version, description } = await resources.template({
    template: '{{b}} {{ a }} {{b}} {{_x}} {{a.b-c}} {{ 1no }} {{}} {{no no}} {single} {{{t}}}',
  })
  assert.equal(variables, ['b', 'a', '_x', 'a.b-c', 't'])
  assert.equal([type, version, description], ['system', 1, ''])
})

test('names of variables can have letters of every script', async () => {
  const decomposed = 'gro\u0308ße'
  const { id, variables } = await resources.template({ template: `{{größe}} {{${decomposed}}} {{размер}} {{サイズ_2}}`, variables: [] })
  assert.equal(variables, ['größe', 'размер', 'サイズ_2'])
  const values = { [decomposed]: 42, размер: 'XL', サイズ_2: '大' }
  assert.is((await expectData(render(id, values), 200)).text, '42 42 XL 大')
  await expectError(render(id, { размер: 1, サイズ_2: 1 }), 'VALIDATION_ERROR', { field: 'variables.größe' })
  const named = { name: 'x', template: '{{größe}}', variables: [decomposed] }
  assert.equal((await expectData(server.post('/prompt-templates', named))).variables, ['größe'])
})

test('placeholders that an earlier version stored as text remain text', async () => {
  const { id } = await resources.template({ template: '{{größe}} {{a}}' })
  await server.database.write((transaction) => transaction.run('UPDATE prompt_templates SET variables = ? WHERE id = ?', ['["a"]', id]))
  assert.is((await expectData(render(id, { a: 1 }), 200)).text, '{{größe}} 1')
})

test('the variables of a request must match those of the text', async () => {
  const make = (variables: string[]) => server.post('/prompt-templates', { name: 'x', template: '{{a}} {{b}}', variables })
  assert.equal((await expectData(make(['b', 'a']))).variables, ['b', 'a'])
  await expectError(make(['a']), 'VALIDATION_ERROR', { field: 'variables', error: /also uses b/, hint: /Omit variables/ })
  await expectError(make(['a', 'b', 'c']), 'VALIDATION_ERROR', { field: 'variables', error: /does not use c/ })
  await expectError(make(['a', 'a', 'b']), 'VALIDATION_ERROR', { field: 'variables' })
  await expectError(make(['a b']), 'VALIDATION_ERROR', { field: 'variables.0' })
})

test('changing the text updates the variables, and every change increases the version', async () => {
  const template = await resources.template({ template: 'Hi {{name}}' })
  const after = await expectData(server.put(`/prompt-templates/${template.id}`, { template: 'Bye {{who}}' }))
  assert.equal([after.variables, after.version], [['who'], 2])
  const renamed = await expectData(server.patch(`/prompt-templates/${template.id}`, { name: 'x' }))
  assert.equal([renamed.variables, renamed.version, renamed.template], [['who'], 3, 'Bye {{who}}'])
  await expectError(server.put(`/prompt-templates/${template.id}`, { variables: ['name'] }), 'VALIDATION_ERROR', { field: 'variables' })
  await expectError(server.put(`/prompt-templates/${template.id}`, { version: 9 }), 'VALIDATION_ERROR', { field: 'version' })
})

test('a change that agents have no variables for is refused and names them', async () => {
  const { id } = await resources.template({ template: '{{a}}' })
  const broken = await resources.agent({ name: 'Broken', prompt_template_id: id, variables: { a: 1, b: null } })
  const prepared = await resources.agent({ name: 'Prepared', prompt_template_id: id, variables: { a: 1, b: '', 'c.d': 0 } })
  for (const method of ['PUT', 'PATCH']) {
    const change = { template: '{{a}} {{b}} {{c.d}}' }
    const body = await expectError(server.call(method, `/prompt-templates/${id}`, change), 'CONFLICT', {
      error: new RegExp(`b, c\\.d.*"Broken" \\(${broken.id}\\)\\.$`),
      hint: /variables/,
    })
    assert.equal(
      body.details.map(({ field }: { field: string }) => field),
      [`${broken.id}.variables`],
    )
  }
  assert.is((await expectData(server.get(`/prompt-templates/${id}`))).template, '{{a}}')
  await expectData(server.put(`/prompt-templates/${id}`, { template: 'Other {{a}}', name: 'renamed' }))
  await expectData(server.put(`/prompt-templates/${id}`, { template: 'None' }))
  await expectData(server.put(`/prompt-templates/${id}`, { template: '{{a}}' }))
  await expectData(server.patch(`/agents/${broken.id}`, { variables: { b: 2, 'c.d': 3 } }))
  await expectData(server.put(`/prompt-templates/${id}`, { template: '{{a}} {{b}} {{c.d}}' }))
  const many = await Promise.all([1, 2, 3].map(() => resources.agent({ prompt_template_id: id, variables: { a: 1, b: 1, 'c.d': 1 } })))
  await expectError(server.put(`/prompt-templates/${id}`, { template: '{{z}}' }), 'CONFLICT', { error: /"Prepared".* and 2 more\./ })
  assert.is(many.length, 3)
  assert.ok(prepared.id)
})

test('a prompt template requires a text of at most 100,000 characters', async () => {
  await expectError(server.post('/prompt-templates', { name: 'x' }), 'VALIDATION_ERROR', { field: 'template' })
  await expectError(server.post('/prompt-templates', { name: 'x', template: '' }), 'VALIDATION_ERROR', { field: 'template' })
  await expectError(server.post('/prompt-templates', { name: 'x', template: 'x'.repeat(100_001) }), 'VALIDATION_ERROR', {
    field: 'template',
  })
  await expectError(server.post('/prompt-templates', { name: 'x', template: 'x', type: 'assistant' }), 'VALIDATION_ERROR', {
    field: 'type',
  })
  const long = await resources.template({ template: 'ü'.repeat(100_000) })
  assert.is((await expectData(server.get(`/prompt-templates/${long.id}`))).template.length, 100_000)
})

test('rendering replaces all variables', async () => {
  const { id } = await resources.template({ template: 'Hi {{ name }}, {{count}} of {{name}}: {{list}} {{flag}}' })
  assert.equal(await expectData(render(id, { name: 'Ada', count: 3, list: [1, 'x'], flag: false })), {
    text: 'Hi Ada, 3 of Ada: [1,"x"] false',
  })
  assert.equal(await expectData(render(id, { name: 'Ada', count: 3, list: [], flag: true, more: 'ignored' })), {
    text: 'Hi Ada, 3 of Ada: [] true',
  })
})

test('rendering rejects missing values by name', async () => {
  const { id } = await resources.template({ template: '{{a}} {{b}} {{c}}' })
  const body = await expectError(render(id, { b: 'x', c: null }), 'VALIDATION_ERROR', { error: /a, c/ })
  assert.equal(
    body.details.map(({ field }: { field: string }) => field),
    ['variables.a', 'variables.c'],
  )
  await expectError(render(id), 'VALIDATION_ERROR')
  await expectError(server.post(`/prompt-templates/${id}/render`, { variables: 'x' }), 'VALIDATION_ERROR', { field: 'variables' })
  await expectError(render('tmpl_nobody', {}), 'NOT_FOUND')
})

test('values are inserted literally when rendering', async () => {
  const { id } = await resources.template({ template: '[{{a}}|{{b}}]' })
  for (const value of ['{{b}}', '{{a}}', '$&', '$1', "$'", '$$', '${process.env}', '<script>', '\\n', '{{ __proto__ }}', ''])
    assert.is((await expectData(render(id, { a: value, b: 'B' }))).text, `[${value}|B]`)
})

test('names of Object.prototype are not values of variables', async () => {
  const { id } = await resources.template({ template: '{{constructor}} {{toString}} {{__proto__}}' })
  await expectError(render(id, {}), 'VALIDATION_ERROR', { error: /constructor, toString, __proto__/ })
})

test('viewers can render prompt templates, members cannot', async () => {
  const { id } = await resources.template()
  assert.equal(await expectData(render(id, { name: 'Ada' }, 'viewer')), { text: 'Hello Ada' })
  await expectError(render(id, { name: 'Ada' }, 'member'), 'FORBIDDEN')
})

test.run()
