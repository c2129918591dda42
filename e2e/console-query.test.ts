import { unless } from '@portcullis/domain/testing'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { enrolDesk } from './console-pages.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('a list query', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let page: Page

  beforeAll(async () => {
    server = await startConsoleServer()
    await enrolDesk(server)
    ;({ page } = await openSignedIn(await sharedBrowser(), server.url, '/agents'))
  })
  afterAll(async () => {
    await server?.stop()
  })

  const field = () => page.getByRole('combobox', { name: 'Query', exact: true })
  const query = () => new URL(page.url()).searchParams.get('query')
  const host = () => page.getByRole('link', { name: 'front-desk' })

  it('completes names and values by keyboard, and narrows the list', async () => {
    await host().waitFor()
    await page.getByRole('button', { name: 'Query', exact: true }).click()
    await expect.poll(() => field().evaluate((element) => element.matches(':focus'))).toBe(true)
    await page.keyboard.type('NOT stat')
    await page.getByRole('option', { name: 'Status:' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => field().inputValue()).toBe('NOT Status:')
    await page.keyboard.type('fr')
    await page.getByRole('option', { name: 'Free' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => field().inputValue()).toBe('NOT Status:Free')
    await page.keyboard.press('Enter')
    await expect.poll(query).toBe('NOT Status:Free')
    await page.getByText('No rows match these filters.').waitFor()
  })

  it.each([
    ['Status:Free AND (front', 'At character 17: the parenthesis is not closed'],
    ['front OR Hashtag:lab', 'At character 10: Hashtag is not a filter; did you mean Hashtags?'],
    ['Severity:high', 'At character 1: Severity must be a number'],
  ])('says where %s is wrong, keeps it, and does not apply it', async (text, message) => {
    await field().fill(text)
    await page.keyboard.press('Enter')
    await page.getByText(message).waitFor()
    expect([await field().inputValue(), query()]).toEqual([text, 'NOT Status:Free'])
  })

  it('is kept in the address, and removed with its field', async () => {
    await field().fill('Status:Free AND front')
    await page.keyboard.press('Enter')
    await host().waitFor()
    await page.reload()
    await host().waitFor()
    await expect.poll(() => field().inputValue()).toBe('Status:Free AND front')
    await page.getByLabel('Remove query').click()
    await expect.poll(query).toBe(null)
    await field().waitFor({ state: 'detached' })
  })
})
