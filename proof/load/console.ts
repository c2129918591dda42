/** Measures the console in a real browser with a whole fleet: time to usable pages, and time to show a new device. */

import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { storageStick } from '@portcullis/domain/testing'
import type { Page } from 'playwright-core'
import { launchBrowser, openWindow, whyNoChromium } from '../kit/browser.ts'
import { firstLoad, isConsoleBuilt, mostScriptKilobytes } from '../kit/first-load.ts'
import { createTree, startAgent, temporaryDir } from '../kit/harness.ts'
import { adminPassword } from '../kit/server.ts'
import { atMost, type Finding, figure, percentile, round } from '../kit/verdict.ts'
import { measureNavigation, measureSlowLine } from './console-load.ts'
import type { Prepared } from './fleet.ts'
import type { BenchResult } from './result.ts'

const usableMs = 1_000
const navigationMs = 150
/** From the first byte to the shell, on a line with 400 kbit/s and 400 ms. */
const shellMs = 1_000
/** From the first byte to the sign-in form, on the same network. */
const signInMs = 3_000

const rows = (page: Page) => page.getByRole('grid').getByRole('row')
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const figuresOf = (what: string, times: readonly number[], limit?: number): Finding[] => [
  atMost(`${what}: median`, round(percentile(times, 0.5), 0), limit, 'ms'),
  figure(`${what}: slowest`, round(Math.max(...times), 0), 'ms'),
]

/** Attaches a stick to a host whose page is open, and waits until the page shows it. */
const measurePlugs = async ({ server }: Prepared, page: Page, token: string, rounds: number): Promise<number[]> => {
  const tree = createTree()
  const state = temporaryDir()
  const before = new Set<string>()
  const newest = async (): Promise<string | undefined> => {
    const answer = await server.call('/prime/webui/agents?PageSize=5&SortBy=firstSeen_desc', undefined, token)
    return (answer.data as { uuid: string }[]).map(({ uuid }) => uuid).find((uuid) => !before.has(uuid))
  }
  for (let uuid = await newest(); uuid !== undefined; uuid = await newest()) before.add(uuid)
  const agent = startAgent(server, await server.enrolmentToken(1, token), tree, state)
  try {
    let uuid: string | undefined
    for (let n = 0; uuid === undefined && n < 600; n++) {
      await pause(100)
      uuid = await newest()
    }
    if (uuid === undefined) throw new Error(`No host enrolled: ${agent.output()}`)
    await page.goto(`/agents/${uuid}`)
    await page
      .getByText('xHCI')
      .or(page.getByText('No device'))
      .first()
      .waitFor()
      .catch(() => {})
    const times: number[] = []
    for (let n = 0; n <= rounds; n++) {
      const product = `Stick ${n} of the benchmark`
      const ms = await timed(async () => {
        tree.plug(storageStick({ portPath: '2-1', product, serial: `bench-${n}` }))
        await page.getByText(product).first().waitFor({ timeout: 30_000 })
      })
      if (n > 0) times.push(ms)
      tree.unplug('2-1')
      await pause(300)
    }
    return times
  } finally {
    agent.child.kill('SIGTERM')
    await agent.ended
    rmSync(tree.dir, { recursive: true, force: true })
    rmSync(state, { recursive: true, force: true })
  }
}

export const benchConsole = async (prepared: Prepared): Promise<BenchResult> => {
  const { server, fleet, isQuick } = prepared
  if (whyNoChromium !== null)
    return { what: 'not run', findings: [], notRun: ['Chromium is missing (PORTCULLIS_CHROMIUM).'] }
  const rounds = isQuick ? 3 : 10
  const token = await server.signIn()
  const browser = await launchBrowser({ handleSIGINT: false, isWhole: true })
  try {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/agents')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await rows(page).nth(10).waitFor()
    const loads: number[] = []
    const sorts: number[] = []
    const searches: number[] = []
    for (let n = 0; n < rounds; n++) {
      loads.push(
        await timed(async () => {
          await page.goto('/agents')
          await rows(page).nth(10).waitFor()
        }),
      )
      // The console draws the rows from the server's response with the new order.
      const answered = () => page.waitForResponse((response) => response.url().includes('/prime/webui/agents?'))
      sorts.push(
        await timed(() =>
          Promise.all([
            answered(),
            page
              .getByRole('grid')
              .getByRole('columnheader')
              .getByRole('button')
              .nth(n % 3)
              .click(),
          ]),
        ),
      )
      searches.push(
        await timed(() =>
          Promise.all([answered(), page.getByRole('searchbox').or(page.getByRole('textbox')).first().fill(`ws-${n}`)]),
        ),
      )
    }
    await page.goto('/agents')
    await rows(page).nth(10).waitFor()
    const heap = await page.evaluate<number>('performance.memory?.usedJSHeapSize ?? 0')
    const walks = await measureNavigation(page, rounds)
    const slow = await measureSlowLine(browser, server.url)
    const plugs = await measurePlugs(prepared, page, token, rounds)
    await context.close()
    return {
      what: `Chromium at 1440 x 900 beside server and database, ${fleet.agents} hosts, ${rounds} rounds`,
      findings: [
        ...figuresOf('list of hosts, from the address to the rows', loads, usableMs),
        ...figuresOf('another page, from the click to its title', walks, navigationMs),
        atMost(
          'scripts of the first load, compressed by gzip',
          isConsoleBuilt() ? round(firstLoad().scripts, 1) : Number.NaN,
          mostScriptKilobytes,
          'kB',
        ),
        atMost('shell on a slow line, from the first byte', round(slow.shell, 0), shellMs, 'ms', '400 kbit/s, 400 ms'),
        atMost(
          'sign-in form on a slow line, from the first byte',
          round(slow.signIn, 0),
          signInMs,
          'ms',
          '400 kbit/s, 400 ms',
        ),
        ...figuresOf('another order, from the click to the answer', sorts),
        ...figuresOf('search, from the last key to the answer', searches),
        ...figuresOf('device attached to a host, until it is shown', plugs, usableMs),
        figure('memory of the page', round(heap / 2 ** 20, 0), 'MB'),
        atMost('errors of the page', wrong.length, 0, '', wrong[0]),
      ],
    }
  } finally {
    await browser.close()
  }
}
