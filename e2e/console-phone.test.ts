import { rubberDucky, storageStick, unless } from '@portcullis/domain/testing'
import axeCore from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, until } from '../proof/kit/harness.ts'
import { consolePages } from '../proof/kit/page-paths.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { settled } from './console-pages.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const width = 390
/** Pages of a person on call: here not even tables scroll sideways. */
const onCall = new Set(['/', '/alerts', '/agents/HOST', '/agents/HOST?tab=devices', '/approvals'])

/**
 * What is wider than the window: whether the document scrolls, elements beyond its edge, and elements that scroll or
 * cut their content sideways. Tables, code, and strips of links may scroll.
 */
const tooWide = (tables: boolean) => `(() => {
  const mayScroll = (element) => element.matches('pre, code, nav, [role=tablist], textarea, input') ||
    (${tables} && (element.matches('[role=grid]') || element.querySelector(':scope > table') !== null))
  const isInside = (element) => { for (let one = element; one !== null; one = one.parentElement) if (mayScroll(one)) return true; return false }
  const nameOf = (element) => element.tagName.toLowerCase() + '.' + String(element.className) + ' ' + (element.textContent ?? '').slice(0, 40)
  const found = []
  if (document.documentElement.scrollWidth > innerWidth) found.push('the document scrolls to ' + document.documentElement.scrollWidth)
  for (const element of document.querySelectorAll('body *')) {
    if (element.clientWidth <= 1 || !element.checkVisibility({ visibilityProperty: true }) || element.closest('[aria-hidden=true]') !== null || isInside(element)) continue
    const style = getComputedStyle(element)
    const { right, left } = element.getBoundingClientRect()
    if (right > innerWidth + 1 || left < -1) found.push('beyond the edge: ' + nameOf(element))
    else if (style.overflowX !== 'visible' && style.textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1)
      found.push('scrolls or cuts: ' + nameOf(element))
  }
  return found.slice(0, 8)
})()`

/** Main buttons lower than a finger needs. */
const lowButtons = `[...document.querySelectorAll('main button[data-variant=filled], main a[data-variant=filled], [role=dialog] button[data-variant=filled], form button[type=submit]')]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
  .map((one) => one.textContent + ' ' + one.getBoundingClientRect().height)`

const smallTargets = `axe.run(document, { resultTypes: ['violations'], runOnly: ['target-size'] })
  .then(({ violations }) => violations.flatMap(({ nodes }) => nodes.slice(0, 5).map(({ html }) => html.slice(0, 200))))`

describe('the console on a phone', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let page: Page
  let wrong: string[]
  let host: string

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const desk = await enrolAgent(at, {
      token: await server.enrolmentToken(),
      facts: { hostname: 'reception-desk-of-the-third-floor-in-building-seven' },
      devices: [rubberDucky({ portPath: '2-1' })],
    })
    await desk.checkIn({ enforcement: { mode: 'Armed', policyVersion: 0, reason: '' } })
    await desk.plug(storageStick({ portPath: '1-2' }))
    host = desk.agentId
    ;({ page, wrong } = await openSignedIn(browser, server.url, '/settings/profile', { width, height: 844 }))
    await page.emulateMedia({ reducedMotion: 'reduce' })
  })
  afterAll(async () => {
    await server?.stop()
  })

  it('shows a host as a card with its state, risk and findings', async () => {
    await page.goto('/agents')
    const card = page.getByRole('grid').getByRole('row').nth(1)
    for (const part of [card.getByRole('link'), card.getByText('Armed'), card.getByText('Suspected attack tool')]) {
      const box = await part.boundingBox()
      const edge = await card.boundingBox()
      expect(box!.x + box!.width).toBeLessThanOrEqual(width)
      expect(box!.y + box!.height).toBeLessThanOrEqual(edge!.y + edge!.height)
    }
    expect(wrong).toEqual([])
  })

  it.each(consolePages)('%s fits into 390 px, and a finger hits every control', async (path) => {
    await page.goto(path.replace('HOST', host))
    await settled(page)
    await page.evaluate(axeCore.source)
    expect({
      wide: await page.evaluate(tooWide(!onCall.has(path))),
      low: await page.evaluate(lowButtons),
      small: await page.evaluate(smallTargets),
    }).toEqual({ wide: [], low: [], small: [] })
  })

  it('has a sign-in page that fits and leads to the overview', async () => {
    const own = await openWindow(browser, server.url, width, 844)
    await own.page.goto('/')
    await own.page.getByLabel('User name').fill('admin')
    expect([await own.page.evaluate(tooWide(false)), await own.page.evaluate(lowButtons)]).toEqual([[], []])
    await own.page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await own.page.getByRole('button', { name: 'Sign in' }).click()
    await own.page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(own.wrong).toEqual([])
    await own.context.close()
  })

  it('leads to every page from the bar at the bottom', async () => {
    await page.goto('/')
    await settled(page)
    const nav = page.getByRole('navigation', { name: 'Main' })
    await nav.getByRole('link', { name: 'Alerts' }).click()
    await page.getByRole('heading', { name: 'Alerts' }).waitFor()
    const more = nav.getByRole('button', { name: 'More' })
    expect(await nav.getByRole('link', { name: 'Rollouts' }).isVisible()).toBe(false)
    await more.click()
    await nav.getByRole('link', { name: 'Rollouts' }).waitFor()
    expect(await page.evaluate(tooWide(false))).toEqual([])
    await page.keyboard.press('Escape')
    await nav.getByRole('link', { name: 'Rollouts' }).waitFor({ state: 'hidden' })
    await more.click()
    await nav.getByRole('link', { name: 'Rollouts' }).click()
    await page.getByRole('heading', { name: 'Rollouts' }).waitFor()
    // The menu closes when its page opens.
    await nav.getByRole('link', { name: 'Rollouts' }).waitFor({ state: 'hidden' })
    expect(wrong).toEqual([])
  })

  it('approves a waiting device', async () => {
    await page.goto('/')
    await settled(page)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Approvals' }).click()
    const waiting = page.getByRole('list', { name: 'Devices awaiting approval' })
    const stick = waiting.getByRole('listitem').filter({ hasText: 'Ultra' })
    await stick.getByRole('button', { name: 'Approve…' }).click()
    const dialog = page.getByRole('dialog')
    const approve = dialog.getByRole('button', { name: /^Approve/ })
    await approve.waitFor()
    await page.evaluate(axeCore.source)
    expect([
      await page.evaluate(tooWide(false)),
      await page.evaluate(lowButtons),
      await page.evaluate(smallTargets),
    ]).toEqual([[], [], []])
    await approve.click()
    await dialog.waitFor({ state: 'hidden' })
    await until('the stick is allowed', async () =>
      (await server.peripherals(host)).some(({ vid, rule }) => vid === '0781' && rule !== 'default'),
    )
    expect(wrong).toEqual([])
  })
})
