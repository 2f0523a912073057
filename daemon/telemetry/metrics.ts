/** Counters, histograms and gauges in the text format of Prometheus. Labels have values from fixed sets, which bounds the series. */

/** Upper bounds in seconds: from cached reads to long syncs. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

interface Metric {
  format(): string | Promise<string>
}

interface Series {
  /** Formatted when the series is created: `provider="openai",outcome="success"`. */
  labels: string
  /** Observations per bucket, not cumulative; the last is that of longer ones. */
  counts: number[]
  sum: number
}

/** Creates metrics and formats all of them. */
export class MetricRegistry {
  readonly #metrics: Metric[] = []

  createCounter(name: string, help: string, labelNames: readonly string[]): Counter {
    return this.#add(createCounter(name, help, labelNames))
  }

  createHistogram(name: string, help: string, labelNames: readonly string[]): Histogram {
    return this.#add(createHistogram(name, help, labelNames))
  }

  /** Values are collected when the metrics are read. The keys of `collect` are the values of the label. */
  addCollected(
    type: 'gauge' | 'counter',
    name: string,
    help: string,
    label: string | undefined,
    collect: () => Promise<Record<string, number>>,
  ): void {
    const format = async () => {
      const lines = Object.entries(await collect()).map(([key, value]) =>
        formatSample(name, label === undefined ? '' : formatLabels([label], [key]), value),
      )
      return lines.length === 0 ? '' : formatHead(name, help, type) + lines.join('')
    }
    this.#metrics.push({ format })
  }

  async format(): Promise<string> {
    return (await Promise.all(this.#metrics.map((metric) => metric.format()))).join('')
  }

  #add<M extends Metric>(metric: M): M {
    this.#metrics.push(metric)
    return metric
  }
}

export function createCounter(name: string, help: string, labelNames: readonly string[]) {
  const values = new Map<string, number>()

  function add(labels: readonly string[], amount = 1): void {
    const key = formatLabels(labelNames, labels)
    values.set(key, (values.get(key) ?? 0) + amount)
  }

  function format(): string {
    if (values.size === 0) return ''
    const lines = [...values].map(([labels, value]) => formatSample(name, labels, value))
    return formatHead(name, help, 'counter') + lines.join('')
  }

  return { add, format }
}

export type Counter = ReturnType<typeof createCounter>

export function createHistogram(name: string, help: string, labelNames: readonly string[]) {
  const all = new Map<string, Series>()

  /** On the path of every request: one string, one lookup, no allocation after the first observation of a series. */
  function observe(labels: readonly string[], seconds: number): void {
    let key = labels[0] ?? ''
    for (let index = 1; index < labels.length; index++) key += `\n${labels[index]}`
    let series = all.get(key)
    if (series === undefined) {
      series = { labels: formatLabels(labelNames, labels), counts: new Array(BUCKETS.length + 1).fill(0), sum: 0 }
      all.set(key, series)
    }
    let bucket = 0
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket++
    ;(series.counts[bucket] as number)++
    series.sum += seconds
  }

  function format(): string {
    if (all.size === 0) return ''
    return formatHead(name, help, 'histogram') + [...all.values()].map(formatSeries).join('')
  }

  function formatSeries({ labels, counts, sum }: Series): string {
    let total = 0
    const buckets = counts.map((count, index) => {
      total += count
      return formatSample(`${name}_bucket`, `${labels},le="${BUCKETS[index] ?? '+Inf'}"`, total)
    })
    return buckets.join('') + formatSample(`${name}_sum`, labels, sum) + formatSample(`${name}_count`, labels, total)
  }

  return { observe, format }
}

export type Histogram = ReturnType<typeof createHistogram>

const formatHead = (name: string, help: string, type: string) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

const formatSample = (name: string, labels: string, value: number) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`

const formatLabels = (names: readonly string[], values: readonly string[]): string =>
  names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',')

const escapeLabel = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
