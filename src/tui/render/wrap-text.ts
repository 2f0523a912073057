/** Wraps each line of a text. */
import { type Line, line, type Style, wrapLine } from '../../cli/terminal/markdown/styled-text.ts'

export const wrapText = (text: string, columns: number, ...styles: Style[]): Line[] =>
  text.split('\n').flatMap((paragraph) => wrapLine(line(paragraph, ...styles), columns))
