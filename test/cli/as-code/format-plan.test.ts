import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatPlan, type Plan } from '../../../src/cli/as-code/format-plan.ts'

const test = suite('plans as text')
const output = { columns: 40, stream: { isTTY: false } as NodeJS.WriteStream }
const plan = (fields: Plan['changes'][number]['fields'], more: Partial<Plan['changes'][number]> = {}): Plan => ({
  plan: 'x',
  changes: [{ family: 'agents', name: 'Helper', id: null, action: 'update', fields, ...more }],
  secrets: [],
  missing: [],
  notes: [],
})
const lines = (...given: Parameters<typeof plan>) => formatPlan(plan(...given), output).slice(0, -2)

test('a changed field takes one line if it fits, otherwise two lines starting near the difference', () => {
  assert.equal(lines([{ field: 'temperature', from: 0.2, to: 1 }]), ['~ agents/Helper', '    temperature  0.2 → 1'])
  const long = 'The same beginning of a long instruction. '
  assert.equal(lines([{ field: 'system_prompt', from: `${long}Be kind.`, to: `${long}Be rude, and more than that.` }]), [
    '~ agents/Helper',
    '    system_prompt',
    '      - …ong instruction. Be kind.',
    '      + …ong instruction. Be rude, and …',
  ])
  assert.equal(lines([{ field: 'description', from: 'helps' }]), ['~ agents/Helper', '    description  helps → default'])
})

test('changed secrets and white space are distinguished from unchanged fields', () => {
  assert.equal(lines([{ field: 'api_key', from: '(secret)', to: '(secret)' }]).at(-1), '    api_key  (secret) → new value')
  assert.equal(lines([{ field: 'template', from: 'a b', to: 'a\n\nb' }]).at(-1), '    template  white space changed')
})

test('names and values are sanitized, and no line exceeds the width', () => {
  const shown = lines([{ field: 'name', to: `\u001b[2J${'word '.repeat(50)}` }], {
    action: 'create',
    name: `\u001b]0;x\u0007${'名前'.repeat(40)}`,
  })
  assert.not.match(shown.join('\n'), /[\u001b\u0007]/)
  assert.match(shown[0] ?? '', /^\+ agents\/名前.*…$/)
  assert.ok(shown.every((line) => line.length <= 40))
})

test.run()
