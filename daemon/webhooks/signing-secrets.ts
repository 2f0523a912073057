/** The signing secrets of a webhook: the current one, and previous ones that still sign after a rotation. */
import { createValidationError } from '../../src/contract/errors.ts'
import { createSigningSecret, validateSecret } from '../../src/webhook-signature.ts'
import type { Vault } from '../secrets/vault.ts'
import type { StoredWebhook } from './store.ts'

/** Further rotations drop the oldest secret. */
const MAX_PREVIOUS_SECRETS = 4

interface PreviousSecret {
  /** Sealed. */
  secret: string
  until: string
}

const getContext = (id: string): string => `${id}/secret`

/** Validates the given secret or generates one. */
export function chooseSecret(given: string | undefined): string {
  const problem = given === undefined ? undefined : validateSecret(given)
  if (problem) throw createValidationError('secret', problem)
  return given ?? createSigningSecret()
}

export const sealSecret = (vault: Vault, id: string, secret: string): string => vault.seal(secret, getContext(id))

export const openSecret = (vault: Vault, id: string, sealed: string): string => vault.open(sealed, getContext(id))

/** Returns all secrets that sign at a time, the current one first. */
export function openSigningSecrets(vault: Vault, { id, secret, previous_secrets }: StoredWebhook, now: number): string[] {
  return [secret, ...filterUnexpired(previous_secrets, now).map((previous) => previous.secret)].map((sealed) =>
    openSecret(vault, id, sealed),
  )
}

/** Replaces the secret. The previous one also signs until `until`. */
export function rotateSecret(webhook: StoredWebhook, sealed: string, now: number, until: number): StoredWebhook {
  const current = until > now ? [{ secret: webhook.secret, until: new Date(until).toISOString() }] : []
  const previous = until > now ? [...current, ...filterUnexpired(webhook.previous_secrets, now)] : []
  return { ...webhook, secret: sealed, previous_secrets: JSON.stringify(previous.slice(0, MAX_PREVIOUS_SECRETS)) }
}

const filterUnexpired = (previous: string, now: number): PreviousSecret[] =>
  (JSON.parse(previous) as PreviousSecret[]).filter(({ until }) => Date.parse(until) > now)
