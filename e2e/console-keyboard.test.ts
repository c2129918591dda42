import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword, until } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { settled } from './console-pages.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

/** Returns the name of the focused element, or what is wrong with it: nothing shows the focus, or it is off the screen. */
const focusFault = `(() => {
  const one = document.activeElement
  if (one === null || one === document.body) return 'nothing has the focus'
  const name = one.getAttribute('aria-label') ?? one.textContent?.trim().slice(0, 40) ?? ''
  // The input of a radio button or switch is hidden; its label stands for it on the screen.
  const { width, height, top, left } = (one.labels?.[0] ?? one).getBoundingClientRect()
  if (width < 2 || height < 2 || top > innerHeight || left > innerWidth) return 'off the screen: ' + one.tagName + ' ' + name
  const shows = (element) => {
    const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(element)
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow !== 'none'
  }
  // A radio button or switch shows the focus on its label or track. A field shows it by its border.
  const own = [one, ...(one.labels ?? []), one.nextElementSibling, one.parentElement?.querySelector('[class*=track], [class*=indicator]')]
  if (own.some((element) => element && shows(element))) return null
  const before = getComputedStyle(one).borderColor
  one.blur()
  const after = getComputedStyle(one).borderColor
  one.focus()
  return before !== after ? null : 'no visible focus: ' + one.tagName + ' ' + name
})()`

