/** Opens files in headless Chromium through its DevTools protocol, if it is installed. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { WebSocket } from 'undici'
import { startDeadline } from '../../src/deadline.ts'
import type { Json } from './test-server.ts'

const START_TIMEOUT_MS = 600_000

const COMMAND = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => spawnSync(name, ['--version']).status === 0)
export const hasChromium = COMMAND !== undefined

export interface Screen {
  columns: number
  isDark: boolean
}

export class Chromium {
  /** URLs of all requests. */
  readonly requests: string[] = []
  /** Messages of the console, and violations of the content security policy. */
  readonly messages: string[] = []
  readonly #process: ChildProcessWithoutNullStreams
  readonly #folder: string
  readonly #socket: WebSocket
  readonly #pending = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>()
  readonly #listeners = new Map<string, () => void>()
  #session: string | undefined
  #last = 0

  private constructor(process: ChildProcessWithoutNullStreams, folder: string, socket: WebSocket) {
    this.#process = process
    this.#folder = folder
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))))
  }

  static async start(): Promise<Chromium> {
    const folder = mkdtempSync(join(tmpdir(), 'cadre-chromium-'))
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0']
    const child = spawn(COMMAND as string, [...flags, `--user-data-dir=${folder}`, 'about:blank'], { stdio: 'pipe' })
    let stderr = ''
    const url = await new Promise<string>((resolve, reject) => {
      const deadline = startDeadline(START_TIMEOUT_MS, () => reject(new Error(`Chromium did not start: ${stderr}`)))
      child.once('exit', (code) => reject(new Error(`Chromium ended with ${code}: ${stderr}`)))
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text
        const found = /DevTools listening on (\S+)/.exec(stderr)?.[1]
        if (found) {
          deadline.cancel()
          resolve(found)
        }
      })
    })
    const socket = new WebSocket(url)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true })
      socket.addEventListener('error', reject, { once: true })
    })
    const browser = new Chromium(child, folder, socket)
    const { targetId } = await browser.#send('Target.createTarget', { url: 'about:blank' })
    browser.#session = (await browser.#send('Target.attachToTarget', { targetId, flatten: true })).sessionId
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await browser.#send(`${domain}.enable`)
    return browser
  }

  async open(file: string, { columns, isDark }: Screen): Promise<void> {
    const size = { width: columns, height: 800, deviceScaleFactor: 1, mobile: columns < 600 }
    await this.#send('Emulation.setDeviceMetricsOverride', size)
    const features = [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }]
    await this.#send('Emulation.setEmulatedMedia', { features })
    const loaded = new Promise<void>((resolve) => this.#listeners.set('Page.loadEventFired', resolve))
    await this.#send('Page.navigate', { url: pathToFileURL(file).href })
    await loaded
  }

  /** Evaluates an expression in the page; its content security policy does not apply to it. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
    if (exceptionDetails) throw new Error(`${exceptionDetails.text} ${exceptionDetails.exception?.description}`)
    return result.value as T
  }

  /** Returns a screenshot of the whole page as PNG. */
  async capture(): Promise<Buffer> {
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true })
    return Buffer.from(data, 'base64')
  }

  async close(): Promise<void> {
    // Its processes write to the folder until they have ended. All of them have its pipes.
    const ended = new Promise((resolve) => this.#process.once('close', resolve))
    this.#process.stdout.resume()
    this.#socket.close()
    this.#process.kill('SIGKILL')
    await ended
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  #send(method: string, params: object = {}): Promise<Json> {
    const id = ++this.#last
    const session = this.#session === undefined ? {} : { sessionId: this.#session }
    this.#socket.send(JSON.stringify({ id, method, params, ...session }))
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
  }

  #receive({ id, method, params, result, error }: Json): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error) pending?.reject(new Error(error.message))
    else pending?.resolve(result)
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url)
    if (method === 'Log.entryAdded') this.messages.push(params.entry.text)
    if (method === 'Runtime.consoleAPICalled' || method === 'Runtime.exceptionThrown') this.messages.push(JSON.stringify(params))
    this.#listeners.get(method)?.()
  }
}
