/** Normalizes the URLs of pages and filters links that are not pages. */

const MAX_URL_LENGTH = 2_000
/** Query parameters for analytics, which do not affect the page. */
const TRACKING_PARAMETER =
  /^(utm_[a-z_]+|gclid|gclsrc|dclid|fbclid|msclkid|yclid|igshid|twclid|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|mkt_tok|vero_id)$/i
const NON_PAGE_EXTENSIONS = new Set(
  (
    'png jpg jpeg gif webp avif svg ico bmp tif tiff mp3 mp4 m4a m4v webm ogg ogv wav flac mov avi mkv zip gz tgz bz2 xz ' +
    'zst 7z rar tar jar war whl deb rpm apk dmg pkg exe msi iso img bin so dll wasm css js mjs map woff woff2 ttf otf ' +
    'eot ics vcf psd ai sketch parquet sqlite'
  ).split(' '),
)

/** Resolves a link to a normalized URL; undefined if it cannot be a page. */
export function resolvePageUrl(link: string, base: string): string | undefined {
  const text = link.trim()
  if (text === '' || text.length > MAX_URL_LENGTH || !URL.canParse(text, base)) return undefined
  const url = new URL(text, base)
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.username || url.password) return undefined
  const file = url.pathname.slice(url.pathname.lastIndexOf('/') + 1).toLowerCase()
  if (file.includes('.') && NON_PAGE_EXTENSIONS.has(file.slice(file.lastIndexOf('.') + 1))) return undefined
  const normalized = normalizeUrl(url)
  return normalized.length > MAX_URL_LENGTH ? undefined : normalized
}

/** Removes fragment, tracking parameters and trailing dots of the host. Keeps the order of other parameters. */
export function normalizeUrl(source: URL | string): string {
  const url = new URL(source)
  url.hash = ''
  url.hostname = url.hostname.replace(/\.+$/, '')
  const tracked = [...url.searchParams.keys()].filter((name) => TRACKING_PARAMETER.test(name))
  for (const name of tracked) url.searchParams.delete(name)
  if (url.search === '') url.search = ''
  return url.href
}

/** Returns the host name without www. */
export const getSite = (url: string): string => new URL(url).hostname.replace(/^www\./, '')
