import { unless } from '@portcullis/domain/testing'
import { Secret, TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { createClient } from '../proof/kit/client.ts'
import { adminPassword } from '../proof/kit/harness.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('confirming the identity in the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    await server.post('admin/adduser', { userName: 'mia', password: adminPassword, userProfile: 10 })
  })
  afterAll(async () => {
    await server?.stop()
  })

  /** Makes the sessions of mia stale. Uses the database, because the test does not wait six minutes. */
  const makeStale = async (firstName: string): Promise<void> => {
    const client = createClient(server.connection)
    await client.connect()
    try {
      await client.query(
        "update sessions set authenticated_at = now() - interval '6 minutes' where account_id = (select account_id from accounts where user_name = 'mia')",
      )
    } finally {
      await client.end()
    }
    // Clears the cache of the server.
    await server.post('admin/updateuser', { userName: 'mia', firstName })
  }
  const question = (page: Page) => page.getByRole('dialog', { name: 'Confirm it’s you' })
  const password = (page: Page) => question(page).getByLabel('Password', { exact: true })
  const isFocused = (page: Page) => question(page).locator('input[name=password]:focus').waitFor()
  const userNames = async () => (await server.get<{ userName: string }[]>('admin/all')).map(({ userName }) => userName)
  const signedIn = (path: string) => openSignedIn(browser, server.url, path, { username: 'mia' })

  it('asks in a dialog, keeps the input, changes nothing when cancelled and continues when confirmed', async () => {
    const { page, context, wrong } = await signedIn('/settings/accounts')
    await makeStale('Mia')
    await page.getByRole('button', { name: 'Create account' }).click()
    const form = page.getByRole('dialog').filter({ has: page.getByLabel('User name') })
    await form.getByLabel('User name').fill('otto')
    await form.getByLabel('Profile').selectOption('Administrator')
    await form.getByLabel('First name').fill('Otto')
    await form.getByRole('button', { name: 'Create account' }).click()

    // The dialog has the focus, and Escape closes only the dialog.
    await isFocused(page)
    await page.keyboard.press('Escape')
    await question(page).waitFor({ state: 'detached' })
    await form.getByText('You did not confirm your identity, so nothing was changed.').waitFor()
    expect(await form.getByLabel('User name').inputValue()).toBe('otto')
    expect(await form.getByLabel('First name').inputValue()).toBe('Otto')
    expect(await userNames()).not.toContain('otto')

    await form.getByRole('button', { name: 'Create account' }).click()
    await isFocused(page)
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await question(page).getByRole('alert').getByText('Incorrect password.').waitFor()
    expect(await userNames()).not.toContain('otto')

    await password(page).fill(adminPassword)
    await page.keyboard.press('Enter')
    await question(page).waitFor({ state: 'detached' })
    await page.getByRole('table', { name: 'Accounts' }).getByRole('row').filter({ hasText: 'otto' }).waitFor()
    expect(await userNames()).toContain('otto')
    expect(wrong).toEqual([])
    await context.close()
  })

  it('accepts a code from the authenticator app instead of the password', async () => {
    const token = await server.signIn('mia')
    const post = async (path: string, body: object) =>
      JSON.parse(
        (
          await server.request(`/prime/webui/Auth/Mfa/totp/${path}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          })
        ).text,
      )
    const { page, context, wrong } = await signedIn('/settings/tokens')
    const { secret } = await post('start', { password: adminPassword })
    const totp = new TOTP({ secret: Secret.fromBase32(secret) })
    await post('confirm', { code: totp.generate({ timestamp: Date.now() - 30_000 }) })
    await page.reload()
    await server.signIn()
    await makeStale('Mia Maria')
    await page.getByRole('button', { name: 'Create token' }).click()
    const form = page.getByRole('dialog').filter({ has: page.getByLabel('Highest profile') })
    await form.getByLabel('Purpose').fill('automation')
    await form.getByLabel('Highest profile').selectOption('Administrator')
    await form.getByRole('button', { name: 'Create token' }).click()
    await question(page).getByRole('button', { name: 'Use a code from the authenticator app' }).click()
    await question(page).getByLabel('Code from your authenticator app').fill(totp.generate())
    await question(page).getByRole('button', { name: 'Confirm' }).click()
    await question(page).waitFor({ state: 'detached' })
    await page.getByText(/pct_/).first().waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})
