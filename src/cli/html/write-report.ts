/** Writes a report to a file, or to stdout for -. */
import { statSync, writeFileSync } from 'node:fs'
import { boolean, string } from '@oclif/core/flags'
import { createWriteError } from '../input/file-errors.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

export const forceFlag = boolean({ description: 'Overwrite an existing file.' })

export const htmlFlags = {
  html: string({
    description: 'Write a report as one HTML file; - for stdout.',
    helpValue: '<file>',
    exclusive: ['json', 'output'],
  }),
  force: forceFlag,
}

export function writeReport(file: string, text: string, { force }: { force: boolean }, notify: (line: string) => void): void {
  if (file === '-') return void process.stdout.write(text)
  try {
    // Devices such as /dev/stdout exist, but nothing is lost by writing to them.
    const isDevice = statSync(file, { throwIfNoEntry: false })?.isFile() === false
    writeFileSync(file, text, { flag: force || isDevice ? 'w' : 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw createWriteError(file, error)
    throw new UsageError(`${file} already exists.`, 'Choose another file, or add --force to overwrite it.')
  }
  notify(`Wrote ${file}.`)
}
