/** Ink component that draws frames: complete lines go to the scrollback, the live area is drawn in place. */
import { Box, Text, useCursor, useStdout } from 'ink'
import { memo, useLayoutEffect, useSyncExternalStore } from 'react'
import type { FrameStore } from './frame-store.ts'

/** Lines already fit the terminal. Ink measures some scripts too wide and must not truncate them. */
const INK_COLUMNS = 4_000

const Row = memo(function Row({ text }: { text: string }) {
  return <Text wrap="truncate">{text === '' ? ' ' : text}</Text>
})

export function ChatView({ frames }: { frames: Pick<FrameStore, 'subscribe' | 'getLiveArea' | 'takeHistory'> }) {
  const { lines, cursor } = useSyncExternalStore(frames.subscribe, frames.getLiveArea)
  const { setCursorPosition } = useCursor()
  const { write } = useStdout()
  setCursorPosition(cursor)
  // Faster than <Static>, which parses every character again and keeps all lines in memory.
  useLayoutEffect(() => {
    const history = frames.takeHistory()
    if (history !== undefined) write(history)
  })
  return (
    <Box flexDirection="column" flexShrink={0} width={INK_COLUMNS}>
      {lines.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position
        <Row key={index} text={text} />
      ))}
    </Box>
  )
}
