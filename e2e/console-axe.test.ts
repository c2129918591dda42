import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { unless } from '@portcullis/domain/testing'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser, openSignedIn, whyNoChromium } from './browser.ts'
import { consolePages, enrolDesk, settled } from './console-pages.ts'
import { type RunningServer, remove, startServer } from './harness.ts'
import { serverDir } from './prepared.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules of WCAG 2.2 A and AA, and axe's good practices. */
const audit = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')))`

describe('accessibility of the console', unless(whyNoChromium), () => {
  let server: RunningServer
  let browser: Browser
  let host: string
  const contexts = new Map<string, { page: Page; context: BrowserContext }>()
  const dir = serverDir()

  beforeAll(async () => {
    server = await startServer(dir)
    browser = await launchBrowser()
    host = await enrolDesk(server)
    for (const scheme of ['light', 'dark'] as const) {
      const { page, context } = await openSignedIn(browser, server.url, '/')
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      contexts.set(scheme, { page, context })
    }
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    remove(dir)
  })

  const open = async (scheme: string, path: string): Promise<Page> => {
    const page = contexts.get(scheme)?.page as Page
    await page.goto(path.replace('HOST', host))
    await settled(page)
    await page.evaluate(axe)
    return page
  }

  describe.each(['light', 'dark'])('%s', (scheme) => {
    it.each(consolePages)('axe finds nothing on %s', async (path) => {
      const page = await open(scheme, path)
      expect(await page.evaluate(audit)).toEqual([])
    })

    it.each(consolePages)('axe finds nothing in the dialogs of %s', async (path) => {
      const page = await open(scheme, path)
      const openers = page.locator('main, header').getByRole('button', { name: /…$/ })
      const found: string[] = []
      for (let i = 0; i < (await openers.count()); i++) {
        const opener = openers.nth(i)
        if (!(await opener.isEnabled()) || !(await opener.isVisible())) continue
        const name = await opener.innerText()
        await opener.click()
        const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog')).last()
        if (
          await dialog.waitFor({ timeout: 3_000 }).then(
            () => true,
            () => false,
          )
        ) {
          for (const one of (await page.evaluate(audit)) as string[]) found.push(`${name} ${one}`)
          await page.keyboard.press('Escape')
          await dialog.waitFor({ state: 'hidden' })
        } else found.push(`${name} opened no dialog`)
      }
      expect(found).toEqual([])
    })
  })
})
