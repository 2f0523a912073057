/** Runs API tools: validates arguments, decrypts secrets for the request and reads the response within limits. */
import type { Outbound } from '../outbound/client.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Validator } from '../validation/validator.ts'
import { ArgumentValidator } from './argument-validator.ts'
import { buildRequest } from './build-request.ts'
import { type ApiToolResponse, canBeText, MAX_RESPONSE_BYTES, parseBody } from './parse-response.ts'
import { createRedaction, openSecrets } from './secrets.ts'
import type { StoredApiTool } from './store.ts'

export interface ApiToolRunnerDependencies {
  vault: Vault
  validator: Validator
  outbound: Outbound
}

export interface RunOptions {
  signal?: AbortSignal | undefined
  /** Also redacts header values that look like keys; credentials of `auth` are always redacted. */
  hideHeaders?: boolean
}

export class ApiToolRunner {
  readonly #vault: Vault
  readonly #outbound: Outbound
  readonly #argumentValidator: ArgumentValidator

  constructor({ vault, validator, outbound }: ApiToolRunnerDependencies) {
    this.#vault = vault
    this.#outbound = outbound
    this.#argumentValidator = new ArgumentValidator(validator)
  }

  /** Any HTTP status is a valid result; throws only if there is no readable response. */
  async run(
    tool: StoredApiTool,
    args: Record<string, unknown>,
    { signal, hideHeaders = false }: RunOptions = {},
  ): Promise<ApiToolResponse> {
    this.#argumentValidator.validate(tool, args)
    const secrets = openSecrets(this.#vault, tool)
    const { url, method, headers, body } = buildRequest(tool, secrets, args)
    const hide = createRedaction(secrets, { headers: hideHeaders })
    const startedAt = performance.now()
    const response = await this.#outbound.request(url, {
      method,
      headers,
      body,
      allowPrivateNetwork: tool.allow_private_network,
      timeoutMs: tool.timeout_ms,
      maxBytes: MAX_RESPONSE_BYTES,
      signal,
      shouldReadBody: (_, responseHeaders) => canBeText(responseHeaders),
    })
    const latency_ms = Math.round((performance.now() - startedAt) * 10) / 10
    const shown = Object.entries(response.headers).map(([name, value]) => [hide(name), hide(value)])
    return { status: response.status, headers: Object.fromEntries(shown), body: parseBody(response, hide), latency_ms }
  }
}
