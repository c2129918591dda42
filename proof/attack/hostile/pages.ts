/** Opens every page of the console in a browser and looks for interpreted texts. */
import { launchBrowser, openWindow, whyNoChromium } from '../../kit/browser.ts'
import type { Environment } from '../../kit/environment.ts'
import { consolePages } from '../../kit/page-paths.ts'

/** Runs in the page: counts elements that only an interpreted text creates, and checks whether a text is visible. */
const look = `({
  made: document.querySelectorAll('img[src="x"], iframe, base, form[action*="evil"], a[href^="javascript:"], link[href*="evil"], meta[http-equiv="refresh"], svg[onload], [onerror]').length,
  isShown: /alert\\(1\\)|onerror=|cmd\\|/.test(document.body.innerText),
})`

export interface Seen {
  pages: number
  /** Number of pages on which a hostile text was visible. */
  showing: number
  faults: string[]
}

/** Visits the pages. Returns null if no browser is installed. */
export const lookAtPages = async (
  { server, admin }: Environment,
  agentIds: readonly string[],
  isQuick: boolean,
): Promise<Seen | null> => {
  if (whyNoChromium !== null) return null
  const browser = await launchBrowser({ handleSIGINT: false, isWhole: true })
  const faults: string[] = []
  let showing = 0
  try {
    const { page, wrong } = await openWindow(browser, server.url, 1440, 2400)
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))",
    )
    await page.goto('/')
    await page.getByLabel('User name').fill(admin.userName)
    await page.getByLabel('Password', { exact: true }).fill(admin.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation').first().waitFor()
    const [first = ''] = agentIds
    const hosts = agentIds.slice(1, isQuick ? 4 : agentIds.length).map((id) => `/agents/${id}`)
    const all = [...consolePages.map((path) => path.replace('HOST', first)), ...hosts]
    for (const path of all) {
      await page.goto(path, { waitUntil: 'domcontentloaded' })
      await page.waitForLoadState('load')
      // Wait until a text is visible, up to a limit for pages that show none.
      let found = { made: 0, isShown: false }
      for (let tries = 0; tries < (isQuick ? 6 : 20) && !found.isShown; tries++) {
        await page.waitForTimeout(250)
        found = (await page.evaluate(look)) as typeof found
      }
      if (found.made > 0) faults.push(`${path}: ${found.made} elements were created from a text`)
      if (found.isShown) showing++
      for (const what of wrong.splice(0)) faults.push(`${path}: ${what}`)
    }
    return { pages: all.length, showing, faults }
  } finally {
    await browser.close()
  }
}
