/** A connection to a libSQL server over WebSocket or HTTP, which is opened again after it was lost. */
import { type Client, type InStmt, openHttp, openWs, type RowsResult, type Stream } from '@libsql/hrana-client'
import type { Value } from '../database.ts'
import { ConnectionLostError, TimeoutError, translateServerError } from './server-errors.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** Also ends the wait for a server that stopped responding without closing the connection. */
const READ_TIMEOUT_MS = 10_000
const WRITE_TIMEOUT_MS = 30_000
/** The server runs the statements of a stream one after another. */
const READERS = 4
/** Of Hrana. Conditions such as "only inside a transaction" need it. */
const PROTOCOL_VERSION = 3

export interface ServerAddress {
  url: string
  token: string | undefined
}

interface Link {
  client: Client
  /** Streams are kept open on a WebSocket. Over HTTP the server closes them after a few seconds. */
  keepsStreams: boolean
  readers: Stream[]
  nextReader: number
  writer: Stream | undefined
}

export class ServerConnection {
  readonly location: string
  readonly #address: ServerAddress
  #link: Promise<Link> | undefined
  #isClosed = false

  constructor(address: ServerAddress) {
    this.#address = address
    this.location = address.url
  }

  /** Repeats the query once on a new connection, because it changes nothing. */
  async read(sql: string, values: readonly Value[]): Promise<RowsResult> {
    try {
      return await this.#query(sql, values)
    } catch (error) {
      if (!(error instanceof ConnectionLostError) || this.#isClosed) throw error
      return this.#query(sql, values)
    }
  }

  /** Returns a stream without an open transaction. Give it back with `keepWriter` only if it has none. */
  async openWriter(): Promise<Stream> {
    const link = await this.#open()
    const kept = link.writer
    link.writer = undefined
    return kept && !kept.closed ? kept : link.client.openStream()
  }

  async keepWriter(stream: Stream): Promise<void> {
    const link = await this.#link
    if (link?.keepsStreams && link.writer === undefined && stream.client() === link.client && !stream.closed) link.writer = stream
    else stream.closeGracefully()
  }

  /** Waits for the response of a write. A connection that does not respond in time is closed. */
  send<T>(stream: Stream, response: Promise<T>): Promise<T> {
    return this.#wait(stream.client(), response, WRITE_TIMEOUT_MS)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const link = await this.#link?.catch(() => undefined)
    link?.client.close()
  }

  async #query(sql: string, values: readonly Value[]): Promise<RowsResult> {
    const link = await this.#open()
    const stream = openReader(link)
    const response = stream.query(createStatement(sql, values))
    if (!link.keepsStreams) stream.closeGracefully() // sent with the query
    return this.#wait(link.client, response, READ_TIMEOUT_MS)
  }

  /** All callers share one attempt to connect. */
  async #open(): Promise<Link> {
    const link = await this.#link?.catch(() => undefined)
    if (link && !link.client.closed) return link
    if (this.#isClosed) throw new ConnectionLostError(this.location, new Error('it was closed'))
    // Another caller may have connected meanwhile.
    if (this.#link === undefined || (await this.#link.catch(() => undefined)) === link) this.#link = this.#connect()
    return this.#link
  }

  async #connect(): Promise<Link> {
    const { url, token } = this.#address
    const keepsStreams = !/^https?:/.test(url)
    const address = url.replace(/^libsql:/, 'wss:')
    const client = keepsStreams
      ? openWs(address, token, PROTOCOL_VERSION)
      : openHttp(address, token, undefined, undefined, PROTOCOL_VERSION)
    const version = await this.#wait(client, client.getVersion(), CONNECT_TIMEOUT_MS)
    if (version < PROTOCOL_VERSION) {
      client.close()
      throw new ConnectionLostError(this.location, new Error('the server is too old: it does not support version 3 of the Hrana protocol'))
    }
    return { client, keepsStreams, readers: [], nextReader: 0, writer: undefined }
  }

  async #wait<T>(client: Client, response: Promise<T>, timeoutMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new TimeoutError(`no response within ${timeoutMs / 1000} s`)), timeoutMs)
    })
    try {
      return await Promise.race([response, timeout])
    } catch (error) {
      // Also fails the other requests of this connection, which would wait in vain.
      if (error instanceof TimeoutError) client.close()
      throw translateServerError(error, this.location)
    } finally {
      clearTimeout(timer)
    }
  }
}

function openReader(link: Link): Stream {
  if (!link.keepsStreams) return link.client.openStream()
  const index = link.nextReader
  link.nextReader = (index + 1) % READERS
  const kept = link.readers[index]
  if (kept && !kept.closed) return kept
  const stream = link.client.openStream()
  link.readers[index] = stream
  return stream
}

/** Numbers would be sent as floating point: an integer in a column of text would become "3.0". */
export const createStatement = (sql: string, values: readonly Value[]): InStmt => [
  sql,
  values.map((value) => (Number.isSafeInteger(value) ? BigInt(value as number) : value)),
]
