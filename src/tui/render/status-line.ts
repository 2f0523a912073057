/** Renders the status line: agent, model, usage and cost. */
import { type Line, measureLine, type Style, type StyledSpan, span, truncateLine } from '../../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { formatCost } from '../../contract/schemas/currency.ts'
import { type ChatState, sumConversationUsage, sumUsage } from '../state/chat-state.ts'

/** Estimates are marked: the provider did not report the tokens. */
export const formatTokens = (count: number, isEstimated: boolean): string => `${isEstimated ? 'about ' : ''}${formatCount(count)} tokens`

/** Formats as 950, 1.2k, 34k or 1.5M. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count)
  const [value, unit] = count < 999_500 ? [count / 1000, 'k'] : [count / 1_000_000, 'M']
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`
}

function formatContext(used: number, contextWindow: number | null): string {
  return contextWindow === null ? `context ${formatCount(used)}` : `context ${Math.min(100, Math.round((used / contextWindow) * 100))} %`
}

interface Fact {
  text: string
  /** Facts with the lowest priority are dropped first. */
  priority: number
  styles: Style[]
}

/** Shown as long as the input replaces the last message. */
const REPLACE_HINT = 'Enter replaces your last message and its reply. Esc cancels.'

export function renderStatusLine(state: ChatState): Line {
  const { columns } = state.size
  const hint = state.hint ?? (state.replacesLast ? REPLACE_HINT : undefined)
  if (hint !== undefined) return truncateLine([span(`  ${sanitizeLine(hint)}`, 'yellow')], columns)
  const { tokens, contextTokens: context } = sumUsage(state.transcript)
  const total = sumConversationUsage(state)
  const facts: Fact[] = []
  const add = (priority: number, text: string | undefined, ...styles: Style[]) => {
    if (text) facts.push({ text, priority, styles })
  }
  add(9, state.connectionProblem, 'red')
  add(8, state.agent && sanitizeLine(state.agent.name), 'cyan')
  add(7, state.model && sanitizeLine(state.model.name), 'dim')
  add(3, total && total.tokens > 0 ? formatTokens(total.tokens, total.estimated) : undefined, 'dim')
  add(5, total && total.tokens > 0 ? formatCost(total.cost, state.currency) : undefined, 'dim')
  add(2, context > 0 ? formatContext(context, state.model?.contextWindow ?? null) : undefined, 'dim')
  add(1, state.conversation?.title ? sanitizeLine(state.conversation.title) : undefined, 'dim')
  const isReady = state.connectionProblem === undefined && state.agent !== undefined
  add(6, isReady && tokens === 0 ? '/help' : undefined, 'dim')
  add(4, isReady ? '/quit' : undefined, 'dim')
  return fitFacts(facts, columns)
}

function fitFacts(facts: readonly Fact[], columns: number): Line {
  const visible = [...facts]
  const build = (): StyledSpan[] => [
    span('  '),
    ...visible.flatMap(({ text, styles }, index) => [...(index === 0 ? [] : [span(' · ', 'dim')]), span(text, ...styles)]),
  ]
  while (visible.length > 1 && measureLine(build()) > columns) {
    const lowest = Math.min(...visible.map(({ priority }) => priority))
    visible.splice(
      visible.findIndex(({ priority }) => priority === lowest),
      1,
    )
  }
  return truncateLine(build(), columns)
}
