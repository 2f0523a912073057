/** The events that webhooks and the event stream send. */
import { type Static, type TSchema, Type } from 'typebox'
import { RunSummary } from './families/evaluation-runs.ts'
import { Memory } from './families/memory/memories.ts'
import { UsageThreshold } from './families/usage.ts'
import { currency } from './schemas/currency.ts'
import { ErrorEvent } from './schemas/error-event.ts'
import { count, formatSchemaName, identifier, namedObject, nullable, object, stringEnum, timestamp } from './schemas/fields.ts'

export const WEBHOOK_EVENTS = [
  'conversation.completed',
  'evaluation.finished',
  'memory.created',
  'memory.updated',
  'memory.deleted',
  'usage.threshold_exceeded',
] as const
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number]

const { entity_type, entity_id, metric, limit, period, action } = UsageThreshold.properties

const { agent_id, user_id, source } = Memory.properties
/** Without the fact: a deleted memory must not stay in the log of events. */
const createMemoryData = (title: string, description: string) =>
  object({ memory_id: identifier('the memory'), agent_id, user_id, source }, { title, description })

const EVENT_DATA = {
  'conversation.completed': namedObject('CompletedConversation', 'The conversation that was completed.', {
    conversation_id: identifier('the conversation'),
    agent_id: nullable(identifier('the agent; null if it was deleted')),
    user_id: Type.String({ description: 'User of the conversation.' }),
    title: nullable(Type.String({ description: 'Title of the conversation.' })),
    messages: count('Number of messages.'),
    completed_at: timestamp('Time of completion'),
  }),
  'evaluation.finished': namedObject('FinishedEvaluation', 'The run that finished.', {
    evaluation_id: identifier('the evaluation'),
    run_id: identifier('the run'),
    name: Type.String({ description: 'Name of the evaluation.' }),
    status: stringEnum(['completed', 'failed', 'cancelled'], { description: 'Status of the run.' }),
    summary: RunSummary,
    finished_at: timestamp('End time'),
  }),
  'memory.created': createMemoryData('CreatedMemory', 'The memory that was created.'),
  'memory.updated': createMemoryData('UpdatedMemory', 'The memory that was changed.'),
  'memory.deleted': createMemoryData('DeletedMemory', 'The memory that was deleted or has expired.'),
  'usage.threshold_exceeded': namedObject('ExceededUsageThreshold', 'The usage threshold that was exceeded.', {
    threshold_id: identifier('the usage threshold'),
    entity_type,
    entity_id,
    metric,
    limit,
    value: Type.Number({ description: 'Usage in the period.' }),
    currency: Type.Optional(currency),
    period,
    period_start: timestamp('Start of the period'),
    action,
  }),
}

/** The data of each event. */
export type WebhookEventData = { [Name in WebhookEventName]: Static<(typeof EVENT_DATA)[Name]> }

const createEventSchema = (name: WebhookEventName): TSchema =>
  namedObject(`${formatSchemaName(name.replaceAll(/[._]/g, ' '))}Event`, `Data of \`${name}\`.`, {
    id: identifier('the event, which webhooks receive as webhook-id'),
    type: Type.Literal(name, { description: 'Type of the event.' }),
    timestamp: timestamp('Time of the event'),
    data: EVENT_DATA[name],
  })

export const STREAMED_EVENTS = {
  ready: namedObject('ReadyEvent', 'Data of `ready`, the first event of the stream.', {
    types: Type.Array(stringEnum(WEBHOOK_EVENTS), { description: 'Event types of the stream.' }),
  }),
  ...Object.fromEntries(WEBHOOK_EVENTS.map((name) => [name, createEventSchema(name)])),
  error: ErrorEvent,
}
