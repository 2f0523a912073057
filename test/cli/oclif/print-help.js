/** Prints the help of all commands and topics, and again each time the terminal is resized. */
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Config } from '@oclif/core'
import { loadHelpClass } from '@oclif/core/help'

const config = await Config.load(fileURLToPath(new URL('../../..', import.meta.url)))
const CadreHelp = await loadHelpClass(config)
setInterval(() => {}, 1_000) // waiting for a resize does not keep the process alive
const names = [...config.commandIDs, ...Object.keys(config.pjson.oclif.topics)]
for (;;) {
  for (const name of names) await new CadreHelp(config).showHelp(name.split(':'))
  console.log(`${names.length} pages in ${process.stdout.columns} columns.`)
  await once(process.stdout, 'resize')
}
