import { unless } from '@portcullis/domain/testing'
import { configGroups, reportTraits } from '@portcullis/features/contract.ts'
import axeCore from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { consolePages } from '../proof/kit/page-paths.ts'
import { enrolDesk, settled } from './console-pages.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

/** Words that are the same in every language: names, units, formats, and months of the browser's own dates. */
const international =
  /^(Portcullis|Inter|min|UTC|GMT|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun|AM|PM|[A-Z0-9]{2,}s?|[A-Z][a-z]*[A-Z]\w*|Linux|Windows|Ctrl|Enter|Esc|Shift|Alt|Tab|Backspace|https?|admin|xx)$/

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

/** All visible and accessible text on the page, and the texts of the console that are cut off. */
const readPage = `(() => {
  const texts = [], cut = []
  const shown = (element) => element.checkVisibility() && element.closest('[aria-hidden=true], code, pre, kbd, [translate=no], script, style') === null
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
      if (element.hasAttribute(name) && shown(element)) texts.push(element.getAttribute(name))
  return { texts, cut, title: document.title }
})()`

const axe = axeCore.source

/**
 * Runs axe's rules, or the one named, on the page or on the open dialog. The result is a line per broken rule with the
 * first elements.
 */
const audit = (
  part: 'page' | 'dialog',
  rule?: string,
) => `axe.run(${part === 'page' ? 'document' : "[...document.querySelectorAll('[role=dialog], [role=alertdialog]')].at(-1)"}, { resultTypes: ['violations', 'incomplete']${rule === undefined ? '' : `, runOnly: ['${rule}']`} })
  .then(({ violations, incomplete }) => {
    // Axe leaves text in the colour of its background to a person.
    const invisible = incomplete.map((rule) => ({
      ...rule,
      nodes: rule.nodes.filter(({ any }) => any.some(({ data }) => data?.messageKey === 'equalRatio')),
    })).filter(({ nodes }) => nodes.length > 0)
    return [...violations, ...invisible].map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | '))
  })`

/** Ends with the frame that has all colours of the dark scheme. */
const dark = `new Promise((done) => {
  const look = () =>
    document.documentElement.dataset.mantineColorScheme === 'dark' && document.getAnimations().length === 0
      ? done()
      : requestAnimationFrame(look)
  look()
})`

describe('every page of the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let page: Page
  let host: string
  const words = new Set<string>()

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    host = await enrolDesk(server)
    ;({ page } = await openSignedIn(browser, server.url, '/'))
    page.on('response', async (response) => {
      if (/json/.test(response.headers()['content-type'] ?? ''))
        addWords(await response.json().catch(() => null), words)
    })
    await page.emulateMedia({ reducedMotion: 'reduce' })
    // Titles and hints of settings and names of exported columns are part of the contract, in one language.
    addWords([configGroups, reportTraits], words)
    // The tab keeps the pseudo-locale.
    await page.goto('/?lang=xx')
  })
  afterAll(async () => {
    await server?.stop()
  })

  /** Texts without an accent that no response of the server contains. */
  const hardCoded = (texts: readonly string[]): string[] => [
    ...new Set(
      texts.filter((text) =>
        (text.match(/[A-Za-z\u00c0-\u017e\u1e00-\u1eff]+/g) ?? []).some(
          (word) => /^[A-Za-z]{3,}$/.test(word) && !words.has(word) && !international.test(word),
        ),
      ),
    ),
  ]
  const auditInto = async (found: string[], where: string, part: 'page' | 'dialog', rule?: string): Promise<void> => {
    for (const line of (await page.evaluate(audit(part, rule))) as string[]) found.push(`${where}: ${line}`)
  }

  /** Opens every dialog that a button of the page opens, and audits it. */
  const auditDialogs = async (found: string[]): Promise<void> => {
    const openers = page.locator('main').getByRole('button', { name: /…·*$/ })
    for (let i = 0; i < (await openers.count()); i++) {
      const opener = openers.nth(i)
      if (!(await opener.isVisible()) || !(await opener.isEnabled())) continue
      const name = await opener.innerText()
      await opener.click()
      const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog')).last()
      // Some buttons open the browser's own file dialog.
      if (
        !(await dialog.waitFor({ timeout: 2_000 }).then(
          () => true,
          () => false,
        ))
      )
        continue
      await auditInto(found, name, 'dialog')
      const { texts } = (await page.evaluate(readPage)) as { texts: string[] }
      for (const text of hardCoded(texts)) found.push(`${name}: ${text}`)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
    }
  }

  it.each(consolePages)(
    '%s takes all text from messages, fits when they grow by 40 percent, and passes axe, including its dialogs',
    async (path) => {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(path.replace('HOST', host))
      await settled(page)
      await page.evaluate(axe)
      const found: string[] = []
      const { texts, cut } = (await page.evaluate(readPage)) as { texts: string[]; cut: string[] }
      expect(texts.some((text) => text.includes('·'))).toBe(true)
      await auditInto(found, 'light', 'page')
      // Tabs repeat the buttons of their page.
      if (!path.includes('?tab')) await auditDialogs(found)
      await page.emulateMedia({ colorScheme: 'dark' })
      // Each colour changes by a transition, which starts a frame after the scheme and ends a frame later.
      await page.evaluate(dark)
      await auditInto(found, 'dark', 'page', 'color-contrast')
      expect({ hardCoded: hardCoded(texts), cut, found }).toEqual({ hardCoded: [], cut: [], found: [] })
    },
  )

  it('gives menus only items as children', async () => {
    await page.goto('/agents')
    await settled(page)
    await page.evaluate(axe)
    await page.locator('main [aria-haspopup=menu]').first().click()
    await page.getByRole('menu').waitFor()
    const found: string[] = []
    await auditInto(found, 'menu', 'page', 'aria-required-children')
    expect(found).toEqual([])
  })
})
