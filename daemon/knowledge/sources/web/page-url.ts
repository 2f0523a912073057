/** Addresses of pages: one spelling a page, and none for what is no page. */

const MAX_URL_LENGTH = 2_000
/** Put there by whoever links, read by whoever counts; the page is the same without. */
const TRACKING_PARAMETER =
  /^(utm_[a-z_]+|gclid|gclsrc|dclid|fbclid|msclkid|yclid|igshid|twclid|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|mkt_tok|vero_id)$/i
const NON_PAGE_EXTENSIONS = new Set(
  [
    ...[
      'png',
      'jpg',
      'jpeg',
      'gif',
      'webp',
      'avif',
      'svg',
      'ico',
      'bmp',
      'tif',
      'tiff',
      'mp3',
      'mp4',
      'm4a',
      'm4v',
      'webm',
      'ogg',
      'ogv',
      'wav',
      'flac',
      'mov',
      'avi',
      'mkv',
    ],
    ...[
      'zip',
      'gz',
      'tgz',
      'bz2',
      'xz',
      'zst',
      '7z',
      'rar',
      'tar',
      'jar',
      'war',
      'whl',
      'deb',
      'rpm',
      'apk',
      'dmg',
      'pkg',
      'exe',
      'msi',
      'iso',
      'img',
      'bin',
      'so',
      'dll',
      'wasm',
    ],
    ...['css', 'js', 'mjs', 'map', 'woff', 'woff2', 'ttf', 'otf', 'eot', 'ics', 'vcf', 'psd', 'ai', 'sketch', 'parquet', 'sqlite'],
  ].map((extension) => `.${extension}`),
)

/** The address a link leads to, without fragment and tracking; nothing if it leads to no page. */
export function resolvePageUrl(link: string, base: string): string | undefined {
  const text = link.trim()
  if (text === '' || text.length > MAX_URL_LENGTH || !URL.canParse(text, base)) return undefined
  const url = new URL(text, base)
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.username || url.password) return undefined
  const file = url.pathname.slice(url.pathname.lastIndexOf('/') + 1).toLowerCase()
  if (file.includes('.') && NON_PAGE_EXTENSIONS.has(file.slice(file.lastIndexOf('.')))) return undefined
  const address = normalizeUrl(url)
  return address.length > MAX_URL_LENGTH ? undefined : address
}

/** Queries without tracking are left as they are: servers differ in what they make of another order. */
export function normalizeUrl(given: URL | string): string {
  const url = new URL(given)
  url.hash = ''
  url.hostname = url.hostname.replace(/\.+$/, '')
  const tracked = [...url.searchParams.keys()].filter((name) => TRACKING_PARAMETER.test(name))
  for (const name of tracked) url.searchParams.delete(name)
  if (url.search === '') url.search = ''
  return url.href
}

/** Hosts that are one site to people. */
export const getSite = (address: string): string => new URL(address).hostname.replace(/^www\./, '')
