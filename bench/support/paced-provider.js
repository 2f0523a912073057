/** A provider process: "flood RATE SECONDS" makes it send deltas at that rate, any other message a page of Markdown. */
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const TICK_MS = 5
const chunk = (choices, more) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices, ...more })}\n\n`
const delta = (content) => chunk([{ index: 0, delta: { content }, finish_reason: null }])

/** Typical model output: paragraphs, lists, a table, code. */
const PAGE = `## Answer

Every employee gets **twenty-five days** of paid annual leave [1], which *begin* with the first month. See \`leave.md\`.

- Weekends do not count
- Half days do

| Kind | Days |
|------|-----:|
| annual | 25 |
| parental | 60 |

\`\`\`ts
export const days = (taken: number) => 25 - taken // never less than zero
\`\`\`

`
const words = PAGE.split(/(?<=\s)/)

async function flood(response, perSecond, seconds) {
  const startedAt = performance.now()
  let sent = 0
  for (;;) {
    const elapsed = performance.now() - startedAt
    const due = Math.min(perSecond * seconds, Math.floor((elapsed / 1000) * perSecond))
    for (; sent < due; sent++) response.write(delta(words[sent % words.length]))
    if (elapsed >= seconds * 1000 || response.destroyed) return sent
    await pause(TICK_MS)
  }
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request.setEncoding('utf8')) body += part
  const message = JSON.parse(body).messages?.at(-1)?.content ?? ''
  const [, perSecond, seconds] = /^flood (\d+) (\d+)$/.exec(message) ?? []
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (perSecond) await flood(response, Number(perSecond), Number(seconds))
  else response.write(delta(`${PAGE}This answers ${message}.`))
  response.write(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]))
  response.end(`${chunk([], { usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } })}data: [DONE]\n\n`)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
process.on('disconnect', () => process.exit())
