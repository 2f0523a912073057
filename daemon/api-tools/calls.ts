/** Makes the calls of API tools: arguments checked, secrets opened for as long as it takes, the answer read within limits. */
import type { Outbound } from '../outbound/client.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Validator } from '../validation/validator.ts'
import { MOST_BYTES, mayBeText, readableBody, type ToolAnswer } from './answer.ts'
import { ArgumentChecks } from './arguments.ts'
import { requestOf } from './request.ts'
import { hiding, openSecrets } from './secrets.ts'
import type { StoredApiTool } from './store.ts'

export interface CallParts {
  vault: Vault
  validator: Validator
  outbound: Outbound
}

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Also takes header values that look like keys out of the answer; authentication is taken out in any case. */
  hideHeaders?: boolean
}

export class ApiCalls {
  readonly #vault: Vault
  readonly #outbound: Outbound
  readonly #checks: ArgumentChecks

  constructor({ vault, validator, outbound }: CallParts) {
    this.#vault = vault
    this.#outbound = outbound
    this.#checks = new ArgumentChecks(validator)
  }

  /** Whatever the server answers is a result, whatever its status; only what is no answer throws. */
  async run(tool: StoredApiTool, args: Record<string, unknown>, { signal, hideHeaders = false }: CallOptions = {}): Promise<ToolAnswer> {
    this.#checks.check(tool, args)
    const secrets = openSecrets(this.#vault, tool)
    const { url, method, headers, body } = requestOf(tool, secrets, args)
    const hide = hiding(secrets, { headers: hideHeaders })
    const begun = performance.now()
    const answer = await this.#outbound.request(url, {
      method,
      headers,
      body,
      allowPrivateNetwork: tool.allow_private_network,
      timeoutMs: tool.timeout_ms,
      maxBytes: MOST_BYTES,
      signal,
      wanted: (_, answered) => mayBeText(answered),
    })
    const latency_ms = Math.round((performance.now() - begun) * 10) / 10
    const shown = Object.entries(answer.headers).map(([name, value]) => [hide(name), hide(value)])
    return { status: answer.status, headers: Object.fromEntries(shown), body: readableBody(answer, hide), latency_ms }
  }
}
