/** Classifies the lines of configuration files: headings, comments and settings. */

export type ConfigLine =
  | { kind: 'blank' | 'comment' | 'setting' }
  /** A comment without text, which separates paragraphs of a comment, or a line of marks. */
  | { kind: 'separator' }
  /** A `[section]`, or the title in a banner such as `##### NETWORK #####`. Banners decorate, sections are part of the settings. */
  | { kind: 'heading'; title: string; isBanner: boolean }

const NAMES = /(?:\.(?:conf|cnf|cfg|ini|env|properties|toml|ya?ml|service|desktop|editorconfig)|_config|(?:^|\/)\.env[.\w-]*)(?:\.txt)?$/i

/** Whether a file is a configuration file by its name. */
export const isConfigName = (name: string): boolean => NAMES.test(name)

/** Whether a passage is part of a configuration file: by the name of the file, or by comments right below each other. */
export const isConfigText = (name: string, text: string): boolean =>
  isConfigName(name) || (!/\.(?:md|mdx|markdown|rst|html?|csv|tsv|tab)$/i.test(name) && /^[ \t]*# ?\S.*\n[ \t]*#(?: ?[^\s#]|$)/m.test(text))

const COMMENT = /^[ \t]*(?:#+|;+|\/\/+)/
const SECTION = /^\[{1,2}([^[\]\n]{1,100})\]{1,2}\s*(?:[#;].*)?$/
/** Marks alone. */
const RULE = /^[ \t]*[#;/][\s#;/*=~+_.-]*$/
const BANNER = /^[ \t]*[#;/][\s#;/]*[#;*=~+_-]{3,}\s*([^\s#;*=~+_-].{0,80}?)\s*[#;*=~+_-]{2,}[#;/\s]*$/
const DASHED_TITLE = /^[#;]+ - (\S.{0,80}?) -$/
const MAX_TITLE_LENGTH = 80
/** `#Port 22`: no space before a name. */
const DISABLED_SETTING = /^[ \t]*[#;]+[A-Za-z_][\w.-]*(?:[ \t]*[=:][ \t]*|[ \t]+|$)/
/** `# tls-port 6379`: a name and a few values, which no sentence looks like. */
const SPACED_SETTING = /^[ \t]*[#;]+ [a-z_][\w.-]*(?:\s*=\s*|\s+)\S(?:.{0,58}[^\s.,:;!?])?$/
/** Between spaces or marks of a sentence, not in a path: `# include /path/to/local.conf` is no sentence. */
const SENTENCE_WORD = new RegExp(
  String.raw`(?<![^\s("'])(?:a|an|the|is|are|to|of|in|on|and|or|for|with|by|it|if|you|be|this|that|not` +
    String.raw`|der|die|das|ist|und|oder|mit|für|wenn)(?![^\s,.;:!?)"'])`,
  'i',
)

/** Lines above and below tell a title in a banner of several lines from a comment. */
export function classifyConfigLine(line: string, above: string, below: string): ConfigLine {
  if (line.trim() === '') return { kind: 'blank' }
  const section = SECTION.exec(line.trimEnd())?.[1]
  if (section !== undefined) return { kind: 'heading', title: section.trim(), isBanner: false }
  if (!COMMENT.test(line)) return { kind: 'setting' }
  if (RULE.test(line)) return { kind: 'separator' }
  const title =
    BANNER.exec(line)?.[1] ?? DASHED_TITLE.exec(line.trim())?.[1] ?? (isBannerRule(above) && isBannerRule(below) ? line : undefined)
  const plain = title?.replaceAll(/^[\s#;/*=-]+|[\s#;/*=-]+$/g, '') ?? ''
  if (plain !== '' && plain.length <= MAX_TITLE_LENGTH) return { kind: 'heading', title: plain, isBanner: true }
  const isSetting = DISABLED_SETTING.test(line) || (SPACED_SETTING.test(line) && !SENTENCE_WORD.test(line))
  return { kind: isSetting ? 'setting' : 'comment' }
}

/** At least two marks: a single one separates paragraphs. */
const isBannerRule = (line: string) => RULE.test(line) && line.trim().length >= 2
