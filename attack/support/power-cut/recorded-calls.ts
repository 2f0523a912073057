/** Reads the system calls that strace recorded, with the bytes that were written. */
import { spawnSync } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

/** A call that succeeded or was interrupted by the end of its process. `startedAt` and `endedAt` are positions in the recording. */
export interface RecordedCall {
  name: string
  process: number
  /** Arguments without strings and paths. */
  words: string[]
  /** Strings, such as names and written bytes. */
  strings: Buffer[]
  /** Paths of file descriptors, in the order of the arguments; undefined for removed files. */
  descriptors: { number: number; path: string | undefined }[]
  /** Undefined if the call was interrupted, so that it may have had its effect or not. */
  result: number | undefined
  resultPath: string | undefined
  startedAt: number
  endedAt: number
}

const CALLS = [
  'open,openat,creat,close,lseek,write,pwrite64,writev,pwritev,pwritev2,ftruncate,fsync,fdatasync',
  'rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,clone,clone3',
].join()

/** The program and arguments that record the calls of a daemon and its processes. */
export const createRecorder = (path: string): string[] => [
  ...['strace', '--follow-forks', '--seccomp-bpf', '--decode-fds=path', '--strings-in-hex=all', '--string-limit=100000000'],
  ...['--signal=none', '--quiet=all', `--trace=?${CALLS.replaceAll(',', ',?')}`, `--output=${path}`],
]

/** Whether strace is installed and may record. */
export function canRecord(): boolean {
  const [program = '', ...words] = createRecorder('/dev/null')
  return spawnSync(program, [...words, 'true']).status === 0
}

const STRING = /"([^"]*)"/g
const DESCRIPTOR = /(AT_FDCWD|\d+)<([^>]*)>(\(deleted\))?/g
/** How strace ends the line of a call whose process was killed. It may print a result that it could no longer read. */
const INTERRUPTED = / ?<(?:detached \.\.\.>|unfinished \.\.\.>\)).*$/
/** The result of a call whose process was killed before strace read it. */
const UNREADABLE = /= (?:\? <unavailable>|-1 \(errno \d+\))$/
const RESULT = /\)\s+= (\d+|\?)(?:<([^>]*)>)?(?:\(deleted\))?$/

/** Calls are listed in the order in which they ended. */
export async function readCalls(recording: string): Promise<RecordedCall[]> {
  const calls: (RecordedCall & { thread: number })[] = []
  const unfinished = new Map<number, { text: string; startedAt: number }>()
  /** The process that a thread belongs to. */
  const processes = new Map<number, number>()
  let position = 0
  for await (const line of createInterface({ input: createReadStream(recording), crlfDelay: Number.POSITIVE_INFINITY })) {
    position++
    const [, id = '', written = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const text = written.replace(INTERRUPTED, ') = ?').replace(UNREADABLE, '= ?')
    const thread = Number(id)
    if (text.endsWith('<unfinished ...>')) {
      unfinished.set(thread, { text: text.slice(0, -'<unfinished ...>'.length), startedAt: position })
      continue
    }
    const [resumed] = /^<\.\.\. \w+ resumed>/.exec(text) ?? []
    const begun = resumed === undefined ? { text: '', startedAt: position } : unfinished.get(thread)
    const call = begun && parseCall(begun.text + text.slice(resumed?.length ?? 0))
    if (!begun || !call) continue
    unfinished.delete(thread)
    if (call.name.startsWith('clone') && call.result && call.words.join().includes('CLONE_THREAD')) processes.set(call.result, thread)
    calls.push({ ...call, thread, process: thread, startedAt: begun.startedAt, endedAt: position })
  }
  for (const [thread, { text, startedAt }] of unfinished) {
    const call = parseCall(`${text}) = ?`)
    if (call) calls.push({ ...call, thread, process: thread, startedAt, endedAt: position })
  }
  const findProcess = (thread: number): number => {
    const parent = processes.get(thread)
    return parent === undefined ? thread : findProcess(parent)
  }
  return calls.map(({ thread, ...call }) => ({ ...call, process: findProcess(thread) }))
}

function parseCall(text: string): Omit<RecordedCall, 'process' | 'startedAt' | 'endedAt'> | undefined {
  const name = /^\w+/.exec(text)?.[0]
  const result = RESULT.exec(text)
  if (name === undefined || !result) return undefined
  const strings: Buffer[] = []
  const argumentText = text.slice(name.length + 1, result.index).replace(STRING, (_, hex: string) => {
    strings.push(decodeHex(hex))
    return ''
  })
  const descriptors = [...argumentText.matchAll(DESCRIPTOR)].map(([, number, path = '', deleted]) => ({
    number: Number(number),
    path: deleted === undefined ? decodeHex(path).toString() : undefined,
  }))
  const words = argumentText.replace(DESCRIPTOR, '').split(/, ?/)
  return {
    name,
    words,
    strings,
    descriptors,
    result: result[1] === '?' ? undefined : Number(result[1]),
    resultPath: result[2] && decodeHex(result[2]).toString(),
  }
}

/** Recordings have many megabytes, which is why no string is created for each of their bytes. */
function decodeHex(text: string): Buffer {
  if (!text.startsWith('\\x')) return Buffer.from(text)
  const bytes = Buffer.allocUnsafe(text.length / 4)
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = decodeDigit(text.charCodeAt(4 * index + 2)) * 16 + decodeDigit(text.charCodeAt(4 * index + 3))
  return bytes
}

/** Digits are 0x30 to 0x39, letters 0x61 to 0x66. */
const decodeDigit = (code: number): number => (code > 0x39 ? code - 0x57 : code - 0x30)

/** Returns the absolute paths that a call names in strings. */
export function listPaths({ strings, descriptors }: RecordedCall): string[] {
  return strings.map((name, index) => resolve(descriptors[index]?.path ?? '/', name.toString()))
}
