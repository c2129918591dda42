import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import type { getPolicyTest, Prediction, ResponseOf } from '@portcullis/features/contract.ts'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

/** Globals of the browser, in which functions passed to `evaluate` run. */
declare const getComputedStyle: (element: unknown) => { overflowY: string }
// biome-ignore lint/suspicious/noExplicitAny: the elements of a browser have no types here
declare const document: { elementFromPoint(x: number, y: number): any }

const hostCount = 40

describe('previews of policy changes', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser

  beforeAll(async () => {
    server = await startConsoleServer()
    browser = await sharedBrowser()
    const token = await server.enrolmentToken()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    for (let index = 0; index < hostCount; index++) {
      const host = await enrolAgent(at, {
        token,
        facts: { hostname: `reading-room-${index}`, enforcement: 'before-driver' },
        devices: [
          plainKeyboard({ portPath: '1-1' }),
          storageStick({ vid: '0951', pid: '1666', portPath: '1-2', product: 'DataTraveler', serial: `K${index}` }),
        ],
      })
      // One host attaches its stick twice.
      if (index === 0) {
        await host.unplug('1-2')
        await host.plug(
          storageStick({ vid: '0951', pid: '1666', portPath: '1-2', product: 'DataTraveler', serial: 'K0' }),
        )
      }
    }
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, width = 1440, height = 900) => openSignedIn(browser, server.url, path, { width, height })
  const boxOf = async (one: Locator) => {
    const box = await one.boundingBox()
    if (box === null) throw new Error('an element is not visible')
    return box
  }
  /** Returns pairs of neighbours whose boxes overlap. */
  const overlapping = (one: Locator): Promise<string[]> =>
    one.evaluate((parent) => {
      const shown = [...parent.children].filter((child) => child.getBoundingClientRect().height > 0)
      return shown.flatMap((child, index) => {
        const next = shown[index + 1]
        return next !== undefined && next.getBoundingClientRect().top < child.getBoundingClientRect().bottom - 0.5
          ? [`${child.className} / ${next.className}`]
          : []
      })
    })
  /** Returns the form controls that are covered after they were scrolled into view. */
  const covered = (form: Locator): Promise<string[]> =>
    form.evaluate((element) =>
      [...element.querySelectorAll('input:not([type=hidden]), textarea, button, a')].flatMap((control) => {
        if (!control.checkVisibility({ opacityProperty: true })) return []
        control.scrollIntoView({ block: 'nearest' })
        const { left, top, width, height } = control.getBoundingClientRect()
        if (width < 4 || height < 4) return []
        const hit = document.elementFromPoint(left + width / 2, top + height / 2)
        const isHit = hit !== null && (control.contains(hit) || hit.contains(control) || hit.closest('label') !== null)
        return isHit && !(hit === element) ? [] : [control.outerHTML.slice(0, 120)]
      }),
    )
  const draft = '/policy?open=new&device=0951:1666'

  it.each([
    [1440, 900],
    [1024, 768],
    [390, 844],
  ])(
    'shows the fields of a rule without overlap, and scrolls the preview list separately, at %i x %i',
    async (width, height) => {
      const { page, context, wrong } = await open(draft, width, height)
      const form = page.getByRole('form', { name: 'Add rule' })
      await form.getByText('All hosts', { exact: true }).click()
      const preview = page.getByTestId('preview')
      await preview.getByText(`Changes ${hostCount} devices on ${hostCount} hosts`).waitFor()
      await preview.getByRole('button', { name: `Show all ${hostCount} devices` }).click()
      await page.getByRole('button', { name: 'Test against the last 30 days' }).click()
      await form.getByText(/devices fewer than with the current rules/).waitFor()

      const panel = await boxOf(page.getByRole('complementary', { name: 'Rule' }))
      // The part that scrolls with the fields.
      const room = await form.getByRole('textbox', { name: 'Reason', exact: true }).evaluate((field) => {
        let scroller = field.parentElement
        while (scroller !== null && !/auto|scroll/.test(getComputedStyle(scroller).overflowY))
          scroller = scroller.parentElement
        return scroller?.clientHeight ?? 0
      })
      expect(room / panel.height).toBeGreaterThan(0.6)
      const list = preview.getByRole('list').last()
      const sizes = await list.evaluate((one) => [one.scrollHeight - one.clientHeight, one.clientHeight])
      expect(sizes[0]).toBeGreaterThan(0)
      expect(sizes[1]).toBeGreaterThan(90)
      expect(await overlapping(preview)).toEqual([])
      expect(await overlapping(preview.locator('..'))).toEqual([])
      expect(await covered(form)).toEqual([])
      for (const name of ['Cancel', 'Add rule']) {
        const button = await boxOf(form.getByRole('button', { name, exact: true }))
        expect(button.y + button.height).toBeLessThanOrEqual(panel.y + panel.height)
        expect(button.x + button.width).toBeLessThanOrEqual(width)
      }
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0)
      expect(wrong).toEqual([])
      await context.close()
    },
  )

  const textOf = async (one: Locator): Promise<string> => (await one.innerText()).replace(/\s+/g, ' ').trim()
  const sentences = (text: string): string =>
    /Arming blocks .*? attachments?\.(?= |$).*?attachments?\./.exec(text)?.[0] ?? text

  it('states the same numbers in the same words in simulator, arming dialog, rollout and rule editor', async () => {
    type Simulated = ResponseOf<typeof getPolicyTest>
    const body = { add: [{ effect: 'allow', vid: '0951', pid: '1666', reason: 'reading rooms' }] }
    const inForce = await server.get<Simulated>('agents/getPolicyTest?PageSize=1')
    const drafted = await server.post<Simulated>('policy/test', { draft: body })
    const previewed = await server.post<{ prediction: Prediction }>('policy/preview', body)
    const armed = await server.post<{ prediction: Prediction }>('agents/bulk/preview', { action: 'arm', filter: {} })
    const devices = 2 * hostCount
    expect(inForce.blocked).toMatchObject({ agents: hostCount, peripherals: devices })
    expect(armed.prediction.blocked).toEqual(inForce.blocked)
    expect(drafted.prediction.blocked).toEqual(previewed.prediction.blocked)
    expect(drafted.prediction.changed).toEqual(previewed.prediction.changed)
    expect(drafted.prediction.changed).toMatchObject({ agents: hostCount, peripherals: hostCount })

    const { attachments } = inForce
    expect(attachments).toBeGreaterThan(0)
    const times = `${attachments} attachment${attachments === 1 ? '' : 's'}`
    const basis = `Based on the last 30 days: ${devices} devices on ${hostCount} hosts, ${times}.`
    const sentence = `Arming blocks ${devices} devices on ${hostCount} hosts, ${times}. ${basis}`

    const { page, context, wrong } = await open('/policy/simulator')
    await page.getByText('Arming blocks').waitFor()
    expect(await textOf(page.locator('p', { hasText: 'Arming blocks' }))).toContain(sentence)
    // All hosts, some named hosts, and hosts of a filter that the simulator does not have.
    const gate = async (run: (page: Page) => Promise<void>) => {
      await run(page)
      await page.getByRole('button', { name: 'Arm…' }).click()
      const said = page.getByTestId('gate-sentence')
      await said.waitFor()
      const text = sentences(await textOf(said))
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      return text
    }
    const chooseAll = async (path: string) => {
      await page.goto(path)
      await page.getByRole('grid').getByText('reading-room-3', { exact: true }).waitFor()
      await page
        .getByRole('checkbox', { name: /Select all/ })
        .first()
        .check()
    }
    expect(await gate(() => chooseAll('/agents?HostIdentifier=reading-room'))).toBe(sentence)
    await page.goto('/rollouts/new')
    await page.getByText('Arming blocks').waitFor()
    expect(await textOf(page.locator('p', { hasText: 'Arming blocks' }))).toContain(sentence)
    await page.goto(draft)
    await page.getByRole('form', { name: 'Add rule' }).getByText('All hosts', { exact: true }).click()
    await page
      .getByTestId('preview')
      .getByText(/^Changes/)
      .waitFor()
    expect(await textOf(page.getByTestId('preview'))).toContain(
      `Based on all known devices: ${devices} devices on ${hostCount} hosts, ${times} in the last 30 days.`,
    )
    await page.getByRole('button', { name: 'Test against the last 30 days' }).click()
    const left = drafted.blocked
    await page
      .getByText(
        `Arming blocks ${left.peripherals} devices on ${left.agents} hosts, ${left.attachments} attachment${left.attachments === 1 ? '' : 's'}.`,
      )
      .waitFor()
    expect(wrong).toEqual([])
    await context.close()
  })
})
