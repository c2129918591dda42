import { plainKeyboard, rubberDucky, storageStick, unless } from '@portcullis/domain/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('finding things', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  const kingston = (serial: string) =>
    storageStick({
      vid: '0951',
      pid: '1666',
      portPath: '1-2',
      serial,
      manufacturer: 'Kingston',
      product: 'DataTraveler',
    })

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const hosts = {
      'find-one': [plainKeyboard({ portPath: '1-1' }), kingston('FINDK1')],
      'find-two': [kingston('FINDK2')],
      'find-three': [rubberDucky({ portPath: '1-1' })],
    }
    for (const [hostname, devices] of Object.entries(hosts))
      await enrolAgent(at, { token, devices, facts: { hostname, enforcement: 'before-driver' } })
  })
  afterAll(async () => {
    await server?.stop()
  })
  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })

  it('offers the matching devices to a search that no host matches', async () => {
    const { page, context, wrong } = await open('/agents')
    await page.getByRole('grid').getByText('find-one').waitFor()
    await page.getByRole('textbox', { name: 'Host, address, system, tag' }).fill('kingston')
    await page.getByText('2 devices match').waitFor()
    await page.getByRole('link', { name: 'Show hosts with such a device' }).click()
    await page.getByRole('grid').getByText('find-two').waitFor()
    expect(new URL(page.url()).searchParams.get('Model')).toBe('kingston')
    expect(await page.getByRole('grid').getByText('find-three').count()).toBe(0)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('suggests models of the fleet in a filter, and offers alerts by title', async () => {
    const { page, context, wrong } = await open('/agents')
    await page.getByRole('grid').getByText('find-one').waitFor()
    const add = async (label: string) => {
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('menuitem', { name: label, exact: true }).click()
    }
    await add('Device model')
    await page.getByRole('combobox', { name: 'Device model contains' }).pressSequentially('kings')
    await page.getByRole('option', { name: /0951:1666 .*2 devices/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/Model=0951:1666/)
    await page.getByRole('grid').getByText('find-three').waitFor({ state: 'detached' })
    await add('Hosts of alert')
    await page.getByRole('radio').first().waitFor()
    await page.getByRole('textbox', { name: 'Find by name' }).fill('no such alert')
    await page.getByText('Nothing found.').waitFor()
    await page.getByRole('textbox', { name: 'Find by name' }).fill('find-three')
    await page.getByRole('radio', { name: /attack tool.* on find-three$/ }).click()
    await page.waitForURL(/Alert=\d+/)
    await page.getByRole('button', { name: /^Hosts of alert: .*attack tool/ }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: /^Hosts of alert: .*attack tool/ }).waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('counts events by time, and applies the range of a bar or of a drag', async () => {
    const { page, context, wrong } = await open('/events')
    await page.getByRole('grid').getByText('find-one').first().waitFor()
    const bars = page.getByRole('region', { name: 'Events by time of receipt' }).getByRole('link')
    await bars.last().waitFor()
    const filled = bars
      .filter({ has: page.locator('span') })
      .and(page.getByRole('link', { name: /: [1-9]\d* events?$/ }))
    await filled.last().click()
    await page.waitForURL(/fromDate=.*toDate=/)
    await page.getByRole('grid').getByText('find-one').first().waitFor()
    await page.getByRole('button', { name: 'Remove filter Received' }).click()
    await page.waitForURL((url) => !url.searchParams.has('fromDate'))
    const [first, last] = [await bars.nth(3).boundingBox(), await bars.nth(9).boundingBox()]
    if (first === null || last === null) throw new Error('the bars are not visible')
    await page.mouse.move(first.x + first.width / 2, first.y + 10)
    await page.mouse.down()
    await page.mouse.move(last.x + last.width / 2, last.y + 10, { steps: 8 })
    await page.mouse.up()
    await page.waitForURL(/fromDate=.*toDate=/)
    await page.getByText('No rows match these filters.').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('picks a range relative to now, which an address keeps, and refuses one that ends before it begins', async () => {
    const { page, context, wrong } = await open('/events')
    await page.getByRole('grid').getByText('find-one').first().waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Received', exact: true }).click()
    await page.getByRole('button', { name: 'Yesterday' }).click()
    await page.waitForURL(/fromDate=yesterday/)
    await page.getByText('No rows match these filters.').waitFor()
    await page.getByRole('button', { name: 'Received: Yesterday' }).click()
    await page.getByRole('button', { name: 'Today' }).click()
    await page.getByRole('grid').getByText('find-one').first().waitFor()
    await page.getByRole('button', { name: 'Received: Today' }).click()
    await page.getByLabel('From').fill('2031-05-04T10:11')
    await page.getByLabel('Until').fill('2031-05-04T10:10')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('The range ends before it begins.').waitFor()
    expect(new URL(page.url()).search).toBe('?fromDate=today')
    await page.getByLabel('Until').fill('2031-05-04T10:12')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/fromDate=2031-05-04T.*&toDate=2031-05-04T/)
    await page.getByText('No rows match these filters.').waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })

  it('loses no key while the palette loads, and shows serial numbers and all results', async () => {
    const { page, context, wrong } = await open('/settings/profile')
    let release = (): void => undefined
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/assets/Palette-*.js', async (route) => {
      await isReleased
      await route.continue()
    })
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('FINDKx')
    await page.keyboard.press('Backspace')
    release()
    const dialog = page.getByRole('dialog', { name: 'Search' })
    const field = dialog.getByRole('textbox', { name: 'Search' })
    await field.waitFor()
    await page.keyboard.type('1')
    expect(await field.inputValue()).toBe('FINDK1')
    await dialog.getByText('serial number FINDK1').waitFor()
    await field.fill('SMTP')
    await page.keyboard.press('Enter')
    await page.waitForURL(/settings\/mail/)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('arm ho')
    await page.keyboard.press('Enter')
    await page.waitForURL(/agents\?Status=Free/)
    expect(wrong).toEqual([])
    await context.close()
  })

  it('saves a view, opens it by its tab, and says which of its parts no longer exist', async () => {
    const { page, context, wrong } = await open('/agents?HostIdentifier=find-t&sort=hostIdentifier_asc')
    const views = page.getByRole('navigation', { name: 'Saved views' })
    await page.getByRole('grid').getByText('find-two').waitFor()
    await page.getByRole('button', { name: 'Save view…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save view' })
    await dialog.getByLabel('Name').fill('Twos & <b>threes</b>')
    await dialog.getByLabel('Share with all accounts').check()
    await dialog.getByRole('button', { name: 'Save view' }).click()
    const tab = views.getByRole('link', { name: 'Twos & <b>threes</b>' })
    await tab.waitFor()
    await page.getByRole('button', { name: 'Save view…' }).waitFor({ state: 'detached' })
    await views.getByRole('link', { name: 'All' }).click()
    await page.getByRole('grid').getByText('find-one').waitFor()
    await tab.click()
    await page.getByRole('grid').getByText('find-one').waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?HostIdentifier=find-t&sort=hostIdentifier_asc')
    await page.getByRole('button', { name: 'Actions for the view Twos & <b>threes</b>' }).click()
    await page.getByRole('menuitem', { name: 'Pin to navigation' }).click()
    const pinned = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Twos & <b>threes</b>' })
    await pinned.waitFor()
    await page.getByRole('link', { name: 'Events', exact: true }).click()
    await page.waitForURL(/\/events/)
    await pinned.click()
    await page.waitForURL(/HostIdentifier=find-t/)
    await page.goto(`${server.url}/agents?HostIdentifier=find-o`)
    await page.getByRole('button', { name: 'Save view…' }).click()
    const again = page.getByRole('dialog', { name: 'Save view' })
    await again.getByLabel('Name').fill('TWOS & <b>threes</b>')
    await again.getByLabel('Share with all accounts').check()
    await again.getByRole('button', { name: 'Save view' }).click()
    await again.getByText('A view of this page has the name TWOS & <b>threes</b>.').waitFor()
    await again.getByLabel('Name').fill(' \u{202e} ')
    await again.getByRole('button', { name: 'Save view' }).click()
    await again.getByText('contains control or invisible characters').waitFor()
    await page.keyboard.press('Escape')
    await server.post('views', {
      page: '/agents',
      name: 'Old',
      search: 'Colour=red&Status=Free&cols=host,gone',
      isShared: false,
    })
    await page.reload()
    await views.getByRole('link', { name: 'Old' }).click()
    await page
      .getByText('This list no longer has: gone, Colour.')
      .or(page.getByText('This list no longer has: Colour, gone.'))
      .waitFor()
    await page.getByRole('grid').getByText('find-one').waitFor()
    await page.getByRole('button', { name: 'Actions for the view Old' }).click()
    await page.getByRole('menuitem', { name: 'Delete view…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete view' }).click()
    await views.getByRole('link', { name: 'Old' }).waitFor({ state: 'detached' })
    expect((await server.get<{ data: { name: string }[] }>('views')).data.map(({ name }) => name)).toEqual([
      'Twos & <b>threes</b>',
    ])
    expect(wrong).toEqual([])
    await context.close()
  })
})