describe('the console without a mouse', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let desk = ''
  let kiosk = ''

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const enrol = (hostname: string) =>
      enrolAgent(at, {
        token,
        facts: { hostname, enforcement: 'before-driver' },
        devices: [plainKeyboard({ portPath: '1-1' }), storageStick({ portPath: '1-2' })],
      })
    const armed = await enrol('front-desk')
    await armed.checkIn({ enforcement: { mode: 'Armed', policyVersion: 0, reason: '' } })
    desk = armed.agentId
    kiosk = (await enrol('lobby-kiosk')).agentId
    await until('devices wait', async () => (await server.get<{ waiting: number }>('policy')).waiting === 2)
  })
  afterAll(async () => {
    await server?.stop()
  })

  /** Presses Tab, or Shift+Tab, until the element has the focus. Each stop on the way must show the focus. */
  const tabTo = async (page: Page, place: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab') => {
    const faults = new Set<string>()
    for (let steps = 0; steps < 80; steps++) {
      if ((await place.and(page.locator(':focus')).count()) > 0) {
        expect([...faults]).toEqual([])
        return
      }
      await page.keyboard.press(key)
      const fault = (await page.evaluate(focusFault)) as string | null
      // The browser itself is part of the cycle.
      if (fault !== null && fault !== 'nothing has the focus') faults.add(fault)
    }
    throw new Error(`the keyboard does not get to ${place}`)
  }
  const press = (page: Page, ...keys: string[]) =>
    keys.reduce<Promise<void>>((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
  const focused = (place: Locator, page: Page) => place.and(page.locator(':focus')).waitFor()

  it('signs in, finds a host, explains a finding, approves a device, and arms a host', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/')
    await focused(page.getByLabel('User name'), page)
    await page.keyboard.type('admin')
    await press(page, 'Tab')
    await page.keyboard.type(adminPassword)
    await press(page, 'Enter')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.getByRole('heading', { level: 1 }).first().waitFor()

    // Find a host: by the search of the list.
    await press(page, 'g', 'a')
    const grid = page.getByRole('grid', { name: 'Hosts' })
    await grid.getByText('front-desk').waitFor()
    await press(page, '/')
    await page.keyboard.type('front')
    await grid.getByText('lobby-kiosk').waitFor({ state: 'detached' })
    await tabTo(page, grid)
    await press(page, 'j', 'Enter')
    const drawer = page.getByRole('complementary', { name: 'Host' })
    await drawer.getByRole('heading', { name: 'front-desk' }).waitFor()

    // Explain a finding of the host.
    await tabTo(page, drawer.getByRole('tab', { name: /^Devices/ }))
    await press(page, 'Enter')
    const why = drawer.getByRole('button', { name: /^Explain: / }).first()
    await why.waitFor()
    await tabTo(page, why)
    await press(page, 'Enter')
    await drawer
      .getByText(/no rule allows it/i)
      .first()
      .waitFor()
    // The dialog of a decision gives the focus back.
    const approve = drawer.getByRole('button', { name: 'Approve…' }).first()
    await tabTo(page, approve)
    await press(page, 'Enter')
    await focused(page.getByRole('dialog').getByLabel('Reason'), page)
    await press(page, 'Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await focused(approve, page)
    await tabTo(page, drawer.getByRole('button', { name: 'Close' }), 'Shift+Tab')
    await press(page, 'Enter')
    await drawer.waitFor({ state: 'detached' })
    await focused(grid, page)

    // Approve a device.
    await press(page, 'g', 'v')
    const waiting = page.getByRole('list', { name: 'Devices awaiting approval' })
    await waiting.getByText('0781:5581').waitFor()
    for (let step = 0; step < 6; step++) {
      await press(page, 'j')
      if ((await page.locator('[data-cursor]').textContent())?.includes('0781:5581') === true) break
    }
    await press(page, 'a')
    const dialog = page.getByRole('dialog')
    await focused(dialog.getByLabel('Reason'), page)
    await tabTo(page, dialog.getByRole('button', { name: 'Approve on this host' }))
    await press(page, 'Enter')
    await page.getByText('Approved on 1 host.').waitFor()
    await waiting.getByText('0781:5581').waitFor({ state: 'detached' })
    expect((await server.get<{ data: { host: string }[] }>('policy/rules')).data).toMatchObject([{ host: desk }])

    // Arm a host from its page, which the search for everything finds.
    await press(page, 'Control+k')
    await page.locator('[role=dialog] input:focus').waitFor()
    await page.keyboard.type('lobby-kiosk')
    await page.getByRole('dialog').getByText('lobby-kiosk').first().waitFor()
    await press(page, 'Enter')
    await page.waitForURL(new RegExp(`/agents/${kiosk}`))
    const arm = page.getByRole('main').getByRole('button', { name: 'Arm…' })
    await arm.waitFor()
    await tabTo(page, arm)
    await press(page, 'Enter')
    await dialog.getByTestId('gate-sentence').waitFor()
    await press(page, 'Escape')
    await dialog.waitFor({ state: 'detached' })
    await focused(arm, page)
    await press(page, 'Enter')
    await dialog.getByTestId('gate-sentence').waitFor()
    await tabTo(page, dialog.getByRole('button', { name: /^Arm \d+ hosts?$/ }))
    await press(page, 'Enter')
    await page.getByText(/^Arming 1 host/).waitFor()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.evaluate(`document.activeElement !== document.body`)).toBe(true)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('gives the focus back to its opener after each dialog, drawer and menu', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/')
    await focused(page.getByLabel('User name'), page)
    await page.keyboard.type('admin')
    await press(page, 'Tab')
    await page.keyboard.type(adminPassword)
    await press(page, 'Enter')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    for (const [path, opener] of [
      ['/policy', 'Add rule'],
      ['/policy/grants', 'Add grant'],
      ['/settings/accounts', 'Create account'],
      ['/peripherals', 'Export'],
      ['/peripherals', 'Columns'],
      [`/agents/${desk}?tab=devices`, 'Free…'],
    ] as const) {
      await page.goto(path)
      const button = page.getByRole('main').getByRole('button', { name: opener, exact: true }).first()
      await button.waitFor()
      await settled(page)
      await tabTo(page, button)
      await press(page, 'Enter')
      const opened = page.getByRole('dialog').or(page.getByRole('menu')).or(page.getByRole('complementary')).last()
      await opened.waitFor()
      await press(page, 'Escape')
      await opened.waitFor({ state: 'detached' }).catch(() => opened.waitFor({ state: 'hidden' }))
      await focused(button, page)
    }
    expect(wrong).toEqual([])
    await context.close()
  })
})
