/** Frames on the terminal, by Ink: what is finished goes into its history, the rest is drawn in place. */
import { Box, Text, useCursor, useStdout } from 'ink'
import { memo, useLayoutEffect, useSyncExternalStore } from 'react'
import type { Frame } from './frame-builder.ts'

export interface FrameSource {
  subscribe: (changed: () => void) => () => void
  /** What is alive. */
  getLiveArea: () => Pick<Frame, 'lines' | 'cursor'>
  /** What is to be written above it since this was asked last. */
  takeHistory: () => string | undefined
}

/** Lines are cut to the terminal already. Ink measures some scripts wider than terminals draw them, and must not cut them again. */
const INK_COLUMNS = 4_000

const Row = memo(function Row({ text }: { text: string }) {
  return <Text wrap="truncate">{text === '' ? ' ' : text}</Text>
})

export function ChatView({ frames }: { frames: FrameSource }) {
  const { lines, cursor } = useSyncExternalStore(frames.subscribe, frames.getLiveArea)
  const { setCursorPosition } = useCursor()
  const { write } = useStdout()
  setCursorPosition(cursor)
  // Ink's Static would do, too, but takes every character apart again, and keeps all of them for good.
  useLayoutEffect(() => {
    const history = frames.takeHistory()
    if (history !== undefined) write(history)
  })
  return (
    <Box flexDirection="column" flexShrink={0} width={INK_COLUMNS}>
      {lines.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place on the screen
        <Row key={index} text={text} />
      ))}
    </Box>
  )
}
