/** A service with a receiver and a webhook for it. */

import { expectData } from '../harness/expect.ts'
import { Resources } from '../harness/resources.ts'
import type { Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

/** Completes a conversation, which publishes an event. */
export async function completeConversation(service: TestServer): Promise<Json> {
  const conversation = await new Resources(service).conversation()
  return expectData(service.post(`/conversations/${conversation.id}/complete`))
}

export const listDeliveries = (service: TestServer, hook: Json, query = ''): Promise<Json> =>
  expectData(service.get(`/webhooks/${hook.id}/deliveries${query}`))

/** Waits until the newest delivery has this status; the response arrives shortly before the status is stored. */
export async function waitForDelivery(service: TestServer, hook: Json, status: string): Promise<Json> {
  const description = `a delivery with status ${status}`
  const findAttempted = async () => {
    const [newest] = await listDeliveries(service, hook)
    return newest?.status === status && newest.attempts > 0 && newest
  }
  const { id } = await waitFor(findAttempted, { description, intervalMs: 5 })
  return expectData(service.get(`/webhooks/${hook.id}/deliveries/${id}`))
}

export const createWebhook = (service: TestServer, url: string, fields: Json = {}): Promise<Json> =>
  new Resources(service).webhook({ url, allow_private_network: true, ...fields })
