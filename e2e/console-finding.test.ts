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

  it('suggests models of the fleet in a filter, and refuses what the server would refuse', async () => {
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
    await page.getByLabel('Hosts of alert is').fill('the newest')
    await page.keyboard.press('Enter')
    await page.getByText('Enter the number of an alert.').waitFor()
    expect(new URL(page.url()).searchParams.has('Alert')).toBe(false)
    expect(wrong).toEqual([])
    await context.close()
  })
})
