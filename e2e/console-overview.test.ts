import { plainKeyboard, rubberDucky, unless } from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const dayMs = 86_400_000
/** Fourteen days with 0 to 13 attachments; every second one was blocked. */
const activity = Array.from({ length: 14 }, (_, index) => ({
  day: new Date(Date.now() - (13 - index) * dayMs).toISOString().slice(0, 10),
  attachments: index,
  blocked: Math.floor(index / 2),
}))

/** The browser's own function, which this project has no types for. */
declare const getComputedStyle: (element: unknown) => { color: string }

const modes = [
  ['Armed', 'Armed', 'Armed'],
  ['Free', 'Free', 'Free'],
  ['Disconnected', 'Armed', 'Disconnected, armed'],
  ['Disconnected', 'Free', 'Disconnected, free'],
] as const

describe('the overview and the states of hosts', unless(whyNoChromium), () => {
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
      facts: { hostname: 'front-desk' },
      devices: [plainKeyboard({ portPath: '1-1' }), rubberDucky({ portPath: '2-1' })],
    })
    host = desk.agentId
    await desk.unplug('2-1')
    await desk.plug(rubberDucky({ portPath: '2-1' }))
    ;({ page, wrong } = await openSignedIn(browser, server.url, '/settings/profile'))
  })
  afterAll(async () => {
    await server?.stop()
  })

  /** Replaces members of the host in the responses of the server. */
  const asIf = (change: Record<string, unknown>) =>
    page.route(/\/prime\/webui\/agents(\?|\/agent\/)/, async (route) => {
      const answer = await route.fetch()
      const body = (await answer.json()) as { data?: object[] }
      const json =
        body.data === undefined
          ? { ...body, ...change }
          : { ...body, data: body.data.map((row) => ({ ...row, ...change })) }
      await route.fulfill({ response: answer, json })
    })

  it('draws the attachments with title, axes, legend, tooltip and as a table', async () => {
    await page.route('**/policy/activity?*', (route) => route.fulfill({ json: { data: activity } }))
    await page.goto('/')
    const chart = page.getByRole('region', { name: 'Device attachments per day, last 14 days' })
    await chart.getByText('Day (UTC)').waitFor()
    await expect.poll(() => chart.innerText()).toContain('15')
    for (const text of ['Attachments', 'Blocked', 'Day (UTC)', '10', '5', '0'])
      expect(await chart.innerText()).toContain(text)
    const bars = chart.getByRole('link')
    expect(await bars.count()).toBe(14)
    expect(await bars.last().getAttribute('aria-label')).toMatch(/: 13 attachments, 6 blocked$/)
    const tip = chart.getByRole('tooltip', { includeHidden: true })
    await bars.nth(12).hover()
    await tip.waitFor()
    expect(await tip.innerText()).toMatch(/12 attachments\s+6 blocked/)
    await page.keyboard.press('Escape')
    await tip.waitFor({ state: 'detached' })
    await bars.nth(3).focus()
    expect(await tip.innerText()).toMatch(/3 attachments\s+1 blocked/)
    const [left, edge] = await Promise.all([tip.boundingBox(), chart.boundingBox()])
    expect(left!.x).toBeGreaterThanOrEqual(edge!.x)
    await bars.last().focus()
    const [right, frame] = await Promise.all([tip.boundingBox(), chart.boundingBox()])
    expect(right!.x + right!.width).toBeLessThanOrEqual(frame!.x + frame!.width)

    await chart.getByRole('button', { name: 'Show as table' }).click()
    const table = chart.getByRole('table', { name: 'Device attachments per day, last 14 days' })
    expect(await table.getByRole('row').count()).toBe(15)
    expect(await table.getByRole('row').nth(1).innerText()).toMatch(/6\s+7$/)
    await page.unroute('**/policy/activity?*')
    expect(wrong).toEqual([])
  })

  it('shows another number by day from the address, and opens its rows', async () => {
    await page.goto('/')
    await page.getByLabel('Chart', { exact: true }).selectOption('Hosts with attack tools')
    await page.waitForURL(/chart=attackTools/)
    await page.getByLabel('Period', { exact: true }).selectOption('30 days')
    await page.waitForURL(/days=30/)
    await page.reload()
    const chart = page.getByRole('region', { name: 'Hosts with attack tools per day, last 30 days' })
    const days = chart.getByRole('link')
    await days.first().waitFor()
    expect(await days.count()).toBe(30)
    expect(await days.first().getAttribute('aria-label')).toMatch(/: not recorded$/)
    expect(await days.last().getAttribute('aria-label')).toMatch(/: Hosts with attack tools: 1$/)
    await days.last().click()
    await page.waitForURL(/\/agents\?.*HasKnownAttackTools=/)
    await page.getByRole('grid').getByText('front-desk').waitFor()
    expect(wrong).toEqual([])
  })

  it('shows the change of a number since yesterday, as the server recorded it', async () => {
    const day = new Date(Date.now() - dayMs).toISOString().slice(0, 10)
    await page.route('**/trends?*', async (route) => {
      const answer = await route.fetch()
      const body = (await answer.json()) as { data: object[] }
      const before = { ...body.data.at(-1), day, connected: 4, attackTools: 0, vulnerable: 0 }
      await route.fulfill({ response: answer, json: { ...body, data: [before, ...body.data] } })
    })
    await page.goto('/')
    const tiles = page.getByRole('region', { name: 'Fleet summary' })
    await expect
      .poll(() => tiles.getByRole('link', { name: /^Connected hosts/ }).innerText())
      .toContain('−3 since yesterday')
    expect(await tiles.getByRole('link', { name: /^Hosts with attack tools/ }).innerText()).toContain(
      '+1 since yesterday',
    )
    await page.unroute('**/trends?*')
    await page.reload()
    await tiles.getByText('Hosts with attack tools').waitFor()
    await expect.poll(() => tiles.innerText()).not.toContain('yesterday')
    expect(wrong).toEqual([])
  })

  it('counts an attack tool once, however often it is attached, and links to it', async () => {
    await page.goto('/')
    await page.getByRole('link', { name: '1 new attack tool' }).click()
    await page.waitForURL(/peripherals\?.*firstSeen=/)
    await expect.poll(() => page.getByRole('grid').getByRole('row').count()).toBe(2)
    expect(wrong).toEqual([])
  })

  it('shows the numbers on a wall with an API token, without a session, and says when they are old', async () => {
    const { token } = await server.post<{ token: string }>('admin/apiTokens', {
      name: 'wall',
      scopes: ['fleet:read', 'notices:read'],
    })
    const wall = await openWindow(browser, server.url, 1920, 1080)
    await wall.page.clock.install()
    await wall.page.goto('/wall')
    const field = wall.page.getByLabel('API token')
    await field.fill('pt_wrong')
    await wall.page.getByRole('button', { name: 'Show numbers' }).click()
    await wall.page.getByText('The server refused the token').waitFor()
    await field.fill(token)
    await wall.page.getByRole('button', { name: 'Show numbers' }).click()
    const tools = wall.page.getByRole('listitem').filter({ hasText: 'Hosts with attack tools' })
    await expect.poll(() => tools.innerText()).toMatch(/attack tools\s+1/)
    await wall.page.reload()
    await expect.poll(() => tools.innerText()).toMatch(/attack tools\s+1/)
    expect(await wall.page.content()).not.toContain(token)
    expect(await wall.page.content()).not.toContain('front-desk')
    // The page reads the numbers again by itself, and never shows old ones as new.
    await wall.page.route('**/AgentsClassificationSummary*', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, json: { ...(await answer.json()), knownAttackTools: 7 } })
    })
    await wall.page.clock.runFor(31_000)
    await expect.poll(() => tools.innerText()).toMatch(/attack tools\s+7/)
    await wall.page.route('**/prime/webui/**', (route) => route.fulfill({ status: 503 }))
    await wall.page.clock.runFor(200_000)
    await wall.page.getByRole('alert').filter({ hasText: 'The server does not respond' }).waitFor()
    expect(wall.wrong.filter((line) => !line.includes('503'))).toEqual([])
    await wall.context.close()
  })

  it('shows no numbers on a wallboard whose token was revoked', async () => {
    const { id, token } = await server.post<{ id: string; token: string }>('admin/apiTokens', {
      name: 'lost wall',
      scopes: ['fleet:read', 'notices:read'],
    })
    const wall = await openWindow(browser, server.url, 1920, 1080)
    await wall.page.clock.install()
    await wall.page.goto('/wall')
    await wall.page.getByLabel('API token').fill(token)
    await wall.page.getByRole('button', { name: 'Show numbers' }).click()
    const tools = wall.page.getByRole('listitem').filter({ hasText: 'Hosts with attack tools' })
    await expect.poll(() => tools.innerText()).toMatch(/attack tools\s+1/)
    const authorization = `Bearer ${await server.signIn()}`
    const path = `/prime/webui/admin/apiTokens/${id}`
    expect((await server.request(path, { method: 'DELETE', headers: { authorization } })).status).toBe(200)
    await wall.page.clock.runFor(31_000)
    await wall.page.getByText('The server refused the token').waitFor()
    expect(await tools.count()).toBe(0)
    expect(await wall.page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(token)
    await wall.context.close()
  })

  it('lists what the server still needs, follows each step, and can be hidden', async () => {
    await page.goto('/')
    const card = page.getByRole('region', { name: 'Set up this server' })
    const rule = card.getByRole('link', { name: 'Add the first rule' })
    await rule.waitFor()
    // The desk is enrolled, so this step is done.
    expect(await card.getByRole('link', { name: 'Add the first host' }).count()).toBe(0)
    await rule.click()
    await page.waitForURL(/\/policy/)
    await server.post('policy/rules', { effect: 'allow', vid: '0781', pid: '5571', reason: 'audio desk' })
    await page.goto('/settings/set-up')
    const steps = page.getByRole('main').getByRole('listitem')
    await steps.filter({ hasText: 'Add the first rule' }).getByRole('img', { name: 'Done' }).waitFor()
    await steps.filter({ hasText: 'Schedule backups' }).getByRole('img', { name: 'Open' }).waitFor()
    await page.goto('/')
    await card.getByRole('link', { name: 'Schedule backups' }).waitFor()
    expect(await rule.count()).toBe(0)
    await card.getByRole('button', { name: 'Hide' }).click()
    await card.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await card.count()).toBe(0)
    expect(wrong).toEqual([])
  })

  it('tells armed, free and disconnected hosts apart by word, shape and colour', async () => {
    const looks: { shape: string; color: string }[] = []
    for (const [displayStatusCombined, operationalStatus, word] of modes) {
      await asIf({ displayStatusCombined, operationalStatus })
      await page.goto(`/agents?open=${host}`)
      const status = page.getByRole('grid').getByText(word, { exact: true })
      await status.waitFor()
      await page.getByRole('complementary', { name: 'Host' }).getByText(word, { exact: true }).waitFor()
      looks.push(
        await status.evaluate((element) => ({
          shape: element.querySelector('path')?.getAttribute('d') ?? '',
          color: getComputedStyle(element).color,
        })),
      )
      await page.unrouteAll()
    }
    expect(new Set(looks.map(({ shape }) => shape)).size).toBe(modes.length)
    expect(new Set(looks.map(({ color }) => color)).size).toBe(modes.length)
  })

  it('never says that a host was last seen in the future', async () => {
    await asIf({ lastUpdated: new Date(Date.now() + 300_000).toISOString().slice(0, 19) })
    await page.goto(`/agents?open=${host}`)
    await page.getByRole('complementary', { name: 'Host' }).getByText('Last seen now').waitFor()
    expect(await page.getByRole('grid').getByRole('row').nth(1).innerText()).not.toContain('in ')
    await page.unrouteAll()
    expect(wrong).toEqual([])
  })
})
