/** Reads and chunks a file as the parser process does. Prints the CPU time, peak memory and passages as JSON. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { generatePassages } from '../../daemon/knowledge/chunking/chunk-document.ts'
import { readDocument } from '../../daemon/knowledge/readers/read-document.ts'

const [file = ''] = process.argv.slice(2)
const SETTINGS = { size: 800, overlap: 120 }
const countPassages = async (bytes: Uint8Array, name: string): Promise<number> => {
  let count = 0
  for (const _ of generatePassages(await readDocument(bytes, name), SETTINGS, name)) count++
  return count
}

// Loads the reader, so that only reading is measured.
await countPassages(Buffer.from('a,b\n1,2\n'), 'first.csv')
const before = process.cpuUsage()
const passages = await countPassages(readFileSync(file), basename(file))
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ cpuSeconds: (user + system) / 1e6, memoryMb: process.resourceUsage().maxRSS / 1024, passages }))
