/** The signing secrets of a webhook: the one it has, and those before it that still sign while the receiver changes over. */
import { createValidationError } from '../../src/contract/errors.ts'
import { createSigningSecret, findSecretProblem } from '../../src/webhook-signature.ts'
import type { Vault } from '../secrets/vault.ts'
import type { StoredWebhook } from './store.ts'

/** Whoever rotates more often in one day has at least let go of the oldest. */
const MOST_PREVIOUS = 4

interface Previous {
  /** Sealed like the present one. */
  secret: string
  /** Until when it signs. */
  until: string
}

const contextOf = (id: string): string => `${id}/secret`

/** The secret a caller brings, or a new one. */
export function chosenSecret(given: string | undefined): string {
  const problem = given === undefined ? undefined : findSecretProblem(given)
  if (problem) throw createValidationError('secret', problem)
  return given ?? createSigningSecret()
}

export const sealedSecret = (vault: Vault, id: string, secret: string): string => vault.seal(secret, contextOf(id))

export const openedSecret = (vault: Vault, id: string, sealed: string): string => vault.open(sealed, contextOf(id))

/** All that sign at a time, the present one first. */
export function signingSecrets(vault: Vault, { id, secret, previous_secrets }: StoredWebhook, now: number): string[] {
  return [secret, ...still(previous_secrets, now).map((previous) => previous.secret)].map((sealed) => openedSecret(vault, id, sealed))
}

/** A webhook with another secret; the one it had signs until then, too. */
export function rotated(webhook: StoredWebhook, sealed: string, now: number, until: number): StoredWebhook {
  const present = until > now ? [{ secret: webhook.secret, until: new Date(until).toISOString() }] : []
  const previous = until > now ? [...present, ...still(webhook.previous_secrets, now)] : []
  return { ...webhook, secret: sealed, previous_secrets: JSON.stringify(previous.slice(0, MOST_PREVIOUS)) }
}

const still = (previous: string, now: number): Previous[] =>
  (JSON.parse(previous) as Previous[]).filter(({ until }) => Date.parse(until) > now)
