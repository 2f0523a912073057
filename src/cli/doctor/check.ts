/** The outcome of a check of `cadre doctor`. */
export interface Check {
  name: string
  state: 'good' | 'warning' | 'broken'
  found: string
  /** How to fix it. */
  fix?: string
}

export const pass = (name: string, found: string): Check => ({ name, state: 'good', found })
export const warn = (name: string, found: string, fix?: string): Check => ({ name, state: 'warning', found, ...(fix ? { fix } : {}) })
export const fail = (name: string, found: string, fix?: string): Check => ({ name, state: 'broken', found, ...(fix ? { fix } : {}) })
