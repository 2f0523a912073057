/** Parses request bodies, which must be JSON or, for PATCH, a JSON merge patch, in UTF-8. */
import { isUtf8 } from 'node:buffer'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import { MERGE_PATCH_TYPE } from '../../src/contract/route.ts'
import { exceedsDepth } from '../validation/json-depth.ts'
import { listAllowedMethods } from './allowed-methods.ts'
import { hasMoreValuesThan } from './count-json-values.ts'
import { LargeBodies } from './large-bodies.ts'

const MEGABYTE = 1024 * 1024
const MAX_DEPTH = 100
/** Bodies above 1 MB are allowed for long texts, not for many values. */
const MAX_VALUES = MEGABYTE

/** Treats an empty body as no body. Limits the depth, because recursive code would overflow the stack. */
export function addJsonParser(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error')
  const largeBodies = new LargeBodies()
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(['application/json', MERGE_PATCH_TYPE], { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (request.method !== 'PATCH' && request.headers['content-type']?.toLowerCase().startsWith(MERGE_PATCH_TYPE))
      return done(new CadreError('UNSUPPORTED_MEDIA_TYPE', `${MERGE_PATCH_TYPE} is for PATCH. Send Content-Type: application/json.`))
    if (body.length === 0) return done(null, undefined)
    largeBodies.add(body.length, request.caller?.tokenId, () => {
      const problem = checkEncoding(request, body)
      if (problem) return done(problem)
      const text = body.toString()
      if (text.length > MEGABYTE && hasMoreValuesThan(text, MAX_VALUES))
        return done(new CadreError('PAYLOAD_TOO_LARGE', `The body contains more than ${MAX_VALUES} values.`))
      parse(request, text, (error, value) => {
        const isTooDeep = !error && exceedsDepth(value, MAX_DEPTH)
        done(isTooDeep ? new CadreError('VALIDATION_ERROR', `The body is nested deeper than ${MAX_DEPTH} levels.`) : error, value)
      })
    })
  })
  // Accepts any content type without a body: `curl -d ''` sends that of a form.
  server.addContentTypeParser('*', (request, _payload, done) =>
    isUnknownPath(request) || hasNoBody(request) ? done(null, undefined) : done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE()),
  )
}

const isUnknownPath = (request: FastifyRequest): boolean => request.is404 && listAllowedMethods(request).length === 0

const hasNoBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

/** Invalid UTF-8 would be stored as replacement characters. */
function checkEncoding({ headers }: FastifyRequest, body: Buffer): CadreError | undefined {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type) ?? []
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) return new CadreError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.')
  if (!/^identity$/i.test(encoding))
    return new CadreError('UNSUPPORTED_MEDIA_TYPE', 'Compressed bodies are not supported. Send the body without Content-Encoding.')
  return isUtf8(body) ? undefined : new CadreError('INVALID_JSON', 'The body is not valid UTF-8.')
}
