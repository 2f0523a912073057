/** The signing secrets of a webhook: the one it has, and those before it that still sign while the receiver changes over. */
import { createValidationError } from '../../src/contract/errors.ts'
import { createSigningSecret, findSecretProblem } from '../../src/webhook-signature.ts'
import type { Vault } from '../secrets/vault.ts'
import type { StoredWebhook } from './store.ts'

/** Whoever rotates more often in one day has at least let go of the oldest. */
const MAX_PREVIOUS_SECRETS = 4

interface PreviousSecret {
  /** Sealed like the present one. */
  secret: string
  /** Until when it signs. */
  until: string
}

const getContext = (id: string): string => `${id}/secret`

/** The secret a caller brings, or a new one. */
export function chooseSecret(given: string | undefined): string {
  const problem = given === undefined ? undefined : findSecretProblem(given)
  if (problem) throw createValidationError('secret', problem)
  return given ?? createSigningSecret()
}

export const sealSecret = (vault: Vault, id: string, secret: string): string => vault.seal(secret, getContext(id))

export const openSecret = (vault: Vault, id: string, sealed: string): string => vault.open(sealed, getContext(id))

/** All that sign at a time, the present one first. */
export function openSigningSecrets(vault: Vault, { id, secret, previous_secrets }: StoredWebhook, now: number): string[] {
  return [secret, ...filterUnexpired(previous_secrets, now).map((previous) => previous.secret)].map((sealed) =>
    openSecret(vault, id, sealed),
  )
}

/** A webhook with another secret; the one it had signs until then, too. */
export function rotateSecret(webhook: StoredWebhook, sealed: string, now: number, until: number): StoredWebhook {
  const present = until > now ? [{ secret: webhook.secret, until: new Date(until).toISOString() }] : []
  const previous = until > now ? [...present, ...filterUnexpired(webhook.previous_secrets, now)] : []
  return { ...webhook, secret: sealed, previous_secrets: JSON.stringify(previous.slice(0, MAX_PREVIOUS_SECRETS)) }
}

const filterUnexpired = (previous: string, now: number): PreviousSecret[] =>
  (JSON.parse(previous) as PreviousSecret[]).filter(({ until }) => Date.parse(until) > now)
