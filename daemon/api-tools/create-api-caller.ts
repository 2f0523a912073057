/** Calls the APIs of tools: validates arguments, decrypts secrets for the request and reads the response within limits. */
import { redactStrings } from '../secrets/redact-strings.ts'
import type { Shared } from '../shared-services.ts'
import { ArgumentValidator } from '../validation/argument-validator.ts'
import { buildRequest } from './build-request.ts'
import { type ApiToolResponse, canBeText, MAX_RESPONSE_BYTES, parseBody } from './parse-response.ts'
import { createRedactor, openSecrets } from './secrets.ts'
import type { StoredApiTool } from './store.ts'

export type ApiCallerDependencies = Shared<'vault' | 'validator' | 'outbound'>

interface CallOptions {
  signal?: AbortSignal | undefined
  /** Whether values of headers that the server returns are shown; credentials of `auth` never are. */
  showsHeaders?: boolean
}

/** Any HTTP status is a valid result; throws only if there is no readable response. */
export type CallApi = (tool: StoredApiTool, args: Record<string, unknown>, options?: CallOptions) => Promise<ApiToolResponse>

export function createApiCaller({ vault, validator, outbound }: ApiCallerDependencies): CallApi {
  const argumentValidator = new ArgumentValidator(validator)
  return async (tool, args, { signal, showsHeaders = false } = {}) => {
    argumentValidator.validate(tool, args)
    const secrets = openSecrets(vault, tool)
    const { url, method, headers, body } = buildRequest(tool, secrets, args)
    const redactor = createRedactor(showsHeaders ? { ...secrets, headers: {} } : secrets)
    const startedAt = performance.now()
    const response = await outbound.request(url, {
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
