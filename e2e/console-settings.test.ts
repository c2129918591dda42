import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueLicence } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPeer } from '../poller/test/sshd.ts'
import { openSignedIn, openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword } from '../proof/kit/harness.ts'
import { createAuthority } from '../server/test/certificates.ts'
import { startIse } from '../server/test/peers/ise.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

/** Global of the browser, in which functions passed to `evaluate` run. */
declare const getComputedStyle: (element: unknown) => Readonly<Record<string, string>>

const base = 'generalconfig'
/** A PNG of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe('the settings of the whole server', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let mute: Awaited<ReturnType<typeof startPeer>>

  beforeAll(async () => {
    mute = await startPeer(() => {})
    server = await startConsoleServer()
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
    mute?.server.close()
  })

  const signIn = async (page: Page, userName = 'admin') => {
    await page.getByLabel('User name').fill(userName)
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
  }
  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })
  const items = (prefix: string) => server.get<Record<string, string>>(`${base}/GetConfigItemsByPrefix/${prefix}`)
  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true })
  const trial = (page: Page) => page.getByRole('region', { name: 'Test' })
  const dialog = (page: Page) => page.getByRole('dialog')
  const styleOf = (place: Locator, name: string) =>
    place.evaluate((element, asked) => getComputedStyle(element)[asked], name)
  /** Presses Tab until the element has the focus. */
  const tabTo = async (page: Page, place: Locator) => {
    for (let steps = 0; steps < 60; steps++) {
      if (await place.and(page.locator(':focus')).count()) return
      await page.keyboard.press('Tab')
    }
    throw new Error('the keyboard does not reach the element')
  }
  /** Presses Enter as soon as the button of the dialog has the focus. */
  const confirmed = async (page: Page) => {
    await dialog(page).locator('button[type=submit]:focus').waitFor()
    await page.keyboard.press('Enter')
    await dialog(page).waitFor({ state: 'detached' })
  }

  it('shows errors of the mail server at their field, keeps the input, and saves the corrected input', async () => {
    const { page, context, wrong } = await open('/settings/mail')
    const host = page.getByLabel('Server', { exact: true })
    const sender = page.getByLabel('Sender')
    await host.fill('mail server')
    await page.getByLabel('Port', { exact: true }).fill('70000')
    await save(page).click()
    // A number out of range is rejected without a request.
    await page.getByText('Enter a whole number from 1 to 65,535.').waitFor()
    await page.getByLabel('Port', { exact: true }).fill('2525')
    await save(page).click()
    await page.getByText('is neither a host name (RFC 1123) nor an IP address').waitFor()
    await host.and(page.locator(':focus')).waitFor()
    expect(await host.inputValue()).toBe('mail server')
    expect((await items('SMTP_')).SMTP_PORT).toBe('587')

    await host.fill('127.0.0.1')
    await page.getByText('is neither a host name').waitFor({ state: 'detached' })
    await save(page).click()
    await page.getByText('is required to send mail').waitFor()
    await sender.fill('portcullis@example.org')
    await page.getByLabel('User', { exact: true }).fill('portcullis')
    await page.getByLabel('Password', { exact: true }).fill('a secret of mail')
    await save(page).click()
    await page.getByText('Saved as version 1.').waitFor()
    expect(await items('SMTP_')).toMatchObject({
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: '2525',
      SMTP_FROM: 'portcullis@example.org',
      SMTP_PASSWORD: '********',
    })
    // The secret is never returned.
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
    await page.getByPlaceholder('set; leave blank to keep it').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('tests unsaved settings step by step against a port that does not answer', async () => {
    const { page, context, wrong } = await open('/settings/mail')
    await page.getByLabel('Port', { exact: true }).fill(String(mute.port))
    await page.getByLabel('Password', { exact: true }).fill('a secret of mail')
    await trial(page).getByRole('button', { name: 'Run test' }).click()
    await trial(page).getByRole('img', { name: 'In progress' }).waitFor()
    // Leaving with unsaved changes asks for a confirmation and keeps the page.
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Directory' }).click()
    await dialog(page).getByRole('button', { name: 'Stay' }).click()
    expect(new URL(page.url()).pathname).toBe('/settings/mail')
    expect(await page.getByLabel('Port', { exact: true }).inputValue()).toBe(String(mute.port))
    await trial(page)
      .getByRole('listitem')
      .filter({ hasText: 'Connect' })
      .getByRole('img', { name: 'failed' })
      .waitFor()
    await trial(page)
      .getByText(/Check host, port and security/)
      .first()
      .waitFor()
    await trial(page).getByText('Not used yet').waitFor()
    expect((await items('SMTP_')).SMTP_PORT).toBe('2525')

    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await page.getByLabel('Port', { exact: true }).inputValue()).toBe('2525')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('changes the mail server by keyboard alone, after a preview', async () => {
    const { page, context, wrong } = await open('/settings/domain')
    const list = page.getByRole('navigation', { name: 'Settings' })
    await tabTo(page, list.getByRole('link', { name: 'Knowledge' }))
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const host = page.getByLabel('Server', { exact: true })
    await host.waitFor()
    await tabTo(page, host)
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('localhost')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('row').filter({ hasText: '127.0.0.1' }).getByText('localhost').waitFor()
    await confirmed(page)
    // The stored password must not be sent to another server, so its field is focused and must be filled again.
    await page.getByText('must be entered again, because “Server” changes where it is sent').waitFor()
    await page.keyboard.type('a secret of mail')
    await page.keyboard.press('Enter')
    await confirmed(page)
    await page.getByText('Saved as version 2.').waitFor()
    expect((await items('SMTP_')).SMTP_HOST).toBe('localhost')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows who changed which setting, and rolls back after a preview', async () => {
    const { page, context, wrong } = await open('/settings/mail?tab=history')
    const versions = page.getByRole('list', { name: 'Versions' })
    await versions.getByRole('listitem').nth(1).waitFor()
    await versions.getByRole('button', { expanded: false }).first().click()
    const changes = page.getByRole('table', { name: 'Changes in version 2' })
    await changes.getByRole('row', { name: /Server.*127\.0\.0\.1.*localhost/ }).waitFor()
    // The old value of a secret is never shown.
    expect(await versions.textContent()).not.toContain('a secret of mail')
    await versions.getByRole('button', { name: 'Restore…' }).click()
    const plan = dialog(page).getByRole('table', { name: 'Changes from restoring' })
    await plan.getByRole('row', { name: /Server.*localhost.*127\.0\.0\.1/ }).waitFor()
    expect((await items('SMTP_')).SMTP_HOST).toBe('localhost')
    await dialog(page).getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText(/restored to version 1. This is now version 3/).waitFor()
    await versions.getByRole('listitem').nth(2).waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    expect(await page.getByLabel('Server', { exact: true }).inputValue()).toBe('127.0.0.1')
    expect(await items('SMTP_')).toMatchObject({ SMTP_HOST: '127.0.0.1', SMTP_PASSWORD: '********' })
    expect(wrong).toEqual([])
    await context.close()
  })

  it('previews the sign-in page while it is designed, with its texts as plain text', async () => {
    const { page, context, wrong } = await open('/settings/login')
    const hostile = '<img src=x onerror=alert(1)>'
    await page.getByLabel('Title').fill(hostile)
    await page.getByLabel('Message').fill('USB control of the depots.\nQuestions: extension 4410')
    await page.getByLabel('Banner').fill(`Authorised use only.\n${hostile}`)
    await page.getByLabel('Accent', { exact: true }).fill('#ffe600')
    const preview = page.getByRole('region', { name: 'Preview' })
    expect(await preview.getByText(hostile).count()).toBe(2)
    const button = preview.getByText('Sign in').first()
    const colors = [await styleOf(button, 'backgroundColor'), await styleOf(button, 'color')]
    // White on yellow is unreadable.
    expect(colors).toEqual(['rgb(255, 230, 0)', 'rgb(0, 0, 0)'])
    await preview.getByText('1. Banner').click()
    expect(await preview.getByText('I accept').count()).toBe(2)

    const logo = page.locator('input[type=file]')
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: svg })
    await page.getByText('The file is not a PNG.').waitFor()
    await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') })
    await page.getByRole('img', { name: 'Current logo' }).waitFor()
    await page.getByLabel('Background', { exact: true }).fill('#12')
    await save(page).click()
    await page
      .getByText(/colou?r such as #1c7ed6/)
      .first()
      .waitFor()
    await page.getByLabel('Background', { exact: true }).fill('')
    await save(page).click()
    await page.getByText(/^Saved as version/).waitFor()
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('blocks the sign-in until the banner is accepted', async () => {
    const { page, context, wrong } = await openWindow(browser, server.url, 1440, 900)
    await page.goto('/')
    await page.getByText('Authorised use only.').waitFor()
    await page.getByRole('heading', { name: '<img src=x onerror=alert(1)>' }).waitFor()
    expect(await page.getByLabel('Password', { exact: true }).count()).toBe(0)
    expect(await page.locator('img[src^="data:image/png"]').count()).toBe(1)
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    await page.getByRole('button', { name: 'I accept' }).press('Enter')
    const submit = page.getByRole('button', { name: 'Sign in' })
    await submit.waitFor()
    // Line breaks are kept.
    const message = page.getByText('USB control of the depots.')
    expect(((await message.boundingBox())?.height ?? 0) > 30).toBe(true)
    expect(await styleOf(submit, 'backgroundColor')).toBe('rgb(255, 230, 0)')
    await signIn(page)
    expect(wrong).toEqual([])
    await context.close()
    // The tests below sign in without a banner.
    await server.post(`${base}/AddOrUpdateCustomLogin`, { CUSTOM_LOGIN_BANNER: null })
  })

  it('explains why a text is not a licence and keeps the input, shows what a licence covers, and removes it', async () => {
    const { page, context, wrong } = await open('/settings/licence')
    await page.getByText('No licence is stored. Nothing is limited.').waitFor()
    await page.getByText('No trusted keys').waitFor()
    const field = page.getByLabel('Licence', { exact: true }).and(page.locator('textarea'))
    await field.fill('not a licence')
    await page.getByRole('button', { name: 'Save licence' }).click()
    await page.getByText(/Enter the full text as it was issued/).waitFor()
    expect(await field.inputValue()).toBe('not a licence')
    expect((await items('LICENSE_')).LICENSE_KEY).toBe('')

    const issuer = generateKeyPairSync('ed25519')
    writeFileSync(join(server.dataDir, 'licence-keys.pem'), issuer.publicKey.export({ type: 'spki', format: 'pem' }))
    const licence = {
      product: 'portcullis',
      accountId: 'acc-7',
      accountName: '<b>Example</b> Works',
      agents: 250,
      expires: '2099-12-31',
      graceDays: 14,
      features: ['nac'],
      issued: '2026-01-01',
    }
    const text = issueLicence(licence, issuer.privateKey)
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'licence.txt', mimeType: 'text/plain', buffer: Buffer.from(`${text}\n`) })
    await page.getByRole('button', { name: 'Save licence' }).click()
    const standing = page.getByRole('region', { name: 'Licence' })
    for (const words of ['0 of 250 hosts', '<b>Example</b> Works', '1 trusted key', '2099-12-31 (UTC), in'])
      await standing.getByText(words).waitFor()
    await page.getByRole('button', { name: 'Remove licence…' }).click()
    await dialog(page).getByRole('button', { name: 'Remove licence' }).click()
    await standing.getByText('No licence is stored. Nothing is limited.').waitFor()
    expect((await items('LICENSE_')).LICENSE_KEY).toBe('')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('shows settings read-only to a Manager, and hides them from a User', async () => {
    for (const [userName, userProfile] of [
      ['manager', 20],
      ['reader', 30],
    ] as const)
      await server.post('admin/adduser', { userName, password: adminPassword, userProfile })
    const as = async (userName: string) => {
      const window = await openWindow(browser, server.url, 1024, 768)
      await window.page.goto('/settings/mail')
      await signIn(window.page, userName)
      return window
    }
    const manager = await as('manager')
    const host = manager.page.getByLabel('Server', { exact: true })
    await host.waitFor()
    expect(await host.inputValue()).toBe('127.0.0.1')
    expect(await host.isDisabled()).toBe(true)
    await manager.page.getByText('You can view these settings; an Administrator can change them.').waitFor()
    expect(await save(manager.page).count()).toBe(0)
    expect(await manager.page.getByRole('button', { name: 'Run test' }).count()).toBe(0)
    await manager.page.getByRole('tab', { name: 'History' }).click()
    await manager.page.getByRole('list', { name: 'Versions' }).getByRole('listitem').first().waitFor()
    expect(await manager.page.getByRole('button', { name: /^Restore/ }).count()).toBe(0)
    const reader = await as('reader')
    const list = reader.page.getByRole('navigation', { name: 'Settings' })
    await list.getByRole('link', { name: 'Tags' }).waitFor()
    expect(await list.getByRole('link', { name: 'Mail' }).count()).toBe(0)
    expect([...manager.wrong, ...reader.wrong]).toEqual([])
    await manager.context.close()
    await reader.context.close()
  })

  it('shows what uses a tag before it is deleted', async () => {
    await server.post(`${base}/addhashtags`, { hashtags: ['kiosk', 'lab'] })
    await server.post('policy/rules', { effect: 'allow', vid: '0781', tag: 'kiosk', reason: 'audio desk' })
    await server.post(`${base}/AddOrUpdateISEServer`, { ISE_EXCLUDE_TAGS: 'lab, Kiosk' })
    const { page, context, wrong } = await open('/settings/tags')
    await page.getByLabel('Find').fill('KIO')
    const rows = page.getByRole('table', { name: 'Tags' }).getByRole('row')
    await rows.filter({ hasText: 'lab' }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('q')).toBe('KIO')
    await rows.filter({ hasText: 'kiosk' }).getByRole('button', { name: 'Delete…' }).click()
    await dialog(page).getByText('1 rule will no longer apply to any host:').waitFor()
    await dialog(page)
      .getByText(/will be able to quarantine its hosts automatically/)
      .waitFor()
    // The deletion can remove deny rules, so the dialog focuses Cancel.
    await page.locator('[role=dialog] button:has-text("Cancel"):focus').waitFor()
    await dialog(page).getByRole('button', { name: 'Delete tag', exact: true }).click()
    await rows.filter({ hasText: 'kiosk' }).waitFor({ state: 'detached' })
    const tags = await server.get<{ name: string }[]>(`${base}/gethashtags`)
    expect(tags.map(({ name }) => name)).toEqual(['lab'])
    expect(wrong).toEqual([])
    await context.close()
  })

  it('tests Cisco ISE with the input without a quarantine, and enables it', async () => {
    const authority = await createAuthority()
    const ise = await startIse({ certificate: await authority.issue(['localhost']) })
    const { page, context, wrong } = await open('/settings/ise')
    await page.getByText('Off. Fill in, save, test, then enable.').waitFor()
    await page.getByLabel('Address', { exact: true }).fill(ise.url)
    await page.getByLabel('User', { exact: true }).fill(ise.user)
    await page.getByLabel('Password', { exact: true }).fill(ise.password)
    await page.getByLabel('ANC policy').fill('Quarantine')
    await trial(page).getByRole('button', { name: 'Run test' }).click()
    await trial(page).getByRole('img', { name: 'failed' }).waitFor()
    const pem = { name: 'ca.pem', mimeType: 'application/x-pem-file', buffer: Buffer.from(authority.pem) }
    await page.locator('input[type=file]').setInputFiles(pem)
    await page.getByText('1 certificate', { exact: true }).waitFor()
    await trial(page).getByRole('button', { name: 'Run test' }).click()
    await trial(page).getByText('Test passed.').waitFor()
    expect(ise.changes).toEqual([])
    await page.getByRole('switch', { name: 'Enabled' }).check({ force: true })
    await save(page).click()
    await page.getByText(/^Saved as version/).waitFor()

    expect(await items('ISE_')).toMatchObject({ ISE_ENABLED: 'true', ISE_PASSWORD: '********' })
    await page.getByRole('main').getByRole('link', { name: 'Quarantines' }).click()
    await page.waitForURL(/\/quarantines\?system=ise/)
    expect(wrong).toEqual([])
    await context.close()
    await ise.close()
  })

  it('checks a file of tags line by line before it imports it', async () => {
    const { page, context, wrong } = await open('/settings/tags', 1024, 768)
    const file = (text: string) => ({ name: 'tags.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    const head = 'Type,Identifier,Name,Tags\n'
    const give = async (text: string) => {
      const input = page.locator('input[type=file]')
      // The menu of an earlier file may still be closing.
      await input.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'More' }).click()
      await input.setInputFiles(file(text))
    }
    await give(`${head}Tag,,,from a file\nAgent,nobody,,x\n`)
    await dialog(page).getByText('1 line can be imported; 1 line has an error').waitFor()
    await dialog(page)
      .getByText(/Line 3: The agent nobody does not exist/)
      .waitFor()
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    expect((await server.get<{ name: string }[]>(`${base}/gethashtags`)).map(({ name }) => name)).not.toContain(
      'from a file',
    )
    await give(`${head}Tag,,,from a file\n`)
    await dialog(page).getByRole('button', { name: 'Import 1 line' }).click()
    await dialog(page).getByText('1 line imported').waitFor()
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    await page.getByText('from a file').first().waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})
