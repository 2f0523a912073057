/**
 * An S3 service for tests: Ceph on one machine, from the packages ceph-mon, ceph-osd and radosgw. `CADRE_TEST_STORAGE=ceph npm test --
 * test/knowledge` stores the documents and vectors of test servers in it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { startDeadline } from '../../../src/deadline.ts'
import { findFreePort } from '../sqld/start-sqld.ts'

const PROGRAMS = ['ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'monmaptool', 'ceph']
const KEYS = { accessKeyId: 'cadre-test-key', secretAccessKey: 'cadre-test-secret' }
export const BUCKET = 'cadre'

export const isCephInstalled = (): boolean =>
  PROGRAMS.every((name) => (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name))))

export class ObjectStore {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cadre-ceph-'))
  readonly #port: number
  readonly #monitorPort: number
  readonly #children: ChildProcess[] = []

  private constructor(port: number, monitorPort: number) {
    this.#port = port
    this.#monitorPort = monitorPort
  }

  /** Takes a few seconds. */
  static async start(): Promise<ObjectStore> {
    const store = new ObjectStore(await findFreePort(), await findFreePort())
    try {
      await store.#start()
    } catch (error) {
      store.remove()
      throw error
    }
    return store
  }

  get address() {
    return { endpoint: `http://127.0.0.1:${this.#port}`, region: 'us-east-1', ...KEYS, sessionToken: undefined }
  }

  /** Standard variables for daemons. */
  get environment(): Record<string, string> {
    const { endpoint, region, accessKeyId, secretAccessKey } = this.address
    return { AWS_ENDPOINT_URL: endpoint, AWS_REGION: region, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey }
  }

  /** Requests wait until it continues. */
  pause(): void {
    this.#children.at(-1)?.kill('SIGSTOP')
  }

  continue(): void {
    this.#children.at(-1)?.kill('SIGCONT')
  }

  /** Synchronous, for the end of the process. */
  remove(): void {
    for (const child of this.#children) child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 })
  }

  async #start(): Promise<void> {
    const id = randomUUID()
    for (const name of ['mon', 'osd', 'run', 'log']) mkdirSync(join(this.#folder, name))
    writeFileSync(join(this.#folder, 'ceph.conf'), this.#formatConfiguration(id))
    const map = join(this.#folder, 'monmap')
    this.#run('monmaptool', '--create', '--fsid', id, '--addv', 'a', `[v2:127.0.0.1:${this.#monitorPort}]`, map)
    this.#run('ceph-mon', '-i', 'a', '--mkfs', '--monmap', map)
    this.#spawn('ceph-mon', '-i', 'a', '-f')
    this.#run('ceph', '--connect-timeout', '30', 'osd', 'create')
    this.#run('ceph-osd', '-i', '0', '--mkfs')
    this.#run('ceph', 'osd', 'crush', 'add', 'osd.0', '1.0', 'host=localhost', 'root=default')
    this.#spawn('ceph-osd', '-i', '0', '-f')
    this.#spawn('radosgw', '-n', 'client.rgw', '--no-mon-config', '-f')
    await this.#waitUntilReady()
    const keys = ['--access-key', KEYS.accessKeyId, '--secret-key', KEYS.secretAccessKey]
    this.#run('radosgw-admin', 'user', 'create', '--uid', 'cadre', '--display-name', 'cadre', ...keys)
    const { endpoint, region } = this.address
    const response = await new AwsClient({ ...KEYS, region, service: 's3' }).fetch(`${endpoint}/${BUCKET}`, { method: 'PUT' })
    if (!response.ok) throw new Error(`the bucket could not be created: ${response.status}`)
  }

  /** Without authentication inside, with data in memory, and without delays of small responses. */
  #formatConfiguration(id: string): string {
    const unauthenticated = ['cluster', 'service', 'client'].map((part) => `auth ${part} required = none`)
    const modes = ['mon client', 'mon cluster', 'mon service', 'cluster', 'service', 'client'].map((part) => `ms ${part} mode = crc`)
    return [
      '[global]',
      `fsid = ${id}`,
      `mon host = v2:127.0.0.1:${this.#monitorPort}`,
      'mon initial members = a',
      ...['public addr = 127.0.0.1', 'cluster addr = 127.0.0.1', ...unauthenticated, ...modes],
      ...['osd pool default size = 1', 'osd pool default min size = 1', 'mon allow pool size one = true', 'osd crush chooseleaf type = 0'],
      ...['osd pool default pg num = 8', 'osd pool default pgp num = 8', 'mon max pg per osd = 500'],
      ...['osd objectstore = memstore', 'memstore device bytes = 4294967296'],
      `run dir = ${this.#folder}/run`,
      `log file = ${this.#folder}/log/$name.log`,
      `admin socket = ${this.#folder}/run/$name.asok`,
      `pid file = ${this.#folder}/run/$name.pid`,
      `mon data = ${this.#folder}/mon`,
      `osd data = ${this.#folder}/osd`,
      '[client.rgw]',
      `rgw frontends = beast endpoint=127.0.0.1:${this.#port} tcp_nodelay=1`,
      '',
    ].join('\n')
  }

  #run(program: string, ...options: string[]): void {
    const log = openSync(join(this.#folder, 'log', 'commands.log'), 'a')
    execFileSync(program, ['-c', join(this.#folder, 'ceph.conf'), ...options], { stdio: ['ignore', log, log], timeout: 60_000 })
  }

  #spawn(program: string, ...options: string[]): void {
    const log = openSync(join(this.#folder, 'log', `${program}.out`), 'a')
    this.#children.push(spawn(program, ['-c', join(this.#folder, 'ceph.conf'), ...options], { stdio: ['ignore', log, log] }))
  }

  async #waitUntilReady(): Promise<void> {
    for (const deadline = startDeadline(600_000).unref(); !deadline.hasPassed; ) {
      const isReady = await fetch(this.address.endpoint).then(
        () => true,
        () => false,
      )
      if (isReady) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error('radosgw did not start')
  }
}
