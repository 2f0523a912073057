/** Edits a text in the user's editor. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replaceInterruptHandlers } from './interrupts.ts'

/** As long as the longest message. */
const MAX_LENGTH = 500_000

export function resolveEditor({ VISUAL, EDITOR }: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  return VISUAL?.trim() || EDITOR?.trim() || (platform === 'win32' ? 'notepad' : 'vi')
}

/** Returns the text as saved, without the final newline that editors add. The terminal must not be used meanwhile. */
export async function editInEditor(text: string, editor: string, fileName: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-edit-'))
  const file = join(folder, fileName)
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // Ctrl+C in the editor is sent to this process too and must not end it.
    await replaceInterruptHandlers(
      () => {},
      () => runEditor(editor, file),
    )
    const edited = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    if (edited.length > MAX_LENGTH) throw new Error(`The text is longer than ${MAX_LENGTH} characters.`)
    return edited
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The variable may contain arguments, as in `code --wait`, so a shell reads it. */
function runEditor(editor: string, file: string): Promise<void> {
  const child =
    process.platform === 'win32'
      ? spawn(`${editor} "${file}"`, { stdio: 'inherit', shell: true })
      : spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      if (code === 0) resolve()
      else
        reject(new Error(`The editor (${editor}) failed${code === null ? '' : ` with exit code ${code}`}. To use another one, set EDITOR.`))
    })
  })
}
