/** Sequences that move the cursor within the live area and erase it, also after the terminal has wrapped its lines again. */

/** In narrower terminals, not all rows of a line are found. */
const MIN_COLUMNS = 16

/**
 * Moves to the start of a line of at most this width. At the start of a row, tmux moves a backspace to the row above if it wrapped the
 * line there; other terminals ignore it.
 */
export const moveToLineStart = (width: number) => `\r${'\b\r'.repeat(Math.floor(width / MIN_COLUMNS))}`

/** Moves to the start of the line above, which is at most this wide. */
export const moveLineUp = (width: number) => `\u001b[1A${moveToLineStart(width)}`

/** Erases from the row of the cursor. Unlike \\e[J in the first row, this does not copy the screen to the scrollback of tmux. */
export const ERASE_BELOW = '\u001b[2K\n\u001b[J\u001b[1A'
