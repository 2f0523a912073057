/** Rejects requests with a foreign Host header (DNS rebinding) or from another origin. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { CadreError } from '../../src/contract/errors.ts'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

export class HostGuard {
  #hosts = new Set(LOOPBACK)
  #port: string | undefined
  #allowsAnyAddress = false

  /** Accepts only this address; if it is not loopback, also any IP address and the name of this machine. */
  setAddress(url: string): void {
    const { hostname: host, port } = new URL(url)
    this.#port = port || '80'
    this.#allowsAnyAddress = !LOOPBACK.includes(host)
    this.#hosts = new Set([...LOOPBACK, host, ...(this.#allowsAnyAddress ? [hostname().toLowerCase()] : [])])
  }

  check(host: string | undefined, origin: string | undefined): void {
    if (host === undefined || !this.#isAllowed(host))
      throw new CadreError('FORBIDDEN', 'The Host header names another host.', {
        hint: `Use one of these hosts: ${[...this.#hosts].map((name) => `${name}${this.#port ? `:${this.#port}` : ''}`).join(', ')}.`,
      })
    if (origin !== undefined && origin !== `http://${host}`)
      throw new CadreError('FORBIDDEN', 'Requests from other web origins are not allowed.')
  }

  /** Rejects requests whose target is ambiguous: another program on the way could read it differently. */
  checkTarget({ url = '', rawHeaders }: Pick<IncomingMessage, 'url' | 'rawHeaders'>): void {
    const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host')
    if (hosts.length > 1) throw new CadreError('VALIDATION_ERROR', 'The request has several Host headers.')
    if (url.startsWith('/') || url === '*') return
    const [, host = ''] = /^http:\/\/([^/?#]*)/i.exec(url) ?? []
    if (!this.#isAllowed(host)) throw new CadreError('VALIDATION_ERROR', 'The URL of the request names another host.')
  }

  #isAllowed(host: string): boolean {
    const [, name = '', port = '80'] = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::(\d{1,5}))?$/i.exec(host) ?? []
    if (this.#port !== undefined && port !== this.#port) return false
    return this.#hosts.has(name.toLowerCase()) || (this.#allowsAnyAddress && isIP(name.replace(/^\[|\]$/g, '')) !== 0)
  }
}
