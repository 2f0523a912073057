/** A program on the port and with the process id of a killed daemon: no command sends it a token. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { computeProof } from '../../../src/daemon-proof.ts'
import { version } from '../../../src/version.ts'
import { linkCommand, runCommand } from '../../../test/harness/cli.ts'
import { startDaemon, TOKEN } from '../../../test/harness/daemon.ts'
import { withFolder } from '../../support/daemon.ts'
import type { Scenario } from '../../support/scenario.ts'

const HEALTH = JSON.stringify({ status: 'healthy', version, database: 'connected', vector_db: 'connected' })

/** What the program responds. The last one forwards everything to a daemon of its own. */
const RESPONSES: Record<string, RequestListener> = {
  'as a daemon without a proof': (_, response) => response.end(HEALTH),
  'with a proof of its own': ({ url = '' }, response) =>
    response.end(url.includes('live') ? JSON.stringify({ status: 'live', proof: computeProof('guessed', url.slice(-64)) }) : HEALTH),
}

const COMMANDS = [
  ['agents', 'list'],
  ['status'],
  [],
  ['doctor'],
  ['__complete', 'fish', 'agents', 'show', ''],
  ['daemon', 'stop'],
  ['ask', 'hello'],
]

export const impostors: Scenario = {
  name: 'impostors',
  promise: 'A token of a home is sent only to the daemon that wrote its daemon.json.',
  run: () =>
    withFolder(async (folder) => {
      const violations: string[] = []
      const home = join(folder, 'home')
      const own = await startDaemon(join(folder, 'own'))
      const daemon = await startDaemon(home)
      await daemon.kill()
      // The program has got the process id of the daemon.
      const record = join(home, 'daemon.json')
      writeFileSync(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), pid: process.pid }))
      const command = linkCommand(join(folder, 'bin'))
      const environment = { PATH: process.env.PATH, HOME: folder, CADRE_HOME: home, CADRE_KEYCHAIN: 'off' }
      const chosen = { ...environment, CADRE_URL: daemon.url, CADRE_TOKEN: TOKEN }
      let requests = 0
      let tokens = 0
      const listeners = { ...RESPONSES, 'with the proof of another daemon': forwardTo(own.url) }
      for (const [name, listener] of Object.entries(listeners)) {
        const server = await listen(new URL(daemon.url).port, (received, response) => {
          requests++
          if (received.headers.authorization !== undefined) {
            tokens++
            violations.push(`a program that responds ${name} got a token at ${received.url}`)
          }
          response.setHeader('content-type', 'application/json')
          listener(received, response)
        })
        for (const variables of [environment, chosen])
          for (const words of COMMANDS) {
            const before = requests
            const flags = words.length > 0 && !words[0]?.startsWith('_') && words[0] !== 'daemon' ? ['--no-start'] : []
            await runCommand(command, [...words, ...flags], { environment: variables })
            if (requests === before) violations.push(`cadre ${words.join(' ')} sent nothing, so it was not attacked`)
          }
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      }
      await own.kill()
      const attempts = 2 * COMMANDS.length * Object.keys(listeners).length
      return {
        amount: `${attempts} commands to a program with the port and process id of a killed daemon`,
        figure: `${tokens} tokens in ${requests} requests`,
        violations,
      }
    }),
}

async function listen(port: string, listener: RequestListener): Promise<Server> {
  const server = createServer(listener)
  server.listen(Number(port), '127.0.0.1')
  await once(server, 'listening')
  if ((server.address() as AddressInfo).port !== Number(port)) throw new Error('The port of the daemon is not free.')
  return server
}

const forwardTo =
  (url: string): RequestListener =>
  (received, response) => {
    const target = new URL(received.url ?? '', url)
    request(target, { method: received.method ?? 'GET', headers: { ...received.headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    }).end()
  }
