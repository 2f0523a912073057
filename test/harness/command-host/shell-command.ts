/**
 * A command named cadre for shell scripts. Commands with input have their own process, as those of a user, and so has the first one.
 * The others run in processes that run several commands each: starting one takes 0.25 s of CPU time.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { commandHosts, OWN_PROCESS, RUN } from '../cli.ts'

/** Passes the words, directory and environment in files, and prints the output when the command has ended. */
const createScript = (port: number) => `#!/bin/bash
is_own() { case "$* " in ${OWN_PROCESS.map((start) => `'${start} '*`).join('|')}) ;; *) ! [ /dev/stdin -ef /dev/null ] ;; esac }
if is_own "$@" || mkdir "$0.first" 2>/dev/null; then exec '${process.execPath}' '${RUN}' "$@"; fi
call="$0.$$"
printf '%s\\0' "$PWD" "$@" > "$call.words"
env -0 > "$call.environment"
exec 3<>/dev/tcp/127.0.0.1/${port}
echo "$call" >&3
read -r code <&3
if [ /dev/stdout -ef /dev/stderr ]; then cat "$call.written"; else cat "$call.stderr" >&2; cat "$call.stdout"; fi
exit "$code"
`

/** The folder must be removed after use. */
export async function installShellCommand(
  folder: string,
  /** Whether the first command has its own process. */
  { startsProcess = true } = {},
): Promise<{ close(): void }> {
  const script = join(folder, 'cadre')
  if (!startsProcess) mkdirSync(`${script}.first`)
  const readParts = (file: string) => readFileSync(file, 'utf8').split('\0').slice(0, -1)
  const run = async (call: string): Promise<number> => {
    const [cwd = '', ...words] = readParts(`${call}.words`)
    const environment = Object.fromEntries(readParts(`${call}.environment`).map((line) => line.split(/=(.*)/s, 2)))
    const { code, stdout, stderr, written } = await commandHosts.run(script, words, { cwd, environment })
    for (const [name, text] of Object.entries({ stdout, stderr, written })) writeFileSync(`${call}.${name}`, text)
    return code ?? 1
  }
  const answer = (socket: Socket) => createInterface(socket).once('line', async (call) => socket.end(`${await run(call)}\n`))
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  writeFileSync(script, createScript((server.address() as { port: number }).port))
  chmodSync(script, 0o755)
  return { close: () => void server.close() }
}
