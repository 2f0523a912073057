/** A provider that sends the same bytes without end. */
import { once } from 'node:events'
import type { Step } from '../../test/harness/scripted-provider.ts'

export const flood =
  (piece: string): Step =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const closed = once(response, 'close')
    while (!response.destroyed) if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed])
  }
