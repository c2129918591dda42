// `npm run screenshots`: starts a server with a simulated fleet in a temporary folder, and writes the pictures of the
// guide to docs/guide/images. The pictures show the product as it is, so they are made again when it changes.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launchBrowser, openSignedIn } from '../proof/kit/browser.ts'
import { fromRoot } from '../proof/kit/root.ts'
import { freePort } from '../server/test/free-port.ts'

const folder = fromRoot('docs/guide/images')
const password = 'correct horse battery staple'
const hosts = 300
const settleMs = 60_000
/** At the pace of the demo, the armed hosts block several new devices in this time. */
const armedMs = 90_000
const pilot = { Hashtags: 'office' }

/** Name, address, size, and what to wait for. */
const pictures = [
  { name: 'overview', path: '/', schemes: ['light', 'dark'] },
  { name: 'hosts', path: '/agents', schemes: ['light'] },
  { name: 'devices', path: '/peripherals', schemes: ['light'] },
  { name: 'approvals', path: '/approvals', schemes: ['light'] },
  { name: 'alerts', path: '/alerts', schemes: ['light'] },
  { name: 'rules', path: '/policy', schemes: ['light'] },
  { name: 'insights', path: '/insights', schemes: ['light'] },
  { name: 'add-hosts', path: '/settings/enrolment', schemes: ['light'] },
] as const

const ready = async (url: string): Promise<void> => {
  for (let i = 0; i < 600; i++) {
    const answer = await fetch(`${url}/readyz`).catch(() => null)
    if (answer?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`${url} is not ready after two minutes`)
}

const take = async (browser: Browser, url: string): Promise<void> => {
  for (const { name, path, schemes } of pictures)
    for (const scheme of schemes) {
      const { page, context } = await openSignedIn(browser, url, '/', { password })
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      await page.goto(path)
      await page.locator('h1').first().waitFor()
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined)
      const file = schemes.length === 1 ? `${name}.png` : `${name}-${scheme}.png`
      await page.screenshot({ path: join(folder, file) })
      console.log(`docs/guide/images/${file}`)
      await context.close()
    }
}

/** Approves the devices of the pilot's hosts and arms these hosts, as in a pilot. */
const armPilot = async (url: string): Promise<void> => {
  const post = async <T>(path: string, body: unknown, token?: string): Promise<T> => {
    const answer = await fetch(`${url}/prime/webui/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const { token } = await post<{ token: string }>('Auth/LocalLogin', { username: 'admin', password })
  const reason = 'Attached when the pilot started'
  await post('agents/bulk', { filter: pilot, action: 'approveAll', reason }, token)
  await new Promise((resolve) => setTimeout(resolve, settleMs / 6))
  await post('agents/bulk', { filter: pilot, action: 'arm', reason: 'Pilot in the office' }, token)
  await new Promise((resolve) => setTimeout(resolve, armedMs))
}

const dataDir = mkdtempSync(join(tmpdir(), 'portcullis-screenshots-'))
const port = await freePort()
const server = spawn(process.execPath, [fromRoot('scripts/bootstrap.mjs'), 'start', '--demo', String(hosts)], {
  cwd: fromRoot('.'),
  env: {
    ...process.env,
    PORTCULLIS_DATA_DIR: dataDir,
    PORTCULLIS_PORT: String(port),
    PORTCULLIS_ADMIN_PASSWORD: password,
  },
  stdio: ['ignore', 'ignore', 'inherit'],
})
const ended = new Promise((resolve) => server.once('exit', resolve))
const browser = await launchBrowser()
try {
  const url = `http://127.0.0.1:${port}`
  await ready(url)
  // The simulated hosts enrol, and their devices are evaluated.
  await new Promise((resolve) => setTimeout(resolve, settleMs))
  await armPilot(url)
  mkdirSync(folder, { recursive: true })
  await take(browser, url)
} finally {
  await browser.close()
  server.kill('SIGTERM')
  await ended
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
}
