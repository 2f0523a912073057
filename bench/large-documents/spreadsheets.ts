/** A workbook of 200,000 rows relative to the same rows as CSV: CPU time to read and chunk them, and the memory for it. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { zip } from '../../test/knowledge/readers/document-fixtures.ts'
import { createWorkbookParts } from '../../test/knowledge/readers/office/fixtures.ts'
import { withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, median } from '../support/figures.ts'

const ROWS = 200_000
const ROUNDS = 3
const MAX_RATIO = 1.5
const MAX_MEMORY_MB = 600
const HEADER = ['Order', 'Date', 'Customer', 'City', 'Product', 'Quantity', 'Price', 'Discount', 'Total', 'Note']
const CITIES = ['Berlin', 'Hamburg', 'Munich', 'Paris', 'Lyon', 'Madrid', 'Rome', 'Oslo', 'Vienna', 'Prague']
const FIRST_DAY = 45_658
const STYLES =
  '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="4"/><xf numFmtId="9"/></cellXfs></styleSheet>'

export const spreadsheets: Benchmark = {
  name: 'spreadsheets',
  run: () =>
    withHome(async (folder) => {
      mkdirSync(folder, { recursive: true })
      const { csv, xlsx } = createTables()
      const [csvFile, xlsxFile] = [join(folder, 'orders.csv'), join(folder, 'orders.xlsx')]
      writeFileSync(csvFile, csv)
      writeFileSync(xlsxFile, xlsx)
      return compare(csvFile, xlsxFile)
    }),
}

interface Measurement {
  cpuSeconds: number
  memoryMb: number
  passages: number
}

async function compare(csvFile: string, xlsxFile: string): Promise<Figure[]> {
  const [ofCsv, ofXlsx]: [Measurement[], Measurement[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    ofCsv.push(await measure(csvFile))
    ofXlsx.push(await measure(xlsxFile))
  }
  const [csv, xlsx] = [ofCsv, ofXlsx].map((list) => median(list.map(({ cpuSeconds }) => cpuSeconds))) as [number, number]
  const memory = Math.max(...ofXlsx.map(({ memoryMb }) => memoryMb))
  const name = `xlsx of ${ROWS.toLocaleString('en')} rows`
  return [
    {
      name: `${name}: CPU time`,
      figure: `${xlsx.toFixed(1)} s to ${csv.toFixed(1)} s as CSV, ${ofXlsx[0]?.passages} passages`,
      ratio: xlsx / csv,
      bar: { most: MAX_RATIO },
    },
    { name: `${name}: memory`, figure: `${memory.toFixed(0)} MB of ${MAX_MEMORY_MB} MB`, ratio: memory / MAX_MEMORY_MB, bar: { most: 1 } },
  ]
}

/** Each file is read in a process of its own, whose memory and CPU time are those of the reader. */
async function measure(file: string): Promise<Measurement> {
  const script = fileURLToPath(new URL('parse-file.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script, file])
  return JSON.parse(stdout) as Measurement
}

function createTables(): { csv: string; xlsx: Uint8Array } {
  const strings = new Map<string, number>()
  const addString = (text: string) => {
    if (!strings.has(text)) strings.set(text, strings.size)
    return `t="s"><v>${strings.get(text)}`
  }
  const lines = [HEADER.join(',')]
  const rows = [formatRow(1, HEADER.map(addString))]
  for (let index = 0; index < ROWS; index++) {
    const [day, quantity, cents] = [index % 365, (index % 20) + 1, (index * 37) % 50_000]
    const date = new Date(Date.UTC(2025, 0, 1 + day)).toISOString().slice(0, 10)
    const texts = [`Customer ${(index * 7) % 50_000}`, CITIES[index % 10] ?? '', `Product ${(index * 13) % 3_000}`]
    const [price, total] = [cents / 100, (cents * quantity) / 100]
    const note = index % 3 === 0 ? `Delivered by courier ${index % 9_999} to the back door` : ''
    lines.push([100_000 + index, date, ...texts, quantity, price.toFixed(2), '5%', total.toFixed(2), note].join(','))
    const cells = [`><v>${100_000 + index}`, `s="1"><v>${FIRST_DAY + day}`, ...texts.map(addString), `><v>${quantity}`]
    cells.push(`s="2"><v>${price}`, 's="3"><v>0.05', `s="2"><v>${total}`)
    rows.push(formatRow(index + 2, note === '' ? cells : [...cells, addString(note)]))
  }
  const shared = `<sst>${[...strings.keys()].map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`
  const parts = createWorkbookParts([rows.join('')], { 'xl/sharedStrings.xml': shared, 'xl/styles.xml': STYLES })
  return { csv: lines.join('\n'), xlsx: zip(parts) }
}

const formatRow = (number: number, cells: readonly string[]): string =>
  `<row r="${number}">${cells.map((cell, column) => `<c r="${String.fromCharCode(65 + column)}${number}" ${cell}</v></c>`).join('')}</row>`
