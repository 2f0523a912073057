/** The currency of prices and costs: a name for their numbers, which are never converted. */
import { Type } from 'typebox'

export const DEFAULT_CURRENCY = 'USD'

export const isCurrency = (code: string): boolean => Intl.supportedValuesOf('currency').includes(code)

export const currency = Type.String({
  format: 'currency',
  description: 'Currency of prices and costs (ISO 4217). Another one changes no numbers.',
  examples: [DEFAULT_CURRENCY],
})

/** Two decimals from 1 upwards, else two significant digits. Null is an unknown price. Runs of earlier versions have no currency. */
export function formatMoney(amount: number | null, code = DEFAULT_CURRENCY): string {
  if (amount === null) return 'unknown'
  const number =
    amount >= 1
      ? amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
      : amount === 0
        ? '0'
        : String(Number(amount.toPrecision(2)))
  return `${number} ${code}`
}

export const formatCost = (cost: number | null, code?: string): string => `cost ${formatMoney(cost, code)}`
