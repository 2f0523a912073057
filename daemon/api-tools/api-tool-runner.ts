/** Runs API tools: validates arguments, decrypts secrets for the request and reads the response within limits. */
import type { Outbound } from '../outbound/client.ts'
import { redactStrings } from '../secrets/redact-strings.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Shared } from '../shared-services.ts'
import { ArgumentValidator } from '../validation/argument-validator.ts'
import { buildRequest } from './build-request.ts'
import { type ApiToolResponse, canBeText, MAX_RESPONSE_BYTES, parseBody } from './parse-response.ts'
import { createRedactor, openSecrets } from './secrets.ts'
import type { StoredApiTool } from './store.ts'

export type ApiToolRunnerDependencies = Shared<'vault' | 'validator' | 'outbound'>

interface RunOptions {
  signal?: AbortSignal | undefined
  /** Whether values of headers that the server returns are shown; credentials of `auth` never are. */
  showsHeaders?: boolean
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
    { signal, showsHeaders = false }: RunOptions = {},
  ): Promise<ApiToolResponse> {
    this.#argumentValidator.validate(tool, args)
    const secrets = openSecrets(this.#vault, tool)
    const { url, method, headers, body } = buildRequest(tool, secrets, args)
    const redactor = createRedactor(showsHeaders ? { ...secrets, headers: {} } : secrets)
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
    const responseHeaders = redactStrings(response.headers, (text) => redactor.redactKnown(text))
    return { status: response.status, headers: responseHeaders, body: parseBody(response, redactor), latency_ms }
  }
}
