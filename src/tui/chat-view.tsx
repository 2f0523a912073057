/** Frames on the terminal, by Ink: what is finished goes into its history, the rest is drawn in place. */
import { Box, Static, Text, useCursor } from 'ink'
import { memo, useSyncExternalStore } from 'react'
import type { Frame } from './presenter.ts'

export interface FrameSource {
  subscribe: (changed: () => void) => () => void
  current: () => Frame
}

/** Lines are cut to the terminal already. Ink measures some scripts wider than terminals draw them, and must not cut them again. */
const ROOM = 4_000

const Row = memo(function Row({ text }: { text: string }) {
  return <Text wrap="truncate">{text === '' ? ' ' : text}</Text>
})

function Rows({ lines }: { lines: readonly string[] }) {
  return (
    <Box flexDirection="column" flexShrink={0} width={ROOM}>
      {lines.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place on the screen
        <Row key={index} text={text} />
      ))}
    </Box>
  )
}

export function ChatView({ frames }: { frames: FrameSource }) {
  const { drawing, printed, lines, cursor } = useSyncExternalStore(frames.subscribe, frames.current)
  const { setCursorPosition } = useCursor()
  setCursorPosition(cursor)
  return (
    <>
      <Static key={drawing} items={printed as (readonly string[] | undefined)[]}>
        {(piece, index) => <Rows key={index} lines={piece ?? []} />}
      </Static>
      <Rows lines={lines} />
    </>
  )
}
