/** The outcome of a check of `cadre doctor`. */
export interface Check {
  name: string
  state: 'good' | 'warning' | 'broken'
  found: string
  /** How to fix it. */
  fix?: string
}
