import { storageStick, unless } from '@portcullis/domain/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('rule tests', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const stick = storageStick({ vid: '0951', pid: '1666', serial: 'T1', product: 'DataTraveler' })
    await enrolAgent(at, { token, devices: [stick], facts: { hostname: 'till-1', enforcement: 'before-driver' } })
  })
  afterAll(async () => {
    await server?.stop()
  })
  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })
  const shot = (name: string) => (process.env.SHOTS === undefined ? {} : { path: `${process.env.SHOTS}/${name}.png` })

  it('can be added from a device, and refuse a rule that breaks them', async () => {
    const { page, context, wrong } = await open('/policy?open=new&device=0951:1666')
    const form = page.getByRole('form', { name: 'Add rule' })
    await form.getByText('All hosts', { exact: true }).click()
    await form.getByRole('textbox', { name: 'Reason', exact: true }).fill('tills')
    await form.getByRole('button', { name: 'Add rule' }).click()
    await form.waitFor({ state: 'detached' })

    await page.goto('/policy/tests')
    await page.getByText('No tests yet').waitFor()
    await page.screenshot(shot('tests-empty'))
    await page.goto('/peripherals?GlobalSearch=T1')
    await page.getByRole('grid').getByText('DataTraveler').first().click()
    await page.getByRole('link', { name: 'Add test from this device' }).click()
    const editor = page.getByRole('form', { name: 'Add test' })
    const name = editor.getByRole('textbox', { name: 'Name' })
    await name.waitFor()
    expect(await name.inputValue()).toMatch(/^DataTraveler .* on till-1$/)
    await name.fill('Tills keep their stick')
    await page.screenshot(shot('tests-new'))
    await editor.getByRole('button', { name: 'Add test' }).click()
    await page.getByText('The test passes.').waitFor()
    await page.screenshot(shot('tests-list'))

    await page.goto('/policy?open=new&make=deny&device=0951:1666')
    await form.getByText('All hosts', { exact: true }).click()
    await form.getByRole('textbox', { name: 'Reason', exact: true }).fill('incident 9')
    await page.getByTestId('broken-tests').getByText('Tills keep their stick').waitFor()
    await form.getByRole('button', { name: 'Add rule' }).click()
    await form.getByText('expected allow, new decision block: Denied by a rule: incident 9').waitFor()
    await page.screenshot(shot('tests-refused'))
    expect(await form.getByRole('textbox', { name: 'Reason', exact: true }).inputValue()).toBe('incident 9')

    await form.getByRole('link', { name: 'Open tests' }).click()
    await page.getByRole('table', { name: 'Tests' }).getByRole('link', { name: 'Tills keep their stick' }).click()
    const edit = page.getByRole('form', { name: 'Edit test' })
    await edit.getByText('Block', { exact: true }).click()
    await edit.getByRole('button', { name: 'Save test' }).click()
    await page.getByText('Failing tests: 1 of 1.').waitFor()
    await page.screenshot(shot('tests-failing'))
    await page.goto('/policy?open=new&make=deny&device=0951:1666')
    await form.getByText('All hosts', { exact: true }).click()
    await form.getByRole('textbox', { name: 'Reason', exact: true }).fill('incident 9')
    await form.getByRole('button', { name: 'Add rule' }).click()
    await form.waitFor({ state: 'detached' })
    expect(wrong.filter((line) => !line.includes('409'))).toEqual([])
    await context.close()
  })

  it('fit on a phone', async () => {
    const { page, context } = await open('/policy/tests', 390, 844)
    await page.getByRole('link', { name: 'Tills keep their stick' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.screenshot(shot('tests-phone'))
    await page.getByRole('button', { name: 'Add test' }).click()
    await page.getByRole('form', { name: 'Add test' }).waitFor()
    await page.screenshot(shot('tests-phone-new'))
    await context.close()
  })
})
