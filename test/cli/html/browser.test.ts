/** Tests of reports in headless Chromium: hostile texts, narrow and wide screens, light and dark. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatRunHtml } from '../../../src/cli/evaluations/format-html.ts'
import { Chromium, hasChromium } from '../../harness/chromium.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { createResult, createRunReport, createSamples } from './sample-reports.ts'

const test = suite('reports in a browser')
const inBrowser = hasChromium ? test : test.skip
const folder = mkdtempSync(join(tmpdir(), 'cadre-reports-'))
let browser: Chromium

const write = (name: string, text: string) => {
  const file = join(folder, `${name}.html`)
  writeFileSync(file, text)
  return file
}

/** Lowest contrast of any text with the background behind it (WCAG 2). */
const MEASURE_CONTRAST = `(() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number)
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
  const background = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor)
      if (color.length === 3 || color[3] > 0) return color
    }
    return [255, 255, 255]
  }
  return Math.min(...[...document.body.querySelectorAll('*')].filter((element) => element.innerText?.trim()).map((element) => {
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(background(element))]
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  }))
})()`

test.before(
  reportFailure(async () => {
    if (hasChromium) browser = await Chromium.start()
  }),
)
test.after(
  reportFailure(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  }),
)

for (const [name, text] of Object.entries(createSamples()))
  inBrowser(`the ${name} report runs and loads nothing, and fits narrow and wide screens in light and dark`, async () => {
    const file = write(name, text)
    const pages = new Set<string>()
    for (const { columns, isDark } of [
      { columns: 320, isDark: false },
      { columns: 1280, isDark: true },
    ]) {
      browser.requests.length = 0
      browser.messages.length = 0
      await browser.open(file, { columns, isDark })
      assert.equal([browser.requests, browser.messages], [[pathToFileURL(file).href], []])
      assert.is(await browser.evaluate('String(window.attacked)'), 'undefined')
      await browser.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true })")
      assert.ok((await browser.evaluate<number>('document.documentElement.scrollWidth')) <= columns, `wider than ${columns} pixels`)
      assert.ok((await browser.evaluate<number>('document.body.offsetHeight')) > 300, 'the page is visible')
      assert.equal(
        await browser.evaluate("document.querySelectorAll('script, img, iframe, object, link, form, [onload], [onerror]').length"),
        0,
      )
      assert.ok((await browser.evaluate<number>(MEASURE_CONTRAST)) >= 4.5, `contrast, ${isDark ? 'dark' : 'light'}`)
      pages.add(await browser.evaluate<string>('getComputedStyle(document.body).backgroundColor'))
    }
    assert.is(pages.size, 2, 'light and dark differ')
  })

inBrowser('texts are side by side on a wide screen and below each other on a narrow one', async () => {
  const file = write('pairs', createSamples().run ?? '')
  const getTops = async (columns: number) => {
    await browser.open(file, { columns, isDark: false })
    return browser.evaluate<number[]>(
      "[...document.querySelector('.pair').children].map((side) => Math.round(side.getBoundingClientRect().top))",
    )
  }
  const [wide, narrow] = [await getTops(1280), await getTops(320)]
  assert.is(wide[0], wide[1])
  assert.ok((narrow[0] ?? 0) < (narrow[1] ?? 0))
})

inBrowser('a link to a citation opens it', async () => {
  await browser.open(write('citation', createSamples().conversation ?? ''), { columns: 1280, isDark: false })
  await browser.evaluate('document.querySelector(\'a[href^="#message-2-citation-1"]\').click()')
  assert.ok(await browser.evaluate("document.querySelector('#message-2-citation-1').closest('details').open"))
})

inBrowser('a report of 2,000 results opens', async () => {
  const results = Array.from({ length: 2_000 }, (_, position) => createResult(position, position % 3 > 0))
  const file = write('large', formatRunHtml(createRunReport(results)))
  await browser.open(file, { columns: 1280, isDark: false })
  assert.is(await browser.evaluate("document.querySelectorAll('details.case').length"), 2_003)
})

test.run()
