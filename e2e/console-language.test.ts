import { unless } from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser, openSignedIn, whyNoChromium } from './browser.ts'
import { consolePages, enrolDesk, settled } from './console-pages.ts'
import { type RunningServer, remove, startServer } from './harness.ts'
import { serverDir } from './prepared.ts'

/** Words that are the same in every language: names, units, formats, and months of the browser's own dates. */
const international =
  /^(Portcullis|Inter|min|UTC|GMT|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|AM|PM|[A-Z0-9]{2,}s?|[A-Z][a-z]*[A-Z]\w*|Linux|Windows|Ctrl|Enter|Esc|Shift|Alt|Tab|Backspace|https?|admin|xx)$/

/** Adds the words of every string in a JSON answer. */
const addWords = (value: unknown, words: Set<string>): void => {
  if (typeof value === 'string') for (const word of value.match(/[A-Za-z]+/g) ?? []) words.add(word)
  else if (Array.isArray(value)) for (const item of value) addWords(item, words)
  else if (value !== null && typeof value === 'object')
    for (const [name, item] of Object.entries(value)) {
      addWords(name, words)
      addWords(item, words)
    }
}

/** Everything on the page that a person can read or hear, and the texts of the console that are cut off. */
const readPage = `(() => {
  const texts = [], cut = []
  const shown = (element) => element.checkVisibility() && element.closest('code, pre, kbd, [translate=no], script, style') === null
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim()
    const element = walker.currentNode.parentElement
    if (text === '' || !shown(element)) continue
    texts.push(text)
    const style = getComputedStyle(element)
    if (/·/.test(text) && style.overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1)
      cut.push(text)
  }
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], [alt]'))
    for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
      if (element.hasAttribute(name) && element.checkVisibility()) texts.push(element.getAttribute(name))
  return { texts, cut, title: document.title }
})()`

describe('the texts of the console', unless(whyNoChromium), () => {
  let server: RunningServer
  let browser: Browser
  let page: Page
  let host: string
  const words = new Set<string>()
  const dir = serverDir()

  beforeAll(async () => {
    server = await startServer(dir)
    browser = await launchBrowser()
    host = await enrolDesk(server)
    const opened = await openSignedIn(browser, server.url, '/')
    page = opened.page
    page.on('response', async (response) => {
      if (!/json/.test(response.headers()['content-type'] ?? '')) return
      addWords(await response.json().catch(() => null), words)
    })
    await page.goto('/?lang=xx')
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    remove(dir)
  })

  const read = async (path: string) => {
    await page.goto(path.replace('HOST', host), { waitUntil: 'load' })
    await settled(page)
    return (await page.evaluate(readPage)) as { texts: string[]; cut: string[]; title: string }
  }

  it.each(consolePages)('come from the messages of a feature, on %s', async (path) => {
    const { texts } = await read(path)
    expect(texts.some((text) => text.includes('·'))).toBe(true)
    const hard = texts.filter((text) =>
      (text.match(/[A-Za-zÀ-ž]+/g) ?? []).some(
        (word) => /^[A-Za-z]{3,}$/.test(word) && !words.has(word) && !international.test(word),
      ),
    )
    expect([...new Set(hard)]).toEqual([])
  })
})
