/** Measures how the console loads: on a slow line, and from page to page. */
import type { Browser, Page } from 'playwright-core'
import { openWindow } from '../kit/browser.ts'

/** A slow line: 400 kbit/s and 400 ms per round trip. */
const slowLine = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }

export interface SlowLoad {
  /** Milliseconds from the first byte of the page. */
  shell: number
  signIn: number
}

/** Loads the sign-in page with an empty cache on a slow line. */
export const measureSlowLine = async (browser: Browser, url: string): Promise<SlowLoad> => {
  const { page, context } = await openWindow(browser, url, 1440, 900)
  try {
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', slowLine)
    await page.goto('/', { waitUntil: 'commit' })
    await page.getByRole('button', { name: 'Sign in' }).waitFor({ timeout: 60_000 })
    return await page.evaluate<SlowLoad>(`(() => {
      const { responseStart } = performance.getEntriesByType('navigation')[0]
      const shell = performance.getEntriesByName('first-contentful-paint')[0].startTime - responseStart
      return { shell, signIn: performance.now() - responseStart }
    })()`)
  } finally {
    await context.close()
  }
}

/** Pages that a walk through the console opens: name in the navigation, and title of the page. */
const visited = [
  ['Devices', 'Devices'],
  ['Insights', 'Insights'],
  ['Events', 'Events'],
  ['Alerts', 'Alerts'],
  ['Device approvals', 'Device approvals'],
  ['Hosts', 'Hosts'],
] as const

/** Returns the times from the click to the painted title of the next page. The first round loads code and is left out. */
export const measureNavigation = async (page: Page, rounds: number): Promise<number[]> => {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++)
    for (const [name, title] of visited) {
      // In the page: the time that a remote-controlled click takes is not part of the figure.
      const ms = await page.evaluate<number>(`new Promise((resolve, reject) => {
        const link = [...document.querySelectorAll('nav a')].find((one) => one.title.startsWith(${JSON.stringify(name)} + ' ('))
        if (link === undefined) return reject(new Error('no link'))
        const startedAt = performance.now()
        const look = () => {
          if (document.querySelector('main h1')?.textContent?.startsWith(${JSON.stringify(title)}) === true)
            requestAnimationFrame(() => resolve(performance.now() - startedAt))
          else if (performance.now() - startedAt > 30000) reject(new Error('no page'))
          else requestAnimationFrame(look)
        }
        link.click()
        look()
      })`)
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      if (round > 0) times.push(ms)
    }
  return times
}
