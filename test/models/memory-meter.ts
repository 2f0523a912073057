/** A meter that keeps calls in memory. */
import type { CallUsage, Meter, ModelCall, Settlement } from '../../daemon/core/meter.ts'

export class MemoryMeter implements Meter {
  readonly calls: ModelCall[] = []
  readonly settled: ({ entry: string } & CallUsage)[] = []

  async checkBudget(): Promise<void> {}

  async begin(_: unknown, call: ModelCall): Promise<string> {
    return `use_${this.calls.push(call)}`
  }

  beginWithoutFlush(call: ModelCall): Promise<string> {
    return this.begin(undefined, call)
  }

  async estimate(): Promise<void> {}

  async settle(_: unknown, entry: string, call: CallUsage): Promise<number | null> {
    this.settled.push({ entry, ...call })
    const price = this.calls[Number(entry.slice(4)) - 1]?.model.price
    return price ? (call.input_tokens * price.input + call.output_tokens * price.output) / 1000 : null
  }

  async settleAll(_: unknown, settlements: readonly Settlement[]): Promise<void> {
    for (const { entry, call } of settlements) await this.settle(_, entry, call)
  }
}
