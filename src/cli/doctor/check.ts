/** What a check of `cadre doctor` found. */
export interface Check {
  name: string
  state: 'good' | 'warning' | 'broken'
  found: string
  /** What mends it. */
  fix?: string
}
