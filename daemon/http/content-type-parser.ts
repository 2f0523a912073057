/** Reads bodies: JSON in UTF-8 and nothing else. */
import { isUtf8 } from 'node:buffer'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import { CadreError } from '../../src/contract/errors.ts'
import { exceedsDepth } from '../validation/json-depth.ts'
import { hasMoreValuesThan } from './count-json-values.ts'

const MEGABYTE = 1024 * 1024
const MAX_DEPTH = 100
/** More than fit into an ordinary body; those that may be larger are so for the sake of one long text. */
const MAX_VALUES = MEGABYTE

/** An empty body is no body. What nests deeper than anybody means to would overflow the stack of whoever walks it. */
export function addJsonParser(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error')
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined)
    const problem = checkEncoding(request, body)
    if (problem) return done(problem)
    const text = body.toString()
    if (text.length > MEGABYTE && hasMoreValuesThan(text, MAX_VALUES)) return done(tooMany())
    parse(request, text, (error, value) => done(error ?? (exceedsDepth(value, MAX_DEPTH) ? tooDeep() : null), value))
  })
  // Where nothing is sent, it does not matter what it is called: curl -d '' says that it is a form.
  server.addContentTypeParser('*', (request, _payload, done) =>
    request.is404 || hasNoBody(request) ? done(null, undefined) : done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE()),
  )
}

const hasNoBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

/** Bytes that are no UTF-8 would be stored as something that nobody sent. */
function checkEncoding({ headers }: FastifyRequest, body: Buffer): CadreError | undefined {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type) ?? []
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) return new CadreError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.')
  if (!/^identity$/i.test(encoding))
    return new CadreError('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed: send it without Content-Encoding.')
  return isUtf8(body) ? undefined : new CadreError('INVALID_JSON', 'The body is not valid UTF-8.')
}

const tooDeep = () => new CadreError('VALIDATION_ERROR', `The body nests deeper than ${MAX_DEPTH} levels.`)
const tooMany = () => new CadreError('PAYLOAD_TOO_LARGE', `The body holds more than ${MAX_VALUES} values.`)
