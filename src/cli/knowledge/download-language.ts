/** Downloads the data of a language of text recognition with npm, which checks the integrity of packages. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CadreError } from '../../contract/errors.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

const TIMEOUT_MS = 300_000
const OPTIONS = ['--json', '--no-save', '--no-audit', '--no-fund', '--no-progress', '--ignore-scripts', '--no-package-lock']

export async function downloadLanguage(language: string): Promise<Buffer> {
  const name = `@tesseract.js-data/${language}`
  const folder = await mkdtemp(join(tmpdir(), 'cadre-language-'))
  try {
    await installPackage(`${name}@1`, folder, language)
    return await readFile(join(folder, 'node_modules', name, '4.0.0_best_int', `${language}.traineddata.gz`))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function installPackage(name: string, folder: string, language: string): Promise<void> {
  const isWindows = process.platform === 'win32'
  try {
    await promisify(execFile)(isWindows ? 'npm.cmd' : 'npm', ['install', ...OPTIONS, '--prefix', folder, name], {
      cwd: folder,
      timeout: TIMEOUT_MS,
      shell: isWindows, // .cmd files need one; the code of a language has only letters
    })
  } catch (error) {
    throw explainFailure(error as ProcessError, language)
  }
}

interface ProcessError extends Error {
  code?: string | number
  stdout?: string
  killed?: boolean
}

function explainFailure({ code, stdout = '', killed }: ProcessError, language: string): Error {
  const hint = `Download ${language}.traineddata on a machine that can, and add it with --from ${language}.traineddata.`
  if (code === 'ENOENT') return new CadreError('UNAVAILABLE', 'npm, which downloads languages, was not found.', { hint })
  if (killed) return new CadreError('UNAVAILABLE', `npm took longer than ${TIMEOUT_MS / 60_000} minutes.`, { hint })
  const { code: reason = '', summary = '' } = parseError(stdout)
  if (reason === 'E404')
    return new UsageError(
      `There is no data for the language "${language}".`,
      "Use Tesseract's code, such as deu, fra, spa, ita, por, nld, pol, rus, ara, chi_sim or jpn.",
    )
  return new CadreError('UNAVAILABLE', `npm could not download the language${reason && ` (${reason})`}.${summary && ` ${summary}`}`, {
    hint,
  })
}

/** npm reports errors as JSON. */
function parseError(stdout: string): { code?: string; summary?: string } {
  try {
    const { error = {} } = JSON.parse(stdout) as { error?: { code?: string; summary?: string } }
    return { ...error, summary: error.summary?.split('\n', 1)[0]?.slice(0, 300) ?? '' }
  } catch {
    return {} // it failed before it could report
  }
}
