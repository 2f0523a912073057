/** Writes a report to a file, or to stdout for -. */
import { writeFile } from 'node:fs/promises'
import { string } from '@oclif/core/flags'
import { createWriteError } from '../input/file-errors.ts'

export const htmlFlags = {
  html: string({
    description: 'Write a report as one HTML file; - for stdout.',
    helpValue: '<file>',
    exclusive: ['json', 'output'],
  }),
}

export async function writeReport(file: string, text: string, notify: (line: string) => void): Promise<void> {
  if (file === '-') return void process.stdout.write(text)
  try {
    await writeFile(file, text)
  } catch (error) {
    throw createWriteError(file, error)
  }
  notify(`Wrote ${file}.`)
}
