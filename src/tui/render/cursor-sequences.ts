/** Sequences that move the cursor within the live area and erase it, also after the terminal has wrapped its lines again. */

/** From 200 columns to 40. */
const MAX_WRAPS = 4

/** Moves to the start of a line. At the start of a row, tmux moves a backspace to the row above if it wrapped the line there. */
export const LINE_START = `\r${'\b\r'.repeat(MAX_WRAPS)}`

/** Moves to the start of the line above. Terminals other than tmux ignore the backspaces. */
export const LINE_UP = `\u001b[1A${LINE_START}`

/** Erases from the row of the cursor. Unlike \\e[J in the first row, this does not copy the screen to the scrollback of tmux. */
export const ERASE_BELOW = '\u001b[2K\n\u001b[J\u001b[1A'
