import { readFileSync } from 'node:fs'
import { unless } from '@portcullis/domain/testing'
import { Secret, TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

const periodSeconds = 30

/** An authenticator app. A code is valid once, so each call returns the code of a later period; two are valid at a time. */
const createApp = (secret: string) => {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const at = (step: number) => totp.generate({ timestamp: step * periodSeconds * 1_000 })
  const present = () => Math.floor(Date.now() / 1_000 / periodSeconds)
  let used = 0
  return {
    next: (): string => {
      used = Math.max(used + 1, present())
      return at(used)
    },
    /** Returns six digits that are not a valid code around now. */
    wrong: (): string => {
      const near = Array.from({ length: 9 }, (_, i) => at(present() + i - 4))
      return (
        ['000000', '111111', '222222', ...near.map((_, i) => `33333${i}`)].find((code) => !near.includes(code)) ?? ''
      )
    },
  }
}

describe('second factors in the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  /** Address with a host name, because passkeys are bound to one. */
  let url = ''

  beforeAll(async () => {
    server = await startConsoleServer()
    url = server.url.replace('127.0.0.1', 'localhost')
    browser = await sharedBrowser()
    for (const [userName, userProfile] of [
      ['mia', 20],
      ['tom', 30],
    ] as const)
      await server.post('admin/adduser', { userName, password: adminPassword, userProfile })
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = () => openWindow(browser, url, 1440, 900)
  const factors = (page: Page) => page.getByRole('region', { name: 'Second factor' })
  const dialog = (page: Page) => page.getByRole('dialog')
  const code = (page: Page) => page.getByLabel('Code from your authenticator app')
  const givePassword = async (page: Page, userName: string) => {
    await page.getByLabel('User name').fill(userName)
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const isIn = (page: Page) => page.getByRole('navigation', { name: 'Main' }).waitFor()
  const openProfile = async (page: Page) => {
    await page.getByRole('button', { name: /^Account / }).click()
    await page.getByRole('menuitem', { name: 'My profile' }).click()
    await factors(page).waitFor()
  }
  const signOut = async (page: Page, userName: string) => {
    await page.getByRole('button', { name: `Account ${userName}` }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('User name').waitFor()
  }
  const recover = async (page: Page, recoveryCode: string) => {
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recoveryCode)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  /** Reads the codes that are shown once, and confirms that they are saved. */
  const keepCodes = async (page: Page): Promise<string[]> => {
    const list = dialog(page).getByRole('list', { name: 'Recovery codes' })
    await list.waitFor()
    // Escape and a click outside do not close codes that are shown once.
    await page.keyboard.press('Escape')
    const codes = await list.getByRole('listitem').allTextContents()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog(page).getByRole('button', { name: 'Download' }).click(),
    ])
    expect(
      readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\n'),
    ).toEqual(codes)
    await dialog(page).getByRole('button', { name: 'I have saved them' }).click()
    await dialog(page).waitFor({ state: 'detached' })
    return codes
  }

  it('sets up an authenticator app, and asks for its code or for a recovery code once', async () => {
    const { page, context, wrong } = await open()
    await page.goto('/settings/profile')
    await givePassword(page, 'mia')
    await factors(page).getByText('Only your password protects your account').waitFor()
    // The server is reached by an IP address so far.
    await factors(page).getByText('Passkeys need a domain name').waitFor()
    expect(await factors(page).getByRole('button', { name: 'Add passkey' }).isDisabled()).toBe(true)

    await factors(page).getByRole('button', { name: 'Add authenticator app' }).click()
    await dialog(page).getByLabel('Your password').fill('not the password')
    await dialog(page).getByRole('button', { name: 'Continue' }).click()
    await dialog(page).getByText('Incorrect password.').waitFor()
    await dialog(page).getByLabel('Your password').fill(adminPassword)
    await dialog(page).getByRole('button', { name: 'Continue' }).click()
    await dialog(page).getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    const app = createApp((await dialog(page).locator('code').textContent()) ?? '')
    await dialog(page).getByLabel('Current code from the app').fill(app.wrong())
    await dialog(page).getByRole('button', { name: 'Confirm' }).click()
    await dialog(page).getByText('Incorrect verification code.').waitFor()
    await dialog(page).getByLabel('Current code from the app').fill(app.next())
    await dialog(page).getByRole('button', { name: 'Confirm' }).click()
    const codes = await keepCodes(page)
    expect(new Set(codes).size).toBe(10)
    await factors(page).getByText('10 left.').waitFor()

    await signOut(page, 'mia')
    await givePassword(page, 'mia')
    await page.locator('input[autocomplete=one-time-code]:focus').waitFor()
    await code(page).fill(app.wrong())
    await page.getByRole('alert').filter({ hasText: 'The verification code is incorrect' }).waitFor()
    // The field has the focus, and the input replaces the wrong code. The sixth digit signs in.
    const right = app.next()
    await page.keyboard.type(`${right.slice(0, 3)} ${right.slice(3)}`)
    await openProfile(page)
    await factors(page).getByText('10 left.').waitFor()

    await signOut(page, 'mia')
    await givePassword(page, 'mia')
    const [first] = codes as [string]
    await recover(page, first.toUpperCase())
    await openProfile(page)
    await factors(page).getByText('9 left.').waitFor()

    await signOut(page, 'mia')
    await givePassword(page, 'mia')
    await recover(page, first)
    await page.getByRole('alert').filter({ hasText: 'The recovery code is incorrect or was already used.' }).waitFor()
    await page.getByRole('button', { name: 'Back to password' }).click()
    expect(await page.getByLabel('User name').inputValue()).toBe('mia')
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('asks for the password again after five wrong codes, and an Administrator removes the factor', async () => {
    const { page, context, wrong } = await open()
    await page.goto('/settings/accounts')
    await givePassword(page, 'mia')
    const app = createApp(Secret.fromUTF8('another app').base32)
    for (let tries = 0; tries < 5; tries++) {
      const refused = page.waitForResponse((answer) => answer.url().endsWith('/Auth/Mfa/signin'))
      await code(page).fill(app.wrong().replace(/.$/, String(tries)))
      await refused
      await page.getByRole('alert').filter({ hasText: 'The verification code is incorrect' }).waitFor()
    }
    await code(page).fill('999999')
    await page.getByRole('alert').filter({ hasText: 'Enter your password again' }).waitFor()
    await page.locator('input[name=password]:focus').waitFor()

    await givePassword(page, 'admin')
    const row = page.getByRole('table', { name: 'Accounts' }).getByRole('row').filter({ hasText: 'mia' })
    await row.getByText('with second factor').waitFor()
    await row.getByRole('button', { name: 'More for mia' }).click()
    await page.getByRole('menuitem', { name: 'Reset second factor…' }).click()
    await dialog(page)
      .getByText(/the password alone is enough to sign in/)
      .waitFor()
    await dialog(page).getByRole('button', { name: 'Reset second factor' }).click()
    await row.getByText('password only').waitFor()
    await row.getByRole('button', { name: 'More for mia' }).click()
    await page.getByRole('menuitem', { name: 'Suspend for 24 hours…' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Reset second factor…' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await signOut(page, 'admin')
    await givePassword(page, 'mia')
    await isIn(page)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('signs in with a passkey without a click, and without the passkey with a recovery code', async () => {
    await server.post('generalconfig/SetServerDomainName', { SERVER_DOMAIN_NAME: url })
    const { page, context, wrong } = await open()
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.goto('/settings/profile')
    await givePassword(page, 'tom')
    await factors(page).getByRole('button', { name: 'Add passkey' }).click()
    await dialog(page).getByLabel('Passkey name').fill('Work laptop')
    await dialog(page).getByLabel('Your password').fill(adminPassword)
    await dialog(page).getByRole('button', { name: 'Add passkey' }).click()
    const [first] = (await keepCodes(page)) as [string]
    const row = factors(page).getByRole('row').filter({ hasText: 'Work laptop' })
    await row.getByText('never').waitFor()

    // The device already has a passkey. The page reports it and keeps the input.
    await factors(page).getByRole('button', { name: 'Add passkey' }).click()
    await dialog(page).getByLabel('Passkey name').fill('Again')
    await dialog(page).getByLabel('Your password').fill(adminPassword)
    await dialog(page).getByRole('button', { name: 'Add passkey' }).click()
    await dialog(page).getByText('This device already holds one of your passkeys.').waitFor()
    expect(await dialog(page).getByLabel('Passkey name').inputValue()).toBe('Again')
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()

    await signOut(page, 'tom')
    await givePassword(page, 'tom')
    await openProfile(page)
    await row.waitFor()
    expect(await row.getByText('never').count()).toBe(0)

    // While the passkey prompt waits, the other method is available.
    await signOut(page, 'tom')
    await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false })
    await givePassword(page, 'tom')
    await page.getByText('Your browser asks for your passkey.').waitFor()
    await recover(page, first)
    await openProfile(page)
    await row.getByRole('button', { name: 'Remove the passkey Work laptop' }).click()
    await dialog(page).getByText('This is your last second factor').waitFor()
    await dialog(page).getByLabel('Your password').fill(adminPassword)
    await dialog(page).getByRole('button', { name: 'Remove passkey' }).click()
    await factors(page).getByText('Only your password protects your account').waitFor()
    await signOut(page, 'tom')
    await givePassword(page, 'tom')
    await isIn(page)
    expect(wrong).toEqual([])
    await context.close()
  })
})
