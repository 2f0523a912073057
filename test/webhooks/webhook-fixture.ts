/** The service with a receiver and a webhook that leads to it. */

import { expectData } from '../harness/expect.ts'
import { Resources } from '../harness/resources.ts'
import type { Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

/** A conversation that is over, which is an event. */
export async function complete(service: TestServer): Promise<Json> {
  const conversation = await new Resources(service).conversation()
  return expectData(service.post(`/conversations/${conversation.id}/complete`))
}

export const deliveriesOf = (service: TestServer, hook: Json, query = ''): Promise<Json> =>
  expectData(service.get(`/webhooks/${hook.id}/deliveries${query}`))

/** The newest delivery, once it was tried and stands so: the answer is there a moment before it is written down. */
export async function settled(service: TestServer, hook: Json, status: string): Promise<Json> {
  const description = `a delivery with status ${status}`
  const findAttempted = async () => {
    const [newest] = await deliveriesOf(service, hook)
    return newest?.status === status && newest.attempts > 0 && newest
  }
  const { id } = await waitFor(findAttempted, { description, intervalMs: 5 })
  return expectData(service.get(`/webhooks/${hook.id}/deliveries/${id}`))
}

export const webhookTo = (service: TestServer, url: string, fields: Json = {}): Promise<Json> =>
  new Resources(service).webhook({ url, allow_private_network: true, ...fields })
