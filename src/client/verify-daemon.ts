/**
 * Connections to the daemon of a home. After `kill -9`, a program of another user can listen on the daemon's port. So before a
 * connection carries a request with a token, the other side must prove that it knows the secret in daemon.json.
 */
import { randomBytes } from 'node:crypto'
import { Agent, type ClientRequestArgs } from 'node:http'
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { Paths } from '../config.ts'
import { computeProof, readDaemonSecret } from '../daemon-proof.ts'
import { scaleTimeout, startDeadline } from '../deadline.ts'

/** A busy daemon may need long. */
const PROOF_TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 4_096
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)(\r\n|$)/i
/** The whole body. Anything else is not from a daemon. */
const PROOF = /^\{"status":"live","proof":"([0-9a-f]{64})"\}$/

export class VerifyingAgent extends Agent {
  readonly #paths: Paths
  readonly #url: string

  constructor(paths: Paths, url: string) {
    // As the global agent, so that the requests of a command share a connection.
    super({ keepAlive: true, timeout: 5_000 })
    this.#paths = paths
    this.#url = url
  }

  override createConnection(options: ClientRequestArgs, callback?: (error: Error | null, socket: Socket) => void): undefined {
    const socket = connect(options as NetConnectOpts)
    this.#requireProof(socket).then(
      () => callback?.(null, socket),
      (error: Error) => callback?.(error, socket.destroy()),
    )
  }

  /** Reads the secret for every connection, because the daemon may have been restarted at the same address. */
  async #requireProof(socket: Socket): Promise<void> {
    const secret = readDaemonSecret(this.#paths, this.#url)
    const challenge = randomBytes(32).toString('hex')
    socket.write(`GET /api/health/live?challenge=${challenge} HTTP/1.1\r\nHost: ${new URL(this.#url).host}\r\n\r\n`)
    const [, proof] = PROOF.exec(await readBody(socket)) ?? []
    if (secret === undefined || proof !== computeProof(secret, challenge))
      throw Object.assign(new Error('the program that uses the address of the daemon is not the daemon'), {
        code: 'NOT_THE_DAEMON',
        hint:
          'The program there did not prove to be the daemon of this home, so it got no token. To check the daemon: cadre daemon status. ' +
          `If another service is meant, such as a tunnel, and the daemon does not run: delete ${this.#paths.daemon}`,
      })
  }
}

/** Returns an empty text for anything but a short response with a Content-Length. Leaves the socket open. */
function readBody(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const end = (settle: () => void) => {
      deadline.cancel()
      socket.off('data', onData).off('error', onError).off('close', onClose)
      settle()
    }
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const [head = '', body = ''] = text.split('\r\n\r\n', 2)
      const [, length] = CONTENT_LENGTH.exec(head) ?? []
      if (body.length >= Number(length)) end(() => resolve(body))
      else if (text.length > MAX_RESPONSE_BYTES) onClose()
    }
    const onError = (error: Error) => end(() => reject(error))
    const onClose = () => end(() => resolve(''))
    const deadline = startDeadline(scaleTimeout(PROOF_TIMEOUT_MS), onClose)
    socket.on('data', onData).on('error', onError).on('close', onClose)
  })
}
