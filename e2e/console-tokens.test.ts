import { unless } from '@portcullis/domain/testing'
import { Secret, TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('API tokens, suspension and the required second factor in the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    for (const [userName, userProfile] of [
      ['ada', 10],
      ['mia', 20],
      ['tom', 30],
    ] as const)
      await server.post('admin/adduser', { userName, password: adminPassword, userProfile })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const dialog = (page: Page) => page.getByRole('dialog')
  const signIn = async (path: string, userName: string) => {
    const opened = await openWindow(browser, server.url, 1440, 900)
    await opened.page.goto(path)
    await opened.page.getByLabel('User name').fill(userName)
    await opened.page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await opened.page.getByRole('button', { name: 'Sign in' }).click()
    return opened
  }
  const codeOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  const addApp = async (page: Page) => {
    await page.getByRole('button', { name: 'Add authenticator app' }).click()
    await page.getByLabel('Your password').fill(adminPassword)
    await page.getByRole('button', { name: 'Continue' }).click()
    const key = page.locator('code').first()
    await key.waitFor()
    const secret = ((await key.textContent()) ?? '').replaceAll(/[^A-Z2-7]/g, '')
    await page.getByLabel('Current code from the app').fill(codeOf(secret))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('button', { name: 'I have saved them' }).click()
  }

  it('creates a token with the chosen scopes only, and lists them with expiry and last use', async () => {
    const { page, context, wrong } = await signIn('/settings/tokens', 'mia')
    await page.getByRole('button', { name: 'Create token' }).click()
    await dialog(page).getByLabel('Purpose').fill('SIEM export')
    const scopes = dialog(page).getByRole('group', { name: 'Scopes' })
    await scopes.getByRole('checkbox', { name: 'fleet:read' }).waitFor()
    expect(await scopes.getByRole('checkbox', { name: 'fleet:read' }).isChecked()).toBe(true)
    expect(await scopes.getByRole('checkbox', { name: 'fleet:write' }).count()).toBe(0)
    for (const box of await scopes.getByRole('checkbox').all()) if (await box.isChecked()) await box.uncheck()
    await dialog(page).getByRole('button', { name: 'Create token' }).click()
    await dialog(page).getByText('Choose at least one scope.').waitFor()
    await scopes.getByRole('checkbox', { name: 'fleet:read' }).check()
    await dialog(page).getByRole('button', { name: 'Create token' }).click()
    await dialog(page).getByText('The token is shown once').waitFor()
    const token = /pct_[\w-]{53}/.exec((await dialog(page).textContent()) ?? '')?.[0] as string
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    const statusOf = async (path: string) =>
      (await fetch(`${server.url}/prime/webui/${path}`, { headers: { authorization: `Bearer ${token}` } })).status
    expect([await statusOf('agents'), await statusOf('admin/all')]).toEqual([200, 403])
    await page.reload()
    const row = page.getByRole('row', { name: /SIEM export/ })
    await row.getByText('fleet:read', { exact: true }).waitFor()
    await row.getByText('from 127.0.0.1').waitFor()
    await row.getByText('active').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('offers to revoke API tokens with a new password, in the profile and in the account', async () => {
    await server.post('admin/adduser', { userName: 'eve', password: adminPassword, userProfile: 30 })
    const { page, context, wrong } = await signIn('/settings/tokens', 'eve')
    await page.getByRole('button', { name: 'Create token' }).click()
    await dialog(page).getByLabel('Purpose').fill('script')
    await dialog(page).getByRole('button', { name: 'Create token' }).click()
    await dialog(page).getByText('The token is shown once').waitFor()
    const token = /pct_[\w-]{53}/.exec((await dialog(page).textContent()) ?? '')?.[0] as string
    const status = async () =>
      (await fetch(`${server.url}/prime/webui/agents`, { headers: { authorization: `Bearer ${token}` } })).status
    await page.goto('/settings/profile')
    const box = page.getByRole('checkbox', { name: 'Also revoke 1 API token of this account' })
    await box.waitFor()
    expect([await box.isChecked(), await status()]).toEqual([false, 200])
    await page.getByLabel('Current password').fill(adminPassword)
    await page.getByLabel('New password', { exact: true }).fill('another long password')
    await page.getByLabel('Confirm new password').fill('another long password')
    await box.check()
    await page.getByRole('button', { name: 'Change password' }).click()
    await box.waitFor({ state: 'detached' })
    expect(await status()).toBe(401)

    const admin = await signIn('/settings/accounts', 'ada')
    const ofMia = admin.page.getByRole('checkbox', { name: 'Also revoke 1 API token of this account' })
    await admin.page.getByRole('row', { name: /mia/ }).getByRole('button', { name: 'Edit' }).click()
    expect(await ofMia.count()).toBe(0)
    await dialog(admin.page)
      .getByLabel(/^New password/)
      .fill('another long password')
    await ofMia.check()
    await dialog(admin.page).getByRole('button', { name: 'Save' }).click()
    await dialog(admin.page).waitFor({ state: 'detached' })
    expect(await server.get('admin/apiTokens')).toEqual([])
    expect([...wrong, ...admin.wrong]).toEqual([])
    await admin.context.close()
    await context.close()
  })

  it('suspends an account, shows the time left, and lifts the suspension', async () => {
    const { page, context, wrong } = await signIn('/settings/accounts', 'ada')
    const row = page.getByRole('row', { name: /tom/ })
    await row.getByRole('button', { name: 'More for tom' }).click()
    await page.getByRole('menuitem', { name: 'Suspend for 24 hours…' }).click()
    await dialog(page).getByText('For 24 hours its API tokens are refused').waitFor()
    await dialog(page).getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor()
    await dialog(page).getByRole('button', { name: 'Suspend for 24 hours' }).click()
    await row.getByText(/2[34] h \d+ min left/).waitFor()
    const refused = await signIn('/', 'tom')
    await refused.page.getByText('The account is suspended').waitFor()
    await refused.context.close()
    await row.getByRole('button', { name: 'More for tom' }).click()
    await page.getByRole('menuitem', { name: 'Lift suspension…' }).click()
    await dialog(page).getByRole('button', { name: 'Lift suspension' }).click()
    await row.getByText('enabled', { exact: true }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('requires a second factor: a banner during the grace period, then only its setup', async () => {
    const admin = await signIn('/settings/profile', 'ada')
    await addApp(admin.page)
    const save = async (grace: string) => {
      await admin.page.goto('/settings/security')
      await admin.page.getByLabel('Second factor for Users').setChecked(true)
      await admin.page.getByRole('textbox', { name: 'Grace period in days' }).fill(grace)
      await admin.page.getByRole('button', { name: 'Save' }).click()
      await dialog(admin.page).getByRole('button', { name: 'Save' }).click()
      await dialog(admin.page).waitFor({ state: 'detached' })
    }
    await save('7')
    const { page, context, wrong } = await signIn('/', 'tom')
    await page.getByText('Your account needs a second factor by').waitFor()
    await context.close()
    await save('0')
    const late = await signIn('/agents', 'tom')
    await late.page.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    expect(await late.page.getByRole('navigation', { name: 'Main' }).count()).toBe(0)
    await addApp(late.page)
    await late.page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect([...wrong, ...late.wrong, ...admin.wrong]).toEqual([])
    await late.context.close()
    await admin.context.close()
  })
})
