import { unless } from '@portcullis/domain/testing'
import axeCore from 'axe-core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

interface Group {
  name: string
  owner: string
  rules: number
}

describe('rule groups in the console', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const list = Array.from({ length: 125 }, (_, i) => `0781,5581,S${String(i).padStart(4, '0')}`).join('\n')
    await server.post('policy/rules/import', {
      ...{ text: list, effect: 'allow', reason: 'order 4711', group: 'Order 4711' },
    })
    await server.post('policy/rules', { effect: 'deny', kinds: ['Network'], reason: 'no network adapters' })
  })
  afterAll(() => server?.stop())
  const groups = async () => (await server.get<{ data: Group[] }>('policy/groups')).data

  it('have not loaded yet while the list says nothing about rules', async () => {
    await server.post('policy/groups/rules', {
      ...{
        ruleIds: (await server.get<{ data: { id: string }[] }>('policy/rules?PageSize=200')).data.map(({ id }) => id),
      },
      group: 'Order 4711',
    })
    const { page, context } = await openSignedIn(browser, server.url, '/overview')
    let release = (): void => undefined
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/policy/groups', async (route) => {
      await isReleased
      await route.continue()
    })
    const listed = page.waitForResponse(/policy\/rules\?.*IsUngrouped/)
    await page.goto(`${server.url}/policy`)
    await listed
    await page.getByRole('heading', { name: 'Rules' }).waitFor()
    expect(await page.getByText('No rules yet').count()).toBe(0)
    release()
    await page.getByText('All rules are in groups.').waitFor()
    await context.close()
    const deny = (await server.get<{ data: { id: string }[] }>('policy/rules?reason=no%20network')).data.map(
      ({ id }) => id,
    )
    await server.post('policy/groups/rules', { ruleIds: deny, group: null })
  })

  it('are one row each, expand in the list, can be added and edited, and take and release rules', async () => {
    const { page, context, wrong } = await openSignedIn(browser, server.url, '/policy')
    const table = page.getByRole('table', { name: 'Rule groups' })
    const grid = page.getByRole('grid', { name: 'Rules' })
    await grid.getByText('no network adapters').waitFor()
    expect(await grid.getByRole('row').count()).toBe(2)
    const row = table.getByRole('row').filter({ hasText: 'Order 4711' })
    expect(await row.textContent()).toContain('125')

    await row.getByRole('link', { name: 'Order 4711', expanded: false }).click()
    await page.waitForURL(/group=Order\+4711/)
    await grid.getByText('S0001').waitFor()
    expect(await grid.getByText('no network adapters').count()).toBe(0)

    await row.getByRole('button', { name: 'Actions for group Order 4711' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit group' })
    await dialog.getByRole('textbox', { name: 'Owner' }).fill('Audio desk')
    await dialog.getByLabel('Review date').fill('2024-01-31')
    await page.evaluate(axeCore.source)
    expect(await page.evaluate('axe.run(document).then(({ violations }) => violations.map(({ id }) => id))')).toEqual(
      [],
    )
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Due 2024-01-31').waitFor()
    expect(await groups()).toMatchObject([{ name: 'Order 4711', owner: 'Audio desk', rules: 125 }])

    await row.getByRole('link', { name: 'Order 4711', expanded: true }).click()
    await grid.getByText('no network adapters').click()
    const form = page.getByRole('form', { name: 'Edit rule' })
    await form
      .getByRole('combobox', { name: 'Group (optional)' })
      .or(form.getByRole('textbox', { name: 'Group (optional)' }))
      .fill('Basics')
    await page.getByText('This adds a new group.').waitFor()
    await form.getByRole('button', { name: 'Save' }).click()
    await table.getByRole('row').filter({ hasText: 'Basics' }).waitFor()
    await page.getByText('All rules are in groups.').waitFor()
    expect(await groups()).toMatchObject([{ name: 'Basics', rules: 1 }, { name: 'Order 4711' }])

    await table.getByRole('link', { name: 'Basics' }).click()
    await grid.getByText('no network adapters').waitFor()
    await grid.getByRole('row').nth(1).getByRole('checkbox').click()
    await page.getByRole('button', { name: 'Move to group…' }).click()
    await page.getByRole('dialog').getByLabel('Group (optional)').fill('Order 4711')
    await page.getByRole('button', { name: 'Move 1 rule' }).click()
    await page.getByText('Moved 1 rule to Order 4711.').waitFor()
    expect(await groups()).toMatchObject([
      { name: 'Basics', rules: 0 },
      { name: 'Order 4711', rules: 126 },
    ])

    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Add group…' }).click()
    await page.getByRole('dialog', { name: 'Add group' }).getByLabel('Name').fill('Kiosks')
    await page.getByRole('button', { name: 'Add group' }).click()
    await page.getByText('Group added.').waitFor()
    expect((await groups()).map(({ name }) => name)).toEqual(['Basics', 'Kiosks', 'Order 4711'])
    expect(wrong).toEqual([])
    await context.close()
  })
})
