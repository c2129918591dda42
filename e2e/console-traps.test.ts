import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { plainKeyboard, rubberDucky, storageStick, unless } from '@portcullis/domain/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

/** The agent build of this checkout contains a release key. */
const hasReleaseKey = existsSync(fileURLToPath(new URL('../release-key.pub', import.meta.url)))

describe('regressions of the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let desk: TestAgent
  /** The parts of a test app that the builder uses if it has a token. */
  const at = () => ({ address: server.url, clock: { now: () => Date.now() } }) as unknown as TestApp

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    desk = await enrolAgent(at(), {
      token: await server.enrolmentToken(),
      facts: { hostname: 'front-desk' },
      devices: [
        plainKeyboard({ portPath: '1-1' }),
        storageStick({ portPath: '1-2', product: 'Ultra Fit Portable Drive for the Archive' }),
        rubberDucky({ portPath: '2-1' }),
      ],
    })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })

  it.each([1440, 1024, 390])(
    'shows device names in full in the host drawer, attack tools first, at %i px',
    async (width) => {
      const { page, context, wrong } = await open(`/agents?open=${desk.agentId}&tab=devices`, width)
      const lines = page.getByRole('complementary', { name: 'Host' }).locator('li button[aria-expanded]')
      await lines.nth(2).waitFor()
      expect(await lines.first().innerText()).toContain('HID Keyboard')
      for (const line of await lines.all()) {
        const clipped = await line
          .locator('*')
          .evaluateAll((all) => all.some((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0))
        expect(clipped).toBe(false)
        // A name with one letter per line is not readable either.
        expect((await line.boundingBox())?.height).toBeLessThan(100)
      }
      expect(wrong).toEqual([])
      await context.close()
    },
  )

  it('adds no scroll bar for the job tray', async () => {
    const { page, context, wrong } = await open('/peripherals')
    await page.getByRole('grid').getByRole('row').nth(1).waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: /CSV/ }).first().click()
    await page
      .getByRole('region', { name: 'Jobs' })
      .getByText(/^Saved/)
      .waitFor()
    const excess = await page.evaluate(`
      const { scrollHeight, clientHeight, scrollWidth, clientWidth } = document.documentElement;
      [scrollHeight - clientHeight, scrollWidth - clientWidth]`)
    expect(excess).toEqual([0, 0])
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows a host within two seconds of its enrolment, with a link to it', async () => {
    const { page, context, wrong } = await open('/settings/enrolment')
    await page.getByRole('button', { name: 'Create install command' }).click()
    await page.getByText('Waiting for the host…').waitFor()
    const shown = page.getByText(/^pce_[0-9a-f]{32}_/).first()
    const token = /pce_[0-9a-f]{32}_[\w-]{43}/.exec((await shown.textContent()) ?? '')?.[0] as string
    await page.evaluate('window.stillTheSame = true')
    const added = await enrolAgent(at(), { token, facts: { hostname: 'new-kiosk' } })
    const link = page.getByRole('status').getByRole('link', { name: 'new-kiosk' })
    await link.waitFor({ timeout: 2_000 })
    expect(await page.getByText('Waiting for the host…').count()).toBe(0)
    await page.getByRole('table', { name: 'Enrolment tokens' }).getByText('1 of 1', { exact: true }).waitFor()
    expect(await page.evaluate('window.stillTheSame')).toBe(true)
    await link.click()
    await page.waitForURL(new RegExp(`/agents/${added.agentId}`))
    expect(wrong).toEqual([])
    await context.close()
  })

  it.skipIf(hasReleaseKey)('warns where hosts are added that no release key is configured', async () => {
    const { page, context, wrong } = await open('/settings/enrolment')
    const notice = page.getByRole('note', { name: 'No release key' })
    await notice.getByText('The agents of this server contain no release key').waitFor()
    await notice.getByRole('link', { name: 'Show how to configure it' }).click()
    await page.getByRole('heading', { name: 'How to configure a release key' }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('names the hosts of an alert, opens them, and approves a waiting device', async () => {
    const { page, context, wrong } = await open('/alerts')
    await desk.checkIn({ enforcement: { mode: 'Armed', policyVersion: 0, reason: '' } })
    await desk.plug(rubberDucky({ portPath: '3-1', serial: 'second' }))
    await page.getByRole('grid', { name: 'Risk alerts' }).getByText('Attack tool').first().click()
    const hosts = page.getByRole('complementary', { name: 'Alert' }).getByRole('region', { name: 'Hosts' })
    expect(await hosts.getByRole('link', { name: 'front-desk', exact: true }).getAttribute('href')).toBe(
      `/agents/${desk.agentId}`,
    )
    await hosts.getByRole('button', { name: 'Approve…' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Attack tool', { exact: true }).first().waitFor()
    await dialog.getByLabel('Reason').and(page.locator(':focus')).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await hosts.getByRole('link', { name: 'front-desk' }).click()
    await page.waitForURL(new RegExp(`/agents/${desk.agentId}`))
    expect(wrong).toEqual([])
    await context.close()
  })

  it('does not scroll on-call pages sideways at 390 px', async () => {
    const { page, context, wrong } = await open('/alerts', 390, 844)
    await page.getByRole('grid', { name: 'Risk alerts' }).getByText('Attack tool').first().waitFor()
    for (const path of [
      '/alerts',
      `/agents/${desk.agentId}`,
      '/approvals',
      '/policy/requests',
      '/settings/enrolment',
    ]) {
      await page.goto(path)
      await page.getByRole('heading').first().waitFor()
      await page.waitForLoadState('load')
      // Tab lists may be wider than the page, because they scroll separately.
      const wide = await page.evaluate<
        string[]
      >(`[...document.querySelectorAll('body, main, main *:not(nav, nav *, code, pre)')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX))
        .map((one) => one.tagName + '.' + one.className)`)
      expect(wide, path).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), path).toBe(0)
    }
    expect(wrong).toEqual([])
    await context.close()
  })

  it('never truncates a name to make room for tags and badges, at 1440, 1024 and 390 px', async () => {
    const hostname = 'reception-desk-of-the-third-floor-in-building-seven-of-the-old-town-hall'
    const { page, context, wrong } = await open('/')
    const desk = await enrolAgent(at(), {
      token: await server.enrolmentToken(),
      facts: { hostname },
      devices: [rubberDucky({ portPath: '2-1' })],
    })
    await desk.checkIn({ enforcement: { mode: 'Armed', policyVersion: 0, reason: '' } })
    await server.post('generalconfig/addhashtags', {
      hashtags: ['reception', 'public area', 'building seven'],
      elementIds: [desk.agentId],
      entityType: 'Agent',
    })
    for (const width of [1440, 1024, 390])
      for (const path of ['/', '/approvals?open=03EB%3A2401']) {
        await page.setViewportSize({ width, height: 900 })
        await page.goto(path)
        const name = page.getByRole('main').locator('li a', { hasText: hostname }).first()
        await name.waitFor()
        const cut = await name
          .locator('xpath=ancestor-or-self::*[ancestor::li]')
          .evaluateAll((all) => all.some((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0))
        expect([path, width, cut]).toEqual([path, width, false])
        // A name with one letter per line is not readable either.
        expect((await name.boundingBox())?.height, `${path} at ${width}`).toBeLessThan(150)
      }
    // The list of devices begins with the attack tools.
    await page.setViewportSize({ width: 1440, height: 900 })
    for (const path of ['/peripherals', '/peripherals/models']) {
      await page.goto(path)
      await page.getByRole('grid').getByRole('row').nth(1).getByText('attack tool').first().waitFor()
    }
    expect(wrong).toEqual([])
    await context.close()
  })
})
