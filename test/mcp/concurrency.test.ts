import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ScriptedProvider, streamReply } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { GENERATIONS, McpFixture } from './mcp-fixture.ts'

const CLIENTS = 24

const test = suite('concurrent MCP clients')

test(`${CLIENTS} clients of all generations search, read and ask at once, and each gets its own results`, async () => {
  // Repeats the question, so that a mixed-up answer is noticed.
  const repeat = streamReply(({ body }) => ({ text: ['You said: ', body.messages.at(-1).content] }), 1)
  const [fixture, provider] = await Promise.all([McpFixture.open(), ScriptedProvider.start('openai', repeat)])
  const names = Array.from({ length: CLIENTS }, (_, index) => `room-${index + 100}`)
  const documents = names.map((name) => [`${name}.md`, `# ${name}\n\nThe key of ${name} is in the box of ${name}.\n`])
  await fixture.addSource('rooms', Object.fromEntries(documents))
  const { id } = await fixture.resources.model({ ...provider.model, supports_tools: false })
  await fixture.resources.agent({ name: 'Parrot', model_id: id })

  const visits = Promise.all(
    names.map(async (name, index) => {
      const client = await fixture.connect(GENERATIONS[index % GENERATIONS.length])
      const call = async (tool: string, input: object, onprogress?: (progress: Json) => void) => {
        const result = await client.callTool({ name: tool, arguments: input }, onprogress ? { onprogress } : {})
        assert.ok(result.structuredContent, `${name}: ${JSON.stringify(result)}`)
        return result.structuredContent
      }
      const progress: string[] = []
      const [{ tools }, found, read, asked] = await Promise.all([
        client.listTools(),
        call('search', { query: `"${name}"`, top_k: 1 }),
        call('read_document', { documents: [{ document: `${name}.md`, from_line: 3 }] }),
        call('ask', { question: `I am in ${name}.` }, ({ message }) => progress.push(message)),
      ])
      assert.is(tools.length, 6)
      assert.is(found.results[0].document, `${name}.md`)
      assert.is(read.documents[0].text, `The key of ${name} is in the box of ${name}.`)
      assert.is(asked.answer, `You said: I am in ${name}.`)
      assert.ok(progress.length > 0)
    }),
  )
  await visits.finally(() => Promise.all([fixture.close(), provider.close()]))
})

test.run()
