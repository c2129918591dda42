// Invariant: The console shows what a polled host reports about itself as text.

import { readFile } from 'node:fs/promises'
import { hostileStrings, hostileTexts, plainKeyboard, unless } from '@portcullis/domain/testing'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sshd, startPeer, startSshd, whyNoSshd } from '../poller/test/sshd.ts'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { type RunningServer, remove, startServer, until } from '../proof/kit/harness.ts'
import { startPolledHost } from './polled-host.ts'
import { serverDir } from './prepared.ts'

interface Row {
  computerName: string
  statusString: string
  uuid: string
  cause: string | null
}

const base = 'agents/agentless'

describe('agentless hosts in the console', unless(whyNoChromium ?? whyNoSshd), () => {
  let server: RunningServer
  let browser: Browser
  let sshd: Sshd
  let mute: Awaited<ReturnType<typeof startPeer>>
  let hostile: Awaited<ReturnType<typeof startPolledHost>>
  const dir = serverDir()

  beforeAll(async () => {
    sshd = await startSshd('127.0.0.2')
    mute = await startPeer(() => {})
    hostile = await startPolledHost(
      `${hostileTexts.html}${hostileTexts.rightToLeft.replaceAll(' ', '')}${'x'.repeat(300)}`,
      [
        plainKeyboard({ portPath: '1-1' }),
        hostileStrings('html', { portPath: '1-2' }),
        hostileStrings('rightToLeft', { portPath: '1-3' }),
        hostileStrings('longest', { portPath: '1-4' }),
      ],
    )
    server = await startServer(dir)
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
    sshd?.stop()
    hostile?.stop()
    mute?.server.close()
    remove(dir)
  })

  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })
  const row = (page: Page, text: string) => page.getByRole('grid').getByRole('row').filter({ hasText: text })
  const worker = (page: Page) => page.getByRole('region', { name: 'Worker' })
  const drawer = (page: Page) => page.getByRole('complementary', { name: 'Agentless host' })
  const trial = (page: Page) => page.getByRole('region', { name: 'Test' })
  const own = (form: Locator) => form.getByRole('switch', { name: /^Override the default credentials and interval/ })
  const dialog = (page: Page) => page.getByRole('dialog')
  const rows = async () => (await server.get<{ data: Row[] }>(`${base}/connectiondetailsstatus?PageSize=100`)).data
  const rowOf = async (name: string) => (await rows()).find(({ computerName }) => computerName === name)

  it('guides from an empty page to an active worker', async () => {
    const { page, context, wrong } = await open('/agentless')
    await page.getByText('No agentless hosts').waitFor()
    await worker(page).getByText('Waiting for activation').waitFor()
    await worker(page).getByRole('button', { name: 'Activate' }).click()
    await worker(page).getByText('Polling', { exact: true }).waitFor()
    await worker(page).getByRole('button', { name: '1 of 1 process connected' }).click()
    await page.getByRole('table', { name: 'Worker processes' }).getByText('0 of').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('table', { name: 'Worker processes' }).waitFor({ state: 'detached' })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('tests a host step by step, shows the cure, and adds the host after a successful test', async () => {
    const { page, context, wrong } = await open('/agentless')
    await page.getByRole('button', { name: 'Add agentless host' }).first().click()
    const form = drawer(page)
    const name = form.getByLabel('Host', { exact: true })
    const test = form.getByRole('button', { name: 'Run test' })
    await own(form).check({ force: true })
    await form.getByLabel('User').fill(sshd.userName)
    await form.getByLabel('Private key').fill(sshd.privateKey)

    // The port accepts connections but does not answer: the current step is shown, and the test can be cancelled.
    await name.fill('127.0.0.1')
    await form.getByLabel('Port').fill(String(mute.port))
    await test.click()
    await trial(page).getByRole('img', { name: 'In progress' }).waitFor()
    await form.getByRole('button', { name: 'Stop test' }).click()
    await trial(page).waitFor({ state: 'detached' })

    await name.fill(sshd.host)
    await form.getByLabel('Port').fill('1')
    await test.click()
    const step = (words: string) => trial(page).getByRole('listitem').filter({ hasText: words })
    await step('Connect').getByRole('img', { name: 'failed' }).waitFor()
    await trial(page)
      .getByText(/Start the SSH server on the host, check the port/)
      .waitFor()
    await step('Sign in').getByText('not reached').waitFor()
    // The tests stored nothing.
    expect(await rows()).toEqual([])

    await form.getByLabel('Port').fill(String(sshd.port))
    await test.click()
    await trial(page).getByText('Test passed.').waitFor()
    expect(await trial(page).getByRole('img', { name: 'done' }).count()).toBe(6)
    await trial(page).getByText(sshd.fingerprint).waitFor()
    await form.getByRole('button', { name: 'Add agentless host' }).click()

    await row(page, sshd.host).getByText('Succeeded', { exact: true }).waitFor()
    await form.getByRole('button', { name: 'Close', exact: true }).last().click()
    const { uuid } = (await rowOf(sshd.host)) as Row
    await row(page, sshd.host).getByRole('link', { name: sshd.host }).click()
    await page.waitForURL(new RegExp(uuid))
    await page.getByRole('tab', { name: 'Details' }).click()
    await page.getByText('Agentless', { exact: true }).last().waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
  it('adds a host by keyboard alone, and clears its own port', async () => {
    const { page, context, wrong } = await open('/agentless')
    await row(page, sshd.host).waitFor()
    await page.keyboard.press('n')
    await drawer(page).waitFor()
    const next = async (text: string) => {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await next('127.0.0.9')
    await next('1')
    // Skip system, tags and host key.
    for (let field = 0; field < 3; field++) await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await next('inventory')
    await page.keyboard.type('a password')
    await page.keyboard.press('Enter')
    await drawer(page).getByRole('heading', { name: '127.0.0.9' }).waitFor()
    const connection = async () =>
      (await server.get<{ data: unknown[] }>(`${base}/connectiondetails?ComputerName=127.0.0.9`)).data[0]
    expect(await connection()).toMatchObject({
      port: 1,
      userName: 'inventory',
      hasPassword: true,
      hasPrivateKey: false,
    })
    await row(page, '127.0.0.9').getByText('Failed', { exact: true }).waitFor()

    const port = drawer(page).getByLabel('Port')
    await port.fill('')
    await drawer(page).getByRole('button', { name: 'Save' }).click()
    // A stored password is not sent to another address, so it must be entered again.
    await drawer(page)
      .getByText(/required again/)
      .waitFor()
    await drawer(page).getByLabel('Password', { exact: true }).fill('a password')
    await drawer(page).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. The host is polled again.').waitFor()
    expect(await port.inputValue()).toBe('')
    expect(await connection()).toMatchObject({ port: null })
    await page.keyboard.press('Escape')
    await drawer(page).waitFor({ state: 'detached' })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('previews the changes of a file line by line, and applies them', async () => {
    const { page, context, wrong } = await open('/agentless')
    await page.getByRole('button', { name: 'Upload file…' }).click()
    const file = (lines: readonly string[]) => ({
      name: 'computers.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(lines.join('\r\n')),
    })
    await dialog(page)
      .locator('input[type=file]')
      .setInputFiles(
        file([
          'ComputerName,Port,UserName,Password,Tags',
          `127.0.0.1,${hostile.port},inventory,"a, password",lab;kiosk`,
          '<img src=x onerror=alert(1)>,22,,,',
          '127.0.0.9,1,inventory,a password,',
        ]),
      )
    await dialog(page).getByText('1 to add, 1 to change, 1 line with errors').waitFor()
    const line = (text: string) => dialog(page).getByRole('row').filter({ hasText: text })
    await line('error').getByText('is neither a host name (RFC 1123) nor an IP address').waitFor()
    expect(await line('error').getByRole('cell').first().textContent()).toBe('3')
    await line('127.0.0.1').getByText('new').waitFor()
    await line('127.0.0.9').getByText('changed').waitFor()
    expect(await rowOf('127.0.0.1')).toBeUndefined()
    await dialog(page).getByRole('button', { name: 'Save 2 hosts' }).click()
    await dialog(page).getByText('1 added, 1 changed, 1 line with errors').waitFor()
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    // At the first contact with a password, the operator confirms the host key before the password is sent.
    await row(page, '127.0.0.1').getByText('Failed', { exact: true }).waitFor()
    await row(page, '127.0.0.1').click()
    await drawer(page).getByRole('button', { name: 'Confirm host key…' }).click()
    await page.getByRole('button', { name: 'Confirm host key', exact: true }).click()
    await row(page, '127.0.0.1').getByText('Succeeded', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    expect(wrong).toEqual([])
    await context.close()
  })

  it.each([
    [1440, 900],
    [1024, 768],
  ])('shows texts of a polled host as plain text, at %i x %i', async (width, height) => {
    const { page, context, wrong } = await open('/agentless', width, height)
    const inert = async (what: string) => {
      expect(await page.locator('img[src="x"]').count(), what).toBe(0)
      const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
      expect(beyond, what).toBeLessThanOrEqual(0)
    }
    await row(page, '127.0.0.1').click()
    await drawer(page).getByRole('button', { name: 'Run test' }).click()
    await trial(page).getByText('Test passed.').waitFor()
    const said = trial(page).getByText(hostileTexts.html).first()
    await said.waitFor()
    const [text, frame] = [await said.boundingBox(), await trial(page).boundingBox()]
    expect((text?.x ?? 0) + (text?.width ?? 0)).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0))
    // Direction marks are replaced everywhere.
    expect(await trial(page).textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    await inert('test')
    const { uuid } = (await rowOf('127.0.0.1')) as Row
    await page.goto('/agents')
    await row(page, '<img src=x').first().waitFor()
    await inert('agents')
    await page.goto(`/agents/${uuid}`)
    await page.getByText(hostileTexts.html).first().waitFor()
    await inert('agent')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('groups failures by cause, and deletes hosts after a confirmation', async () => {
    await until('the failure', async () => (await rowOf('127.0.0.9'))?.cause === 'connection-refused')
    const { page, context, wrong } = await open('/agentless')
    const cause = page.getByRole('list', { name: 'Failures by cause' }).getByRole('button')
    await cause.getByText('The connection was refused').waitFor()
    await cause.click()
    await page.waitForURL(/Cause=connection-refused/)
    await row(page, sshd.host).waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('grid').getByRole('row').count()).toBe(2)

    const take = async (title: string) => {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      await page.getByRole('menuitem', { name: title, exact: true }).click()
      const text = await readFile(await (await download).path(), 'utf8')
      return text.replace('\ufeff', '').trimEnd().split('\r\n')
    }
    const runs = await take('Polls as CSV')
    expect(runs).toHaveLength(2)
    expect(runs[1]).toMatch(/^127\.0\.0\.9,Failed,/)
    // The export contains all three hosts, whatever their last run, and no secrets.
    const computers = await take('Hosts as CSV')
    expect(computers).toHaveLength(4)
    expect(computers.join()).not.toMatch(/a password|PRIVATE KEY/)

    await page.getByLabel('Select all rows').click()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog(page)
      .getByText(/their credentials and pinned host keys are deleted/)
      .waitFor()
    await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click()
    await row(page, '127.0.0.9').waitFor({ state: 'detached' })
    expect((await rows()).map(({ computerName }) => computerName)).toEqual(['127.0.0.1', sshd.host])
    expect(wrong).toEqual([])
    await context.close()
  })

  it('stops and deletes the worker, each after a confirmation', async () => {
    const { page, context, wrong } = await open('/agentless')
    await worker(page).getByRole('button', { name: 'Stop…' }).click()
    await dialog(page)
      .getByText(/no agentless host is polled until you activate the worker again/)
      .waitFor()
    await dialog(page).getByRole('button', { name: 'Stop worker', exact: true }).click()
    await worker(page).getByText('Stopped').waitFor()
    await worker(page).getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete worker…' }).click()
    await dialog(page)
      .getByText(/keys of its processes are revoked/)
      .waitFor()
    await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click()
    await worker(page).getByText('No worker', { exact: true }).waitFor()
    await row(page, sshd.host).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})
