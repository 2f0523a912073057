/** The line below everything: who answers, with what, and what it took. */
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { type Line, measureLine, type Span, type Style, span, truncateLine } from '../markdown/styled-text.ts'
import { type ChatState, sumUsage } from '../state/chat-state.ts'

/** 950, 1.2k, 34k, 1.5M. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count)
  const [value, unit] = count < 999_500 ? [count / 1000, 'k'] : [count / 1_000_000, 'M']
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`
}

/** Prices are in the currency that the model's price was given in, so none is named. */
export function formatCost(cost: number | null): string {
  if (cost === null) return 'cost unknown'
  if (cost === 0) return 'cost 0'
  return `cost ${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`
}

/** As a part of what the model can read, where that is known. */
function formatContext(used: number, window: number | null): string {
  return window === null ? `context ${formatCount(used)}` : `context ${Math.min(100, Math.round((used / window) * 100))} %`
}

interface Fact {
  text: string
  /** What is worth least goes first where there is no room. */
  priority: number
  styles: Style[]
}

export function renderStatusLine(state: ChatState): Line {
  const { columns } = state.size
  if (state.hint !== undefined) return truncateLine([span(`  ${sanitizeLine(state.hint)}`, 'yellow')], columns)
  const { tokens, cost, contextTokens: context } = sumUsage(state.transcript)
  const facts: Fact[] = []
  const say = (worth: number, text: string | undefined, ...styles: Style[]) => {
    if (text) facts.push({ text, priority: worth, styles })
  }
  say(9, state.connectionProblem, 'red')
  say(8, state.agent && sanitizeLine(state.agent.name), 'cyan')
  say(7, state.model && sanitizeLine(state.model.name), 'dim')
  say(3, tokens > 0 ? `${formatCount(tokens)} tokens` : undefined, 'dim')
  say(5, tokens > 0 ? formatCost(cost) : undefined, 'dim')
  say(2, context > 0 ? formatContext(context, state.model?.contextWindow ?? null) : undefined, 'dim')
  say(1, state.conversation?.title ? sanitizeLine(state.conversation.title) : undefined, 'dim')
  const settled = state.connectionProblem === undefined && state.agent !== undefined
  say(6, settled && tokens === 0 ? '/help' : undefined, 'dim')
  say(4, settled ? '/quit' : undefined, 'dim')
  return fitFacts(facts, columns)
}

function fitFacts(facts: readonly Fact[], columns: number): Line {
  const shown = [...facts]
  const made = (): Span[] => [
    span('  '),
    ...shown.flatMap(({ text, styles }, index) => [...(index === 0 ? [] : [span(' · ', 'dim')]), span(text, ...styles)]),
  ]
  while (shown.length > 1 && measureLine(made()) > columns) {
    const least = Math.min(...shown.map(({ priority: worth }) => worth))
    shown.splice(
      shown.findIndex(({ priority: worth }) => worth === least),
      1,
    )
  }
  return truncateLine(made(), columns)
}
